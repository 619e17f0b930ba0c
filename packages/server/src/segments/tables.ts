import type { SegmentRule, SegmentState } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function segmentTables(c: ColumnTypes) {
  return {
    segments: c.table(
      "segments",
      {
        /** The key inside the database. */
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        name: c.text("name").notNull(),
        description: c.text("description"),
        rules: c.json<SegmentRule>("rules").notNull(),
        /** True if contacts enter and leave with time alone. */
        timed: c.flag("timed").notNull(),
        state: c.text("state").$type<SegmentState>().notNull(),
        /** Incremented when the rules change, which ends the rebuild for the rules before. */
        version: c.int("version").notNull(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
        /** Set when the segment is deleted; a job deletes its members. */
        deletedAt: c.instant("deleted_at"),
      },
      (t) => [c.uniqueIndex("segments_id").on(t.id), c.index("segments_workspace").on(t.workspaceId, t.id)],
    ),
    /** The members of segments as last evaluated, with which the next evaluation is compared. */
    segmentMembers: c.table(
      "segment_members",
      {
        segmentSeq: c.reference("segment_seq").notNull(),
        contactSeq: c.reference("contact_seq").notNull(),
        enteredAt: c.instant("entered_at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.segmentSeq, t.contactSeq] }), c.index("segment_members_contact").on(t.contactSeq)],
    ),
    /** Times at which an email to a contact was last sent, delivered, opened and clicked. */
    engagement: c.table("engagement", {
      contactSeq: c.reference("contact_seq").primaryKey(),
      lastSentAt: c.instant("last_sent_at"),
      lastDeliveredAt: c.instant("last_delivered_at"),
      lastOpenedAt: c.instant("last_opened_at"),
      lastClickedAt: c.instant("last_clicked_at"),
    }),
    /** Mail that contacts received, opened, clicked and answered, and events of the workspace's own about them: a row for each event. */
    contactActions: c.table(
      "contact_actions",
      {
        /** The key of the event. */
        eventKey: c.reference("event_key").primaryKey(),
        contactSeq: c.reference("contact_seq").notNull(),
        /** The field of rules that counts it: `opened`, or `did.` and the name of an event. */
        action: c.text("action").notNull(),
        at: c.instant("at").notNull(),
        /** The campaign of the mail, and the slug of its template. */
        campaignId: c.text("campaign_id"),
        template: c.text("template"),
      },
      (t) => [c.index("contact_actions_contact").on(t.contactSeq, t.action, t.at)],
    ),
  };
}

export type SegmentTables = ReturnType<typeof segmentTables>;
