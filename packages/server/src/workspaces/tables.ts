import type { BrandColors, BrandFonts, BrandVoice } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";
import type { OwnTexts } from "../html/texts.ts";

export function workspaceTables(c: ColumnTypes) {
  return {
    workspaces: c.table("workspaces", {
      id: c.text("id").primaryKey(),
      name: c.text("name").notNull(),
      /** The relay of its mail; null for the default one. */
      relay: c.text("relay"),
      /** True when mail without a Reply-To of its own gets an address whose replies are received. */
      replies: c.flag("replies").notNull(),
      createdAt: c.instant("created_at").notNull(),
    }),
    /** A workspace's brand, and its rules for agents. */
    brands: c.table("brands", {
      workspaceId: c.text("workspace_id").primaryKey(),
      name: c.text("name").notNull(),
      website: c.text("website"),
      /** Id of an asset. */
      logoAssetId: c.text("logo_asset_id"),
      colors: c.json<BrandColors>("colors").notNull(),
      fonts: c.json<BrandFonts>("fonts").notNull(),
      voice: c.json<BrandVoice>("voice").notNull(),
      /** Its language: that of its pages and of texts for recipients; null while none is chosen. */
      locale: c.text("locale"),
      /** Its own texts for recipients, by language. */
      texts: c.json<OwnTexts>("texts").notNull(),
      timezone: c.text("timezone").notNull(),
      /** True when an agent may publish a page only after an approval. */
      publishNeedsApproval: c.flag("publish_needs_approval").notNull(),
      updatedAt: c.instant("updated_at").notNull(),
    }),
  };
}

export type WorkspaceTables = ReturnType<typeof workspaceTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly ws: "workspaces";
  }
}
