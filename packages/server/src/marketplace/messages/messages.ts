import type { Approval, Message } from "@mailsvc/sdk/contract";
import { and, count, eq, isNull, lte } from "drizzle-orm";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { assertLiving, findActivation } from "../activations/store.ts";
import type { Actor } from "../runs/runs.ts";
import { findActiveRun, findRun, type RunRow } from "../runs/store.ts";
import { suspendRun } from "../runs/waits.ts";
import { EXPIRE_APPROVAL_JOB } from "./approvals.ts";
import { type ApprovalRow, addMessage, findMessage, markReadByReply, showMessage } from "./store.ts";

export type NewApproval = Pick<Approval, "title" | "options" | "allowComment" | "suspendRun"> & {
  preview?: NonNullable<Approval["preview"]> | undefined;
  expiresInSeconds: number;
};

export interface NewAgentMessage {
  type: "TEXT" | "APPROVAL_REQUEST";
  text: string;
  format: Message["format"];
  runId?: string | undefined;
  externalId?: string | undefined;
  approval?: NewApproval | undefined;
}

/**
 * Posts an agent's message. An approval request with `suspendRun` makes its run WAITING. Throws ApiError not_found for an
 * unknown run or preview, invalid_state for an approval request of an ended run, and conflict for an externalId in use.
 */
export async function postMessage(
  tx: AgentTx,
  deps: AgentDeps,
  { activationId, workspaceId }: Actor,
  post: NewAgentMessage,
): Promise<Message> {
  const now = deps.clock.now();
  const overdue = deps.runClock.overdue();
  const { approval: request, runId = null } = post;
  await assertNewExternalId(tx, activationId, post.externalId);
  await assertPreviewExists(tx, workspaceId, request?.preview);
  let run: RunRow | null = null;
  if (runId !== null) run = await (request ? findActiveRun : findRun)(tx, { activationId, runId }, overdue);
  const message = await addMessage(tx, {
    id: deps.ids("msg"),
    activationId,
    workspaceId,
    runId,
    type: post.type,
    direction: "outbound",
    author: "agent",
    text: post.text,
    format: post.format,
    externalId: post.externalId ?? null,
    createdAt: now,
  });
  if (!request) return showMessage({ message, approval: null }, now);
  const expiresAt = now + request.expiresInSeconds * 1000;
  const approval: ApprovalRow = {
    messageId: message.id,
    activationId,
    workspaceId,
    runId,
    title: request.title,
    options: request.options,
    allowComment: request.allowComment,
    preview: request.preview ?? null,
    suspendRun: run !== null && request.suspendRun,
    status: "PENDING",
    decision: null,
    comment: null,
    answeredAt: null,
    expiresAt,
  };
  await tx.insert(tx.t.approvals).values(approval);
  if (run && approval.suspendRun) await suspendRun(tx, deps, run, { waitingFor: "approval", waitingOn: message.id, deadlineAt: expiresAt });
  await deps.queue.enqueue(tx, { kind: EXPIRE_APPROVAL_JOB, payload: { workspaceId, messageId: message.id }, runAt: expiresAt });
  return showMessage({ message, approval }, now);
}

export interface NewBrandMessage {
  text: string;
  format: Message["format"];
  inReplyTo?: string | undefined;
  runId?: string | undefined;
}

/** Posts a brand's message to an agent. Throws ApiError not_found for an unknown activation, run or message, and invalid_state for a deactivated one. */
export async function writeToAgent(
  tx: AgentTx,
  deps: AgentDeps,
  workspaceId: string,
  id: string,
  wanted: NewBrandMessage,
): Promise<Message> {
  const now = deps.clock.now();
  assertLiving(await findActivation(tx, workspaceId, id), now);
  const { inReplyTo = null, runId = null } = wanted;
  if (runId !== null) await findRun(tx, { activationId: id, runId }, deps.runClock.overdue());
  const original = inReplyTo === null ? null : (await findMessage(tx, { activationId: id }, inReplyTo)).message;
  const message = await addMessage(tx, {
    id: deps.ids("msg"),
    activationId: id,
    workspaceId,
    runId,
    type: "TEXT",
    direction: "inbound",
    author: "brand",
    text: wanted.text,
    format: wanted.format,
    inReplyTo,
    createdAt: now,
  });
  if (original) await markReadByReply(tx, original, now);
  return showMessage({ message, approval: null }, now);
}

/** Marks messages of one direction as read up to a sequence, and returns how many remain unread. */
export async function markRead(
  tx: AgentTx,
  deps: AgentDeps,
  activationId: string,
  direction: Message["direction"],
  upToSequence: number,
): Promise<{ unread: number }> {
  const { messages: m } = tx.t;
  const unread = and(eq(m.activationId, activationId), eq(m.direction, direction), isNull(m.readAt));
  await tx
    .update(m)
    .set({ readAt: deps.clock.now() })
    .where(and(unread, lte(m.sequence, upToSequence)));
  const [left] = await tx.select({ n: count() }).from(m).where(unread);
  return { unread: left?.n ?? 0 };
}

/** Throws ApiError conflict, naming the message that has this externalId. */
async function assertNewExternalId(tx: AgentTx, activationId: string, externalId: string | undefined): Promise<void> {
  if (externalId === undefined) return;
  const { messages: m } = tx.t;
  const [taken] = await tx
    .select({ id: m.id })
    .from(m)
    .where(and(eq(m.activationId, activationId), eq(m.externalId, externalId)));
  if (!taken) return;
  throw new ApiError("conflict", "A message with this externalId exists already.", {
    details: [{ path: "externalId", code: "duplicate_external_id", message: taken.id }],
    hint: "details[0].message is the id of that message.",
  });
}

/** Throws ApiError not_found unless the page or file of a preview exists in the brand's workspace. */
async function assertPreviewExists(tx: AgentTx, workspaceId: string, preview: Approval["preview"] | undefined): Promise<void> {
  if (!preview || preview.kind === "text") return;
  const { landingPages, leadMagnets, assets } = tx.t;
  const table = { landing_page: landingPages, lead_magnet: leadMagnets, asset: assets }[preview.kind];
  const [found] = await tx
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.id, preview.id ?? ""), eq(table.workspaceId, workspaceId)));
  if (!found)
    throw new ApiError("not_found", `The ${preview.kind.replace("_", " ")} in approval.preview was not found.`, {
      details: [{ path: "approval.preview.id", code: "not_found", message: "Not found." }],
    });
}
