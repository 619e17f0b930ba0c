import type { Approval, ApprovalStatus, MessageDirection, MessageType } from "@mailsvc/sdk/contract";
import { isNull } from "drizzle-orm";
import type { Kit } from "../../db/postgres/columns.ts";

export function messageTables(k: Kit) {
  return {
    messages: k.table(
      "messages",
      {
        id: k.text("id").primaryKey(),
        activationId: k.text("activation_id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        /** Per activation, from `activations.messageSequence`. */
        sequence: k.int("sequence").notNull(),
        runId: k.text("run_id"),
        type: k.text("type").$type<MessageType>().notNull(),
        direction: k.text("direction").$type<MessageDirection>().notNull(),
        author: k.text("author").$type<"agent" | "brand" | "system">().notNull(),
        text: k.text("text").notNull(),
        format: k.text("format").$type<"plain" | "markdown">().notNull(),
        /** The agent's own name for it, unique per activation. */
        externalId: k.text("external_id"),
        /** The message it answers. */
        inReplyTo: k.text("in_reply_to"),
        createdAt: k.instant("created_at").notNull(),
        readAt: k.instant("read_at"),
      },
      (t) => [
        k.uniqueIndex("messages_sequence").on(t.activationId, t.sequence),
        k.uniqueIndex("messages_external").on(t.activationId, t.externalId),
        k.index("messages_activation").on(t.activationId, t.id),
        k.index("messages_unread").on(t.activationId, t.direction, t.readAt),
        // What waits in a workspace, newest first.
        k.index("messages_waiting").on(t.workspaceId, t.direction, t.type, t.id).where(isNull(t.readAt)),
      ],
    ),
    /** The question of an APPROVAL_REQUEST; one for each such message. */
    approvals: k.table(
      "approvals",
      {
        messageId: k.text("message_id").primaryKey(),
        activationId: k.text("activation_id").notNull(),
        workspaceId: k.text("workspace_id").notNull(),
        runId: k.text("run_id"),
        title: k.text("title").notNull(),
        options: k.json<Approval["options"]>("options").notNull(),
        allowComment: k.flag("allow_comment").notNull(),
        preview: k.json<NonNullable<Approval["preview"]>>("preview"),
        suspendRun: k.flag("suspend_run").notNull(),
        status: k.text("status").$type<ApprovalStatus>().notNull(),
        decision: k.text("decision"),
        comment: k.text("comment"),
        answeredAt: k.instant("answered_at"),
        expiresAt: k.instant("expires_at").notNull(),
      },
      (t) => [
        k.index("approvals_activation").on(t.activationId, t.status, t.messageId),
        // Questions of a workspace in a state, newest first; with their end, so that open ones are counted in the index alone.
        k.index("approvals_workspace").on(t.workspaceId, t.status, t.messageId, t.expiresAt),
      ],
    ),
  };
}
