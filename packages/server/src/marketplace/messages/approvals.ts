import type { ApprovalStatus, Message } from "@mailsvc/sdk/contract";
import { and, eq, gt, inArray, lte } from "drizzle-orm";
import type { AgentDeps, AgentTx, Deps } from "../../deps.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { lockActivation } from "../activations/lock.ts";
import { assertLiving, findActivation } from "../activations/store.ts";
import { emit } from "../agent-webhooks/agent-events.ts";
import { endWait } from "../runs/waits.ts";
import {
  type ApprovalRow,
  addMessage,
  effectiveApproval,
  findMessage,
  type MessageOwner,
  type MessageRow,
  type MessageWithApproval,
  markReadByReply,
  showMessage,
} from "./store.ts";

/** Lets a question expire that nobody has answered. */
export const EXPIRE_APPROVAL_JOB = "agent.approval.expire";

/** What the two options everybody knows are called once they were chosen. */
const STANDARD_OPTIONS: Readonly<Record<string, { status: ApprovalStatus; decision: string }>> = {
  approve: { status: "APPROVED", decision: "approved" },
  reject: { status: "REJECTED", decision: "rejected" },
};

type Resolution = Pick<ApprovalRow, "status" | "decision" | "comment" | "answeredAt">;

export interface Answer {
  decision: string;
  comment?: string | undefined;
}

/**
 * Answers an agent's question, once and for all. Throws ApiError not_found, validation_error for an option it does not
 * have, and invalid_state when it is no longer open.
 */
export async function answerRequest(tx: AgentTx, deps: AgentDeps, workspaceId: string, id: string, answer: Answer): Promise<Message> {
  const now = deps.clock.now();
  const { message, approval } = await findRequest(tx, { workspaceId }, id, now);
  assertLiving(await findActivation(tx, workspaceId, message.activationId), now);
  if (approval.status !== "PENDING") throw notOpenError(approval);
  const option = approval.options.find((o) => o.id === answer.decision);
  if (!option) {
    const names = approval.options.map((o) => o.id).join(", ");
    throw invalid("decision", "unknown_option", `This request has no such option. Choose one of: ${names}.`);
  }
  if (answer.comment !== undefined && !approval.allowComment)
    throw invalid("comment", "not_allowed", "This request takes no comment: answer with a decision alone.");
  const known = STANDARD_OPTIONS[option.id] ?? { status: "ANSWERED" as const, decision: option.id };
  const settled = await resolve(tx, approval, { ...known, comment: answer.comment ?? null, answeredAt: now }, "open", now);
  if (!settled) throw notOpenError((await findRequest(tx, { workspaceId }, id, now)).approval);
  await announce(tx, deps, message, settled, "brand");
  return showMessage({ message: await markReadByReply(tx, message, now), approval: settled }, now);
}

/**
 * Takes an agent's own question back; doing so twice is one. No event follows: the agent knows. Throws ApiError not_found,
 * or invalid_state when it was answered or has expired.
 */
export async function cancelRequest(tx: AgentTx, deps: AgentDeps, activationId: string, id: string): Promise<Message> {
  const now = deps.clock.now();
  const { message, approval } = await findRequest(tx, { activationId }, id, now);
  if (approval.status === "CANCELLED") return showMessage({ message, approval }, now);
  if (approval.status !== "PENDING") throw notOpenError(approval);
  const settled = await resolve(tx, approval, { status: "CANCELLED", decision: null, comment: null, answeredAt: null }, "open", now);
  if (!settled) throw notOpenError((await findRequest(tx, { activationId }, id, now)).approval);
  if (message.runId !== null) await endWait(tx, deps, { activationId, runId: message.runId }, id);
  return showMessage({ message, approval: settled }, now);
}

