import type { LandingPageStatus, PageBlock, PageForm, PageSeo } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function pageTables(c: ColumnTypes) {
  return {
    landingPages: c.table(
      "landing_pages",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        /** The agent that made it; null when a person did. */
        activationId: c.text("activation_id"),
        runId: c.text("run_id"),
        slug: c.text("slug").notNull(),
        title: c.text("title").notNull(),
        /** Sanitized when it was written. */
        html: c.text("html"),
        blocks: c.json<PageBlock[]>("blocks"),
        seo: c.json<PageSeo>("seo").notNull(),
        form: c.json<PageForm>("form"),
        /** True if people can sign up on it. */
        hasForm: c.flag("has_form").notNull(),
        leadMagnetId: c.text("lead_magnet_id"),
        listId: c.text("list_id"),
        /** True if each person confirms by email before joining the list, even one without double opt-in. */
        doubleOptIn: c.flag("double_opt_in").notNull(),
        /** The page that visitors see after signing up; null for that of this server. */
        redirectUrl: c.text("redirect_url"),
        status: c.text("status").$type<LandingPageStatus>().notNull(),
        version: c.int("version").notNull(),
        /** The 26 characters of an id made when its content last changed: only an approval requested after that counts. */
        contentMark: c.text("content_mark").notNull(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
        publishedAt: c.instant("published_at"),
      },
      (t) => [
        c.uniqueIndex("landing_pages_slug").on(t.workspaceId, t.slug),
        c.index("landing_pages_workspace").on(t.workspaceId, t.id),
        c.index("landing_pages_magnet").on(t.leadMagnetId),
      ],
    ),
    /** Numbers of a page on one day, UTC. */
    landingPageDays: c.table(
      "landing_page_days",
      {
        pageId: c.text("page_id").notNull(),
        /** YYYY-MM-DD. */
        date: c.text("date").notNull(),
        views: c.int("views").notNull(),
        visitors: c.int("visitors").notNull(),
        submissions: c.int("submissions").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.pageId, t.date] })],
    ),
    /**
     * Visitors of a day, as hashes with that day's salt, kept to count each of them once. Both are deleted when the day is
     * over, so that they identify nobody.
     */
    landingPageVisitors: c.table(
      "landing_page_visitors",
      {
        date: c.text("date").notNull(),
        pageId: c.text("page_id").notNull(),
        visitor: c.text("visitor").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.date, t.pageId, t.visitor] })],
    ),
    landingPageSalts: c.table("landing_page_salts", {
      /** YYYY-MM-DD. */
      date: c.text("date").primaryKey(),
      salt: c.bytes("salt").notNull(),
    }),
    /** Sign-ups with the consent given. No agent can read them. */
    landingPageSubmissions: c.table(
      "landing_page_submissions",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        pageId: c.text("page_id").notNull(),
        /** Null once the contact was deleted. */
        contactId: c.text("contact_id"),
        consentText: c.text("consent_text").notNull(),
        listId: c.text("list_id"),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [c.index("landing_page_submissions_page").on(t.pageId, t.id), c.index("landing_page_submissions_contact").on(t.contactId)],
    ),
    landingPageReferrers: c.table(
      "landing_page_referrers",
      {
        pageId: c.text("page_id").notNull(),
        date: c.text("date").notNull(),
        host: c.text("host").notNull(),
        views: c.int("views").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.pageId, t.date, t.host] })],
    ),
  };
}

export type PageTables = ReturnType<typeof pageTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly lp: "landingPages";
    readonly sub: "landingPageSubmissions";
  }
}
