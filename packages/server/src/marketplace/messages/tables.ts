import type { Approval, ApprovalStatus, MessageDirection, MessageType, NewProposal, Proposal, ProposalDetail } from "@mailsvc/sdk/contract";
import { isNotNull, isNull } from "drizzle-orm";
import type { ColumnTypes } from "../../db/columns.ts";

export function messageTables(c: ColumnTypes) {
  return {
    messages: c.table(
      "messages",
      {
        id: c.text("id").primaryKey(),
        activationId: c.text("activation_id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        /** Per activation, from `activations.messageSequence`. */
        sequence: c.int("sequence").notNull(),
        runId: c.text("run_id"),
        type: c.text("type").$type<MessageType>().notNull(),
        direction: c.text("direction").$type<MessageDirection>().notNull(),
        author: c.text("author").$type<"agent" | "brand" | "system">().notNull(),
        text: c.text("text").notNull(),
        format: c.text("format").$type<"plain" | "markdown">().notNull(),
        /** The agent's own id, unique per activation. */
        externalId: c.text("external_id"),
        /** Id of the message it replies to. */
        inReplyTo: c.text("in_reply_to"),
        /** The received mail that it passes on. */
        receivedId: c.text("received_id"),
        createdAt: c.instant("created_at").notNull(),
        readAt: c.instant("read_at"),
      },
      (t) => [
        c.uniqueIndex("messages_sequence").on(t.activationId, t.sequence),
        c.uniqueIndex("messages_external").on(t.activationId, t.externalId),
        c.index("messages_activation").on(t.activationId, t.id),
        c.index("messages_unread").on(t.activationId, t.direction, t.readAt),
        c.index("messages_received").on(t.receivedId).where(isNotNull(t.receivedId)),
        // Unread messages of a workspace, newest first.
        c.index("messages_waiting").on(t.workspaceId, t.direction, t.type, t.id).where(isNull(t.readAt)),
      ],
    ),
    /** The question of an APPROVAL_REQUEST: one row per such message. */
    approvals: c.table(
      "approvals",
      {
        messageId: c.text("message_id").primaryKey(),
        activationId: c.text("activation_id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        runId: c.text("run_id"),
        title: c.text("title").notNull(),
        options: c.json<Approval["options"]>("options").notNull(),
        allowComment: c.flag("allow_comment").notNull(),
        preview: c.json<NonNullable<Approval["preview"]>>("preview"),
        /** The permission that approving gives, in the service's words at the time of the request. */
        allows: c.text("allows"),
        /** The proposal without its content, which is in `proposals`. */
        proposal: c.json<Proposal>("proposal"),
        suspendRun: c.flag("suspend_run").notNull(),
        status: c.text("status").$type<ApprovalStatus>().notNull(),
        decision: c.text("decision"),
        comment: c.text("comment"),
        answeredAt: c.instant("answered_at"),
        expiresAt: c.instant("expires_at").notNull(),
      },
      (t) => [
        c.index("approvals_activation").on(t.activationId, t.status, t.messageId),
        // Approvals of a workspace by state, newest first; includes expiresAt so that open ones are counted in the index alone.
        c.index("approvals_workspace").on(t.workspaceId, t.status, t.messageId, t.expiresAt),
      ],
    ),
    /** Proposals: one row per such request, which never changes but for `created`. */
    proposals: c.table("proposals", {
      messageId: c.text("message_id").primaryKey(),
      workspaceId: c.text("workspace_id").notNull(),
      content: c.json<NewProposal>("content").notNull(),
      /** The campaign or template that was made of it. */
      created: c.json<NonNullable<ProposalDetail["created"]>>("created"),
    }),
  };
}

export type MessageTables = ReturnType<typeof messageTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly msg: "messages";
  }
}
