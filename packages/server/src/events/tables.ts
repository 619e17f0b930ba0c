import type { EmailStatus } from "@mailsvc/sdk/contract";
import { isNotNull, sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";
import { TEST_MAIL_FROM } from "../lib/ids.ts";

/** Events of mail of test keys. A query must repeat this text to use the index of them. */
export const OF_TEST_MAIL = sql.raw(`email_id >= '${TEST_MAIL_FROM}'`);

/** The workspace of a row that only keeps its key taken (see `deleteEvents`). */
export const NO_WORKSPACE = "";

export function eventTables(c: ColumnTypes) {
  return {
    /** The log of events. Ids are derived from the key, and the events of one email or contact are in the order of their keys. */
    events: c.table(
      "events",
      {
        sequence: c.counter("sequence"),
        workspaceId: c.text("workspace_id").notNull(),
        type: c.text("type").notNull(),
        emailId: c.text("email_id"),
        contactId: c.text("contact_id"),
        at: c.instant("at").notNull(),
        data: c.json<Record<string, unknown>>("data"),
        campaignId: c.text("campaign_id"),
        automationId: c.text("automation_id"),
        /** For an open or a click: true if a machine made it, such as a scanner of links. */
        machine: c.flag("machine"),
        /** The status before, if the event changes the status of a campaign's mail. */
        was: c.text("was").$type<EmailStatus>(),
        /** True for what starts no automations: part of a change of many people whose caller did not ask for them. */
        startsNothing: c.flag("starts_nothing"),
      },
      // Campaigns write millions of events, so an index has entries only for the events it is about. Each has all columns that its
      // filter and the order of the list need, so that counting reads no rows.
      (t) => [
        c.index("events_email").on(t.emailId),
        c.index("events_contact").on(t.contactId).where(isNotNull(t.contactId)),
        c.index("events_type").on(t.workspaceId, t.type, t.at, t.sequence),
        c.index("events_campaign").on(t.workspaceId, t.campaignId, t.type, t.at, t.sequence).where(isNotNull(t.campaignId)),
        c.index("events_automation").on(t.workspaceId, t.automationId, t.type, t.at, t.sequence).where(isNotNull(t.automationId)),
        c.index("events_test").on(t.workspaceId, t.type, t.at, t.sequence).where(OF_TEST_MAIL),
        c.index("events_machine").on(t.workspaceId, t.machine, t.type, t.at, t.sequence).where(isNotNull(t.machine)),
      ],
    ),
    /**
     * The numbers of events in the streams of their workspaces, in the order of commits: each row is of events of one workspace whose
     * keys and numbers follow one another (see `runs.ts`). A table of its own, because on Postgres an update of an event would write to
     * all its indexes again.
     */
    eventRuns: c.table(
      "event_runs",
      {
        workspaceId: c.text("workspace_id").notNull(),
        /** The number of its first event. */
        position: c.reference("position").notNull(),
        /** The key of its first event. */
        key: c.reference("key").notNull(),
        /** The number of its keys; some of its events may have been deleted. */
        length: c.int("length").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.position] }), c.uniqueIndex("event_runs_key").on(t.key)],
    ),
    /** The ids that callers gave their tracked events, each of which is tracked once. */
    trackedIds: c.table(
      "tracked_ids",
      {
        workspaceId: c.text("workspace_id").notNull(),
        id: c.text("id").notNull(),
        /** The key of the event. */
        eventKey: c.reference("event_key").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.id] }), c.index("tracked_ids_event").on(t.eventKey)],
    ),
    /** On Postgres, runs of events that have no numbers yet. */
    eventArrivals: c.table("event_arrivals", {
      id: c.counter("id"),
      workspaceId: c.text("workspace_id").notNull(),
      key: c.reference("key").notNull(),
      length: c.int("length").notNull(),
    }),
    /** The streams of events, one per workspace. */
    eventStreams: c.table("event_streams", {
      workspaceId: c.text("workspace_id").primaryKey(),
      /** The number of its newest event. */
      last: c.reference("last").notNull(),
    }),
    /** The progress of readers of the streams (see `readers.ts`). */
    eventReaders: c.table(
      "event_readers",
      {
        reader: c.text("reader").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        /** The number of the last event that it has read. */
        position: c.reference("position").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.reader] })],
    ),
  };
}

export type EventTables = ReturnType<typeof eventTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly evt: "events";
  }
}
