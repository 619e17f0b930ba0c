import { findStandardOption, type Message } from "@mailsvc/sdk/contract";
import { and, eq, gt, inArray, lte, ne } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { assertNotEnded, getActivation, lockActivation } from "../activations/activations.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { emit } from "../agent-webhooks/agent-webhooks.ts";
import { endWait } from "../runs/runs.ts";
import type { MessageDeps } from "./messages.ts";
import { type Acceptance, createProposed } from "./proposals.ts";
import {
  type ApprovalRow,
  addMessage,
  effectiveApproval,
  getMessage,
  type MessageOwner,
  type MessageRow,
  type MessageWithApproval,
  markReadByReply,
  showMessage,
} from "./store.ts";

/*
 * The states of an approval request. All but PENDING are final. Every change is one conditional update (`resolve`), so of
 * two concurrent ones the first wins.
 *
 *   from      trigger                                     to          event `decision`
 *   (new)     postMessage                                 PENDING
 *   PENDING   answerRequest with `approve`                APPROVED    approved
 *   PENDING   answerRequest with `reject`                 REJECTED    rejected
 *   PENDING   answerRequest with another option           ANSWERED    the id of the option
 *   PENDING   its time (expireApproval)                   EXPIRED     expired
 *   PENDING   cancelRequest, by the agent                 CANCELLED   (no event)
 *   PENDING   the end of its run or activation            CANCELLED   (no event)
 */

/** Expires an approval request at the end of its time. */
export const EXPIRE_APPROVAL_JOB = "agent.approval.expire";

type Resolution = Pick<ApprovalRow, "status" | "decision" | "comment" | "answeredAt">;

interface Answer {
  decision: string;
  comment?: string | undefined;
}

/**
 * Answers an approval request; the first answer counts. An approved proposal is created with it. Throws ApiError not_found,
 * validation_error for an unknown option, invalid_state when it is no longer PENDING, and what keeps the proposal from being created.
 */
export async function answerRequest(
  tx: Tx,
  deps: MessageDeps,
  workspaceId: string,
  id: string,
  answer: Answer,
  acceptance: Acceptance | null,
): Promise<Message> {
  const now = deps.clock.now();
  const { message, approval } = await getRequest(tx, { workspaceId }, id, now);
  assertNotEnded(await getActivation(tx, workspaceId, message.activationId), now);
  if (approval.status !== "PENDING") throw notOpenError(approval);
  const option = approval.options.find((o) => o.id === answer.decision);
  if (!option) {
    const names = approval.options.map((o) => o.id).join(", ");
    throw invalid("decision", "unknown_option", `This request has no such option. Use one of: ${names}.`);
  }
  if (answer.comment !== undefined && !approval.allowComment)
    throw invalid("comment", "not_allowed", "This request does not allow a comment.");
  const { status, decision } = findStandardOption(option.id) ?? { status: "ANSWERED" as const, decision: option.id };
  const resolved = await resolve(tx, approval, { status, decision, comment: answer.comment ?? null, answeredAt: now }, "open", now);
  if (!resolved) throw notOpenError((await getRequest(tx, { workspaceId }, id, now)).approval);
  await createProposed(tx, deps, { message, approval: resolved }, acceptance);
  await announce(tx, deps, message, resolved, "brand");
  return showMessage({ message: await markReadByReply(tx, message, now), approval: resolved }, now);
}

/**
 * Cancels an agent's own request, without an event. Repeating it changes nothing. Throws ApiError not_found, or
 * invalid_state when it was answered or has expired.
 */
export async function cancelRequest(tx: AgentTx, deps: AgentDeps, activationId: string, id: string): Promise<Message> {
  const now = deps.clock.now();
  const { message, approval } = await getRequest(tx, { activationId }, id, now);
  if (approval.status === "CANCELLED") return showMessage({ message, approval }, now);
  if (approval.status !== "PENDING") throw notOpenError(approval);
  const resolved = await resolve(tx, approval, { status: "CANCELLED", decision: null, comment: null, answeredAt: null }, "open", now);
  if (!resolved) throw notOpenError((await getRequest(tx, { activationId }, id, now)).approval);
  if (message.runId !== null) await endWait(tx, deps, { activationId, runId: message.runId }, id);
  return showMessage({ message, approval: resolved }, now);
}

