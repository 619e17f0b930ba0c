import type { LandingPageStatus } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/kit.pg.ts";

export const pageTables = (k: Kit) => ({
  landingPages: k.table(
    "landing_pages",
    {
      id: k.text("id").primaryKey(),
      workspaceId: k.text("workspace_id").notNull(),
      /** The agent that made it; null for a person. */
      activationId: k.text("activation_id"),
      runId: k.text("run_id"),
      slug: k.text("slug").notNull(),
      title: k.text("title").notNull(),
      /** Sanitised when it was written. */
      html: k.text("html"),
      blocks: k.json<unknown>("blocks"),
      seo: k.json<Record<string, unknown>>("seo"),
      leadMagnetId: k.text("lead_magnet_id"),
      listId: k.text("list_id"),
      status: k.text("status").$type<LandingPageStatus>().notNull(),
      version: k.int("version").notNull(),
      createdAt: k.instant("created_at").notNull(),
      updatedAt: k.instant("updated_at").notNull(),
      publishedAt: k.instant("published_at"),
    },
    (t) => [k.uniqueIndex("landing_pages_slug").on(t.workspaceId, t.slug), k.index("landing_pages_workspace").on(t.workspaceId, t.id)],
  ),
  /** What a page saw on one day, UTC. */
  landingPageDays: k.table(
    "landing_page_days",
    {
      pageId: k.text("page_id").notNull(),
      /** YYYY-MM-DD. */
      date: k.text("date").notNull(),
      views: k.int("views").notNull(),
      visitors: k.int("visitors").notNull(),
      submissions: k.int("submissions").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.pageId, t.date] })],
  ),
  /** Who was seen on a day: a hash that cannot be turned back, kept to count each visitor once. */
  landingPageVisitors: k.table(
    "landing_page_visitors",
    {
      pageId: k.text("page_id").notNull(),
      date: k.text("date").notNull(),
      visitor: k.text("visitor").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.pageId, t.date, t.visitor] })],
  ),
  landingPageReferrers: k.table(
    "landing_page_referrers",
    {
      pageId: k.text("page_id").notNull(),
      date: k.text("date").notNull(),
      host: k.text("host").notNull(),
      views: k.int("views").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.pageId, t.date, t.host] })],
  ),
});
