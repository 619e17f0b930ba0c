import type { BrandColors, BrandFonts, BrandVoice } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function brandTables(c: ColumnTypes) {
  return {
    /** What a brand shows of itself, and the rules it sets its agents. */
    brands: c.table("brands", {
      workspaceId: c.text("workspace_id").primaryKey(),
      name: c.text("name").notNull(),
      website: c.text("website"),
      /** An image of the asset library. */
      logoAssetId: c.text("logo_asset_id"),
      colors: c.json<BrandColors>("colors").notNull(),
      fonts: c.json<BrandFonts>("fonts").notNull(),
      voice: c.json<BrandVoice>("voice").notNull(),
      locale: c.text("locale").notNull(),
      timezone: c.text("timezone").notNull(),
      /** An agent's page goes out only after a yes of the brand. */
      publishNeedsApproval: c.flag("publish_needs_approval").notNull(),
      updatedAt: c.instant("updated_at").notNull(),
    }),
  };
}
