import { isNotNull, isNull } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

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
        /** Of an open or a click: true if a machine made it, such as a scanner of links. */
        machine: c.flag("machine"),
        /** Its number in the stream of its workspace, without gaps, in the order of commits; null until `sequencer.ts` gives it one. */
        position: c.reference("position"),
      },
      // Campaigns write millions of events, so an index has entries only for the events it is about. Each has all columns that its
      // filter and the order of the list need, so that counting reads no rows.
      (t) => [
        c.index("events_email").on(t.emailId),
        c.index("events_contact").on(t.contactId).where(isNotNull(t.contactId)),
        c.index("events_type").on(t.workspaceId, t.type, t.at, t.sequence),
        c.index("events_campaign").on(t.workspaceId, t.campaignId, t.type, t.at, t.sequence).where(isNotNull(t.campaignId)),
        c.index("events_automation").on(t.workspaceId, t.automationId, t.type, t.at, t.sequence).where(isNotNull(t.automationId)),
        c.index("events_machine").on(t.workspaceId, t.machine, t.type, t.at, t.sequence).where(isNotNull(t.machine)),
        c.uniqueIndex("events_position").on(t.workspaceId, t.position).where(isNotNull(t.position)),
        c.index("events_unnumbered").on(t.sequence).where(isNull(t.position)),
      ],
    ),
    /** The streams of events, one per workspace. */
    eventStreams: c.table("event_streams", {
      workspaceId: c.text("workspace_id").primaryKey(),
      /** The number of its newest event. */
      last: c.reference("last").notNull(),
    }),
  };
}
