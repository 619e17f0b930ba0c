import type { BrandColors, BrandFonts, BrandVoice } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function brandTables(k: Kit) {
  return {
    /** What a brand shows of itself, and the rules it sets its agents. */
    brands: k.table("brands", {
      workspaceId: k.text("workspace_id").primaryKey(),
      name: k.text("name").notNull(),
      website: k.text("website"),
      /** An image of the asset library. */
      logoAssetId: k.text("logo_asset_id"),
      colors: k.json<BrandColors>("colors").notNull(),
      fonts: k.json<BrandFonts>("fonts").notNull(),
      voice: k.json<BrandVoice>("voice").notNull(),
      locale: k.text("locale").notNull(),
      timezone: k.text("timezone").notNull(),
      /** An agent's page goes out only after a yes of the brand. */
      publishNeedsApproval: k.flag("publish_needs_approval").notNull(),
      updatedAt: k.instant("updated_at").notNull(),
    }),
  };
}
