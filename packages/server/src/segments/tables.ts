import type { SegmentRule, SegmentState } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function segmentTables(c: ColumnTypes) {
  return {
    segments: c.table(
      "segments",
      {
        /** Names the segment inside the database. */
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        name: c.text("name").notNull(),
        description: c.text("description"),
        rules: c.json<SegmentRule>("rules").notNull(),
        /** True when the passing of time alone makes contacts enter and leave. */
        timed: c.flag("timed").notNull(),
        state: c.text("state").$type<SegmentState>().notNull(),
        /** Counts up with the rules: a walk of older rules ends when it notices. */
        version: c.int("version").notNull(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
        /** Set once it is deleted; a job takes its members away. */
        deletedAt: c.instant("deleted_at"),
      },
      (t) => [c.uniqueIndex("segments_id").on(t.id), c.index("segments_workspace").on(t.workspaceId, t.id)],
    ),
    /** Who is known to be in a segment: what the next evaluation is compared with. */
    segmentMembers: c.table(
      "segment_members",
      {
        segmentSeq: c.reference("segment_seq").notNull(),
        contactSeq: c.reference("contact_seq").notNull(),
        enteredAt: c.instant("entered_at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.segmentSeq, t.contactSeq] }), c.index("segment_members_contact").on(t.contactSeq)],
    ),
    /** When mail was last sent to a contact, delivered, opened and clicked. */
    engagement: c.table("engagement", {
      contactSeq: c.reference("contact_seq").primaryKey(),
      lastSentAt: c.instant("last_sent_at"),
      lastDeliveredAt: c.instant("last_delivered_at"),
      lastOpenedAt: c.instant("last_opened_at"),
      lastClickedAt: c.instant("last_clicked_at"),
    }),
  };
}
