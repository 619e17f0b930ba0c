import type { LandingPageStatus, PageBlock, PageForm, PageSeo } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function pageTables(k: Kit) {
  return {
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
        blocks: k.json<PageBlock[]>("blocks"),
        seo: k.json<PageSeo>("seo").notNull(),
        form: k.json<PageForm>("form"),
        /** Whether people can sign up on it. */
        hasForm: k.flag("has_form").notNull(),
        leadMagnetId: k.text("lead_magnet_id"),
        listId: k.text("list_id"),
        status: k.text("status").$type<LandingPageStatus>().notNull(),
        version: k.int("version").notNull(),
        /** What it shows was changed last when this id's 26 characters were made: an approval counts when it was asked for later. */
        contentMark: k.text("content_mark").notNull(),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
        publishedAt: k.instant("published_at"),
      },
      (t) => [
        k.uniqueIndex("landing_pages_slug").on(t.workspaceId, t.slug),
        k.index("landing_pages_workspace").on(t.workspaceId, t.id),
        k.index("landing_pages_magnet").on(t.leadMagnetId),
      ],
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
    /**
     * Who was seen on a day: a hash under that day's salt, kept to count each visitor once. Both go when the day is over, so
     * that nobody can be told again by them.
     */
    landingPageVisitors: k.table(
      "landing_page_visitors",
      {
        date: k.text("date").notNull(),
        pageId: k.text("page_id").notNull(),
        visitor: k.text("visitor").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.date, t.pageId, t.visitor] })],
    ),
    landingPageSalts: k.table("landing_page_salts", {
      /** YYYY-MM-DD. */
      date: k.text("date").primaryKey(),
      salt: k.bytes("salt").notNull(),
    }),
    /** Sign-ups: who, and what they agreed to. No agent can read them. */
    landingPageSubmissions: k.table(
      "landing_page_submissions",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        pageId: k.text("page_id").notNull(),
        /** Null once the contact was deleted. */
        contactId: k.text("contact_id"),
        consentText: k.text("consent_text").notNull(),
        listId: k.text("list_id"),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [k.index("landing_page_submissions_page").on(t.pageId, t.id), k.index("landing_page_submissions_contact").on(t.contactId)],
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
  };
}
