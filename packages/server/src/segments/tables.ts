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
    /** Fields that the rules of segments name: a change of one concerns the segments that it finds here. */
    segmentFields: c.table(
      "segment_fields",
      {
        workspaceId: c.text("workspace_id").notNull(),
        field: c.text("field").notNull(),
        segmentSeq: c.reference("segment_seq").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.workspaceId, t.field, t.segmentSeq] }), c.index("segment_fields_segment").on(t.segmentSeq)],
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
    /** Numbers of what the contacts of a workspace do, which their actions repeat by the million. */
    contactActionKinds: c.table(
      "contact_action_kinds",
      {
        seq: c.counter("seq"),
        workspaceId: c.text("workspace_id").notNull(),
        /** The field of rules that counts it: `opened`, or `did.` and the name of an event. */
        action: c.text("action").notNull(),
      },
      (t) => [c.uniqueIndex("contact_action_kinds_action").on(t.workspaceId, t.action)],
    ),
    /** Mail that contacts received, opened, clicked and answered, and events of the workspace's own about them: a row for each event. */
    contactActions: c.table(
      "contact_actions",
      {
        /** The key of the event. */
        eventKey: c.reference("event_key").primaryKey(),
        contactSeq: c.reference("contact_seq").notNull(),
        /** The number of the action in `contact_action_kinds`. */
        kind: c.reference("kind").notNull(),
        at: c.instant("at").notNull(),
        /** The value of an event of the workspace's own; null without one. */
        value: c.number("value"),
        /** The campaign of the mail, and the slug of its template. */
        campaignId: c.text("campaign_id"),
        template: c.text("template"),
      },
      // With the value, so that rules about it read neither the action nor the event. The second one finds the few who did something rare.
      (t) => [
        c.index("contact_actions_contact").on(t.contactSeq, t.kind, t.at, t.value),
        c.index("contact_actions_kind").on(t.kind, t.at, t.contactSeq, t.value),
      ],
    ),
  };
}

export type SegmentTables = ReturnType<typeof segmentTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly seg: "segments";
  }
}