/** A question nobody has answered in time has expired at that time, however late this comes by. */
export function expireApproval(deps: Deps): JobHandler {
  return async ({ payload }) => {
    const { workspaceId, messageId } = payload as { workspaceId: string; messageId: string };
    const { message, approval } = await findMessage(deps.db.read, { workspaceId }, messageId);
    if (approval?.status !== "PENDING") return {};
    // The clock was set back meanwhile.
    if (deps.clock.now() < approval.expiresAt) return { again: approval.expiresAt };
    return {
      commit: async (tx) => {
        const now = deps.clock.now();
        const expired = { status: "EXPIRED" as const, decision: "expired", comment: null, answeredAt: approval.expiresAt };
        const settled = await resolve(tx, approval, expired, "expired", now);
        if (settled) await announce(tx, deps, message, settled, "system");
      },
    };
  };
}

/**
 * Closes the open approvals of activations that end `at` this instant (ms), without an event: EXPIRED when their time was over
 * before, else CANCELLED.
 */
export async function closeApprovals(tx: AgentTx, activationIds: readonly string[], at: number): Promise<void> {
  const { approvals: p } = tx.t;
  const open = and(inArray(p.activationId, [...activationIds]), eq(p.status, "PENDING"));
  await tx
    .update(p)
    .set({ status: "EXPIRED", decision: "expired", answeredAt: p.expiresAt })
    .where(and(open, lte(p.expiresAt, at)));
  await tx.update(p).set({ status: "CANCELLED" }).where(open);
}

function notOpenError({ status }: ApprovalRow): ApiError {
  return new ApiError("invalid_state", `This request is ${status}: only a PENDING one can be answered or taken back.`, {
    details: [{ path: "", code: `approval_${status.toLowerCase()}`, message: "The first answer counts." }],
  });
}

async function findRequest(
  tx: AgentTx,
  owner: MessageOwner,
  id: string,
  now: number,
): Promise<MessageWithApproval & { approval: ApprovalRow }> {
  const { message, approval } = await findMessage(tx, owner, id);
  if (approval === null)
    throw new ApiError("invalid_state", `This message is a ${message.type}: it asks for no answer.`, {
      details: [{ path: "", code: "not_a_request", message: "Only an APPROVAL_REQUEST can be answered or taken back." }],
      hint: "Write a message instead: mailsvc messages create",
    });
  return { message, approval: effectiveApproval(approval, now) };
}

/** Settles an open question; of several who do so at once one succeeds. */
async function resolve(tx: AgentTx, approval: ApprovalRow, settled: Resolution, still: "open" | "expired", now: number) {
  await lockActivation(tx, approval.activationId);
  const { approvals: p } = tx.t;
  const [row] = await tx
    .update(p)
    .set(settled)
    .where(
      and(eq(p.messageId, approval.messageId), eq(p.status, "PENDING"), still === "open" ? gt(p.expiresAt, now) : lte(p.expiresAt, now)),
    )
    .returning();
  return row;
}

/** Tells the agent what came of its question: by an event, in the inbox, and by letting the run go on that waits for it. */
async function announce(
  tx: AgentTx,
  deps: AgentDeps,
  request: MessageRow,
  { decision, comment, answeredAt }: ApprovalRow,
  author: "brand" | "system",
): Promise<void> {
  const at = answeredAt ?? deps.clock.now();
  const { activationId, workspaceId, runId } = request;
  await addMessage(tx, {
    id: deps.ids("msg"),
    activationId,
    workspaceId,
    runId,
    type: "APPROVAL_RESPONSE",
    direction: "inbound",
    author,
    text: comment ?? decision ?? "",
    format: "plain",
    inReplyTo: request.id,
    createdAt: deps.clock.now(),
  });
  await emit(tx, deps, activationId, {
    type: "approval_response",
    at,
    runId,
    fields: { messageId: request.id, decision: decision ?? "", comment, answeredAt: iso(at) },
  });
  if (runId !== null) await endWait(tx, deps, { activationId, runId }, request.id);
}