export function messageJobs(deps: MessageDeps): Readonly<Record<string, JobHandler>> {
  return { [EXPIRE_APPROVAL_JOB]: expireApproval(deps) };
}

/** Expires a request that was not answered in time. Its `answeredAt` is the end of that time, however late the job runs. */
function expireApproval(deps: MessageDeps): JobHandler {
  return async ({ payload }) => {
    const { workspaceId, messageId } = payload as { workspaceId: string; messageId: string };
    const { message, approval } = await getMessage(deps.db.read, { workspaceId }, messageId);
    if (approval?.status !== "PENDING") return {};
    // The clock was set back since the job was scheduled.
    if (deps.clock.now() < approval.expiresAt) return { again: approval.expiresAt };
    return {
      commit: async (tx) => {
        const now = deps.clock.now();
        const expired = { status: "EXPIRED" as const, decision: "expired", comment: null, answeredAt: approval.expiresAt };
        const resolved = await resolve(tx, approval, expired, "expired", now);
        if (resolved) await announce(tx, deps, message, resolved, "system");
      },
    };
  };
}

/** Ends the waits of a resumed activation's runs for approvals that were resolved during the pause. */
export async function endHeldWaits(tx: AgentTx, deps: AgentDeps, activationId: string): Promise<void> {
  const { approvals: p, runs: r } = tx.t;
  const waits = await tx
    .select({ runId: r.runId, messageId: p.messageId })
    .from(r)
    .innerJoin(p, eq(p.messageId, r.waitingOn))
    .where(and(eq(r.activationId, activationId), eq(r.status, "WAITING"), ne(p.status, "PENDING")));
  for (const { runId, messageId } of waits) await endWait(tx, deps, { activationId, runId }, messageId);
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
  return new ApiError("invalid_state", `This request is ${status}. Only a PENDING one can be answered or cancelled.`, {
    details: [{ path: "", code: `approval_${status.toLowerCase()}`, message: "The first answer counts." }],
  });
}

async function getRequest(
  tx: AgentTx,
  owner: MessageOwner,
  id: string,
  now: number,
): Promise<MessageWithApproval & { approval: ApprovalRow }> {
  const { message, approval } = await getMessage(tx, owner, id);
  if (approval === null)
    throw new ApiError("invalid_state", `This message is a ${message.type}, not an APPROVAL_REQUEST.`, {
      details: [{ path: "", code: "not_a_request", message: "Only an APPROVAL_REQUEST can be answered or cancelled." }],
      hint: "Write a message instead: mailsvc messages create",
    });
  return { message, approval: effectiveApproval(approval, now) };
}

/** Gives a PENDING approval its final state; of concurrent calls one succeeds. */
async function resolve(tx: AgentTx, approval: ApprovalRow, resolved: Resolution, expected: "open" | "expired", now: number) {
  await lockActivation(tx, approval.activationId);
  const { approvals: p } = tx.t;
  const [row] = await tx
    .update(p)
    .set(resolved)
    .where(
      and(eq(p.messageId, approval.messageId), eq(p.status, "PENDING"), expected === "open" ? gt(p.expiresAt, now) : lte(p.expiresAt, now)),
    )
    .returning();
  return row;
}

/**
 * Tells the agent the outcome: a message, an event, and the end of its run's wait. While the agent is paused, its run goes on
 * waiting: it could send no heartbeat.
 */
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
  const { activation } = await getActivation(tx, workspaceId, activationId);
  if (runId !== null && activation.status !== "paused") await endWait(tx, deps, { activationId, runId }, request.id);
}
