import type { Approval, Message } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import type { AgentTx } from "../../deps.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables } from "../../schema.ts";
import type { Query } from "../runs/store.ts";

export type MessageRow = AgentTables["messages"]["$inferSelect"];
export type ApprovalRow = AgentTables["approvals"]["$inferSelect"];

/** A message, and its question where it asks one. */
export interface MessageWithApproval {
  readonly message: MessageRow;
  readonly approval: ApprovalRow | null;
}

/** By whom it is looked for: a brand, or the agent of one activation. */
export type MessageOwner = { workspaceId: string } | { activationId: string };

/** Messages with their questions: the joined tables of every list of them. */
export function ownedBy({ messages: m }: Pick<AgentTables, "messages">, owner: MessageOwner) {
  return "activationId" in owner ? eq(m.activationId, owner.activationId) : eq(m.workspaceId, owner.workspaceId);
}

/** A message. Throws ApiError not_found. */
export async function findMessage(q: Query, owner: MessageOwner, id: string): Promise<MessageWithApproval> {
  const { messages: m, approvals: p } = q.t;
  const [found] = await q
    .select({ message: m, approval: p })
    .from(m)
    .leftJoin(p, eq(p.messageId, m.id))
    .where(and(eq(m.id, id), ownedBy(q.t, owner)));
  if (!found) throw notFound("message", id);
  return found;
}

/** The question as it counts now: past its time it has expired, whether or not that was noted yet. */
export function effectiveApproval(row: ApprovalRow, now: number): ApprovalRow {
  return row.status === "PENDING" && row.expiresAt <= now
    ? { ...row, status: "EXPIRED", decision: "expired", answeredAt: row.expiresAt }
    : row;
}

/** A message as both sides see it. Of its author it tells the role, never who it was. */
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

/** Whoever answers a message of an agent has read it. */
export async function markReadByReply(tx: AgentTx, message: MessageRow, now: number): Promise<MessageRow> {
  if (message.direction !== "outbound" || message.readAt !== null) return message;
  const { messages: m } = tx.t;
  await tx
    .update(m)
    .set({ readAt: now })
    .where(and(eq(m.id, message.id), isNull(m.readAt)));
  return { ...message, readAt: now };
}

export type NewMessage = Omit<MessageRow, "sequence" | "readAt" | "externalId" | "inReplyTo"> &
  Partial<Pick<MessageRow, "externalId" | "inReplyTo">>;

/** Puts a message at the end of an activation's inbox. */
export async function addMessage(tx: AgentTx, message: NewMessage): Promise<MessageRow> {
  const { activations: a, messages: m } = tx.t;
  const [place] = await tx.select({ last: a.messageSequence }).from(a).where(eq(a.id, message.activationId));
  const sequence = (place?.last ?? 0) + 1;
  await tx.update(a).set({ messageSequence: sequence }).where(eq(a.id, message.activationId));
  const row: MessageRow = { externalId: null, inReplyTo: null, ...message, sequence, readAt: null };
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
    status: row.status,
    decision: row.decision,
    comment: row.comment,
    answeredAt: instant(row.answeredAt),
    expiresAt: iso(row.expiresAt),
    suspendRun: row.suspendRun,
  };
}
