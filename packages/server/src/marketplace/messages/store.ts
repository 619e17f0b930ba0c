import type { Approval, Message } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentQuery, AgentTx } from "../agent-access.ts";
import type { MessageTables } from "./tables.ts";

export type MessageRow = MessageTables["messages"]["$inferSelect"];
export type ApprovalRow = MessageTables["approvals"]["$inferSelect"];

/** A message, with its approval if it is an APPROVAL_REQUEST. */
export interface MessageWithApproval {
  readonly message: MessageRow;
  readonly approval: ApprovalRow | null;
}

/** Reader of messages: a brand sees those of its workspace, an agent those of its activation. */
export type MessageOwner = { workspaceId: string } | { activationId: string };

/** A message. Throws ApiError not_found. */
export async function getMessage(q: AgentQuery, owner: MessageOwner, id: string): Promise<MessageWithApproval> {
  const { messages: m, approvals: p } = q.t;
  const [found] = await q
    .select({ message: m, approval: p })
    .from(m)
    .leftJoin(p, eq(p.messageId, m.id))
    .where(and(eq(m.id, id), "activationId" in owner ? eq(m.activationId, owner.activationId) : eq(m.workspaceId, owner.workspaceId)));
  if (!found) throw notFound("message", id);
  return found;
}

/** The approval as it counts now: past its time an open one has EXPIRED, even when no job has stored that yet. */
export function effectiveApproval(row: ApprovalRow, now: number): ApprovalRow {
  return row.status === "PENDING" && row.expiresAt <= now
    ? { ...row, status: "EXPIRED", decision: "expired", answeredAt: row.expiresAt }
    : row;
}

/** A message as both sides see it. It names the author's role, never the person. */
export function showMessage({ message: m, approval }: MessageWithApproval, now: number): Message {
  return {
    id: m.id,
    sequence: m.sequence,
    activationId: m.activationId,
    runId: m.runId,
    type: m.type,
    direction: m.direction,
    author: { role: m.author },
    text: m.text,
    format: m.format,
    externalId: m.externalId,
    inReplyTo: m.inReplyTo,
    createdAt: iso(m.createdAt),
    readAt: instant(m.readAt),
    approval: approval === null ? null : showApproval(approval, now),
  };
}

/** Marks an agent's message as read because the brand replied to it. */
export async function markReadByReply(tx: AgentTx, message: MessageRow, now: number): Promise<MessageRow> {
  if (message.direction !== "outbound" || message.readAt !== null) return message;
  const { messages: m } = tx.t;
  await tx
    .update(m)
    .set({ readAt: now })
    .where(and(eq(m.id, message.id), isNull(m.readAt)));
  return { ...message, readAt: now };
}

type NewMessageRow = Omit<MessageRow, "sequence" | "readAt" | "externalId" | "inReplyTo" | "receivedId"> &
  Partial<Pick<MessageRow, "externalId" | "inReplyTo" | "receivedId">>;

/** Appends a message to an activation's conversation. */
export async function addMessage(tx: AgentTx, message: NewMessageRow): Promise<MessageRow> {
  const { activations: a, messages: m } = tx.t;
  const [counter] = await tx.select({ last: a.messageSequence }).from(a).where(eq(a.id, message.activationId));
  const sequence = (counter?.last ?? 0) + 1;
  await tx.update(a).set({ messageSequence: sequence }).where(eq(a.id, message.activationId));
  const row: MessageRow = { externalId: null, inReplyTo: null, receivedId: null, ...message, sequence, readAt: null };
  await tx.insert(m).values(row);
  return row;
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

function showApproval(stored: ApprovalRow, now: number): Approval {
  const row = effectiveApproval(stored, now);
  return {
    title: row.title,
    options: row.options,
    allowComment: row.allowComment,
    preview: row.preview,
    allows: row.allows,
    proposal: row.proposal,
    status: row.status,
    decision: row.decision,
    comment: row.comment,
    answeredAt: instant(row.answeredAt),
    expiresAt: iso(row.expiresAt),
    suspendRun: row.suspendRun,
  };
}
