import type { SegmentRule, SegmentState } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";

export function segmentTables(k: Kit) {
  return {
    segments: k.table(
      "segments",
      {
        /** Names the segment inside the database. */
        seq: k.counter("seq"),
        id: k.text("id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        name: k.text("name").notNull(),
        description: k.text("description"),
        rules: k.json<SegmentRule>("rules").notNull(),
        /** True when the passing of time alone makes contacts enter and leave. */
        timed: k.flag("timed").notNull(),
        state: k.text("state").$type<SegmentState>().notNull(),
        /** Counts up with the rules: a walk of older rules ends when it notices. */
        version: k.int("version").notNull(),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
        /** Set once it is deleted; a job takes its members away. */
        deletedAt: k.instant("deleted_at"),
      },
      (t) => [k.uniqueIndex("segments_id").on(t.id), k.index("segments_workspace").on(t.workspaceId, t.id)],
    ),
    /** Who is known to be in a segment: what the next evaluation is compared with. */
    segmentMembers: k.table(
      "segment_members",
      {
        segmentSeq: k.reference("segment_seq").notNull(),
        contactSeq: k.reference("contact_seq").notNull(),
        enteredAt: k.instant("entered_at").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.segmentSeq, t.contactSeq] }), k.index("segment_members_contact").on(t.contactSeq)],
    ),
    /** When mail was last sent to a contact, delivered, opened and clicked. */
    engagement: k.table("engagement", {
      contactSeq: k.reference("contact_seq").primaryKey(),
      lastSentAt: k.instant("last_sent_at"),
      lastDeliveredAt: k.instant("last_delivered_at"),
      lastOpenedAt: k.instant("last_opened_at"),
      lastClickedAt: k.instant("last_clicked_at"),
    }),
  };
}
