import type { ColumnTypes } from "../db/columns.ts";

/** Takes the place of a link's id in rows of opens. */
export const OPENS = 0;

export function trackingTables(c: ColumnTypes) {
  return {
    /** Targets of tracked links, each stored once per workspace, so that links in mail are short. */
    trackedLinks: c.table(
      "tracked_links",
      {
        id: c.counter("id"),
        workspaceId: c.text("workspace_id").notNull(),
        /** SHA-256 of the address, because an address may be longer than an index entry. */
        hash: c.text("hash").notNull(),
        /** Empty for the pixel of the workspace, which stands for opens. */
        url: c.text("url").notNull(),
        /** The email that has this link, while it is the only one: it may say something of its reader, and goes with it. */
        ownerId: c.text("owner_id"),
      },
      (t) => [c.uniqueIndex("tracked_links_hash").on(t.workspaceId, t.hash)],
    ),
    /** Opens and clicks of an email, by link, counted apart for people and machines. */
    engagements: c.table(
      "engagements",
      {
        workspaceId: c.text("workspace_id").notNull(),
        emailId: c.text("email_id").notNull(),
        /** 0 for opens. */
        linkId: c.reference("link_id").notNull(),
        machine: c.flag("machine").notNull(),
        /** Events recorded. */
        events: c.int("events").notNull(),
        firstAt: c.instant("first_at").notNull(),
        lastAt: c.instant("last_at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.emailId, t.linkId, t.machine] })],
    ),
    /** Opens and clicks that wait to be recorded until it is known whether other links were requested at the same time. */
    heldRequests: c.table(
      "held_requests",
      {
        workspaceId: c.text("workspace_id").notNull(),
        emailId: c.text("email_id").notNull(),
        /** 0 for opens. */
        linkId: c.reference("link_id").notNull(),
        machine: c.flag("machine").notNull(),
        /** Reason the request alone shows a machine; null if it does not. */
        reason: c.text("reason").$type<MachineReason>(),
        /** The program that made the request, such as `Firefox`. */
        client: c.text("client").notNull(),
        at: c.instant("at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.emailId, t.linkId, t.machine] })],
    ),
  };
}

export type TrackingTables = ReturnType<typeof trackingTables>;

/**
 * Reason an open or a click counts as that of a machine.
 * - `head-request`: it asked for headers only.
 * - `prefetch`: it said that it fetches ahead, or it is the prefetcher of Gmail.
 * - `apple-mail-privacy`: Apple's Mail Privacy Protection, which loads all images of all mail.
 * - `scanner`: a security scanner, link checker or script, by its name, or without one.
 * - `too-soon`: less than three seconds after the mail was handed over.
 * - `burst`: several links of the mail at once, or the pixel with them.
 */
export type MachineReason = "head-request" | "prefetch" | "apple-mail-privacy" | "scanner" | "too-soon" | "burst";
