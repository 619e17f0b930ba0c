import { WAKEUP_LIMITS, type Wakeup, type WakeupStatus } from "@mailsvc/sdk/contract";
import { and, count, eq } from "drizzle-orm";
import type { Db, Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { isSameJson } from "../../lib/json.ts";
import type { Queue } from "../../queue/queue.ts";
import { lockActivation } from "../activations/activations.ts";
import type { AgentDeps, AgentHandlers, AgentQuery, AgentTables, AgentTx } from "../agent-access.ts";
import { type Actor, endWait, getActiveRunRow, getRunRow, suspendRun } from "../runs/runs.ts";
import { scheduleFire } from "./fire.ts";
import type { WakeupTables } from "./tables.ts";

/*
 * The states of a wakeup. FIRED, CANCELLED and SKIPPED are final.
 *
 *   from        trigger                                            to
 *   (new)       scheduleWakeup                                     SCHEDULED
 *   SCHEDULED   its time, activation active                        FIRED, emits agent.wakeup
 *   SCHEDULED   its time, activation paused                        SCHEDULED; fires after agent.resumed
 *   SCHEDULED   cancelWakeup, or the end of the run it suspends    CANCELLED
 *   SCHEDULED   the end of its activation                          SKIPPED
 */

type WakeupRow = WakeupTables["wakeups"]["$inferSelect"];

function showWakeup(row: WakeupRow): Wakeup {
  return {
    wakeupId: row.id,
    status: row.status,
    fireAt: iso(row.fireAt),
    reason: row.reason,
    payload: row.payload,
    runId: row.runId,
    dedupeKey: row.dedupeKey,
    suspendRun: row.suspendRun,
    createdAt: iso(row.createdAt),
    firedAt: row.firedAt === null ? null : iso(row.firedAt),
  };
}

/** A wakeup of an activation. Throws ApiError not_found. */
async function getWakeupRow(q: AgentQuery, activationId: string, id: string): Promise<WakeupRow> {
  const { wakeups: w } = q.t;
  const [row] = await findRows(q, w, { activationId, id });
  if (!row) throw new ApiError("not_found", `Wakeup ${JSON.stringify(id.slice(0, 100))} not found in this activation.`);
  return row;
}

interface WakeupRequest {
  delaySeconds?: number | undefined;
  runAt?: string | undefined;
  reason: string;
  payload?: unknown;
  runId?: string | undefined;
  dedupeKey?: string | undefined;
  suspendRun: boolean;
}

/**
 * Schedules a wakeup. A repeat of the request whose wakeup is SCHEDULED under the same dedupeKey returns that one, with
 * `created` false. Throws ApiError validation_error, not_found for an unknown run, invalid_state for an ended run with
 * suspendRun, id_reused for a dedupeKey of another request, and limit_reached when too many are scheduled.
 */
async function scheduleWakeup(
  tx: AgentTx,
  deps: AgentDeps,
  { activationId, workspaceId }: Actor,
  request: WakeupRequest,
): Promise<{ wakeup: Wakeup; created: boolean }> {
  const { dedupeKey = null, runId = null, suspendRun: suspends } = request;
  const { wakeups: w } = tx.t;
  const now = deps.clock.now();
  const fireAt = getFireTime(request, now);
  await lockActivation(tx, activationId);
  if (dedupeKey !== null) {
    const [waiting] = await findRows(tx, w, { activationId, scheduled: dedupeKey });
    if (waiting && isRepeat(waiting, request)) return { wakeup: showWakeup(waiting), created: false };
    if (waiting)
      throw new ApiError("id_reused", "Another wakeup with this dedupeKey is scheduled.", {
        details: [{ path: "dedupeKey", code: "dedupe_key_conflict", message: `It is ${waiting.id}.` }],
        hint: "Cancel that wakeup first, or use another dedupeKey.",
      });
  }
  const overdue = deps.runClock.overdue();
  const run = runId === null ? null : await (suspends ? getActiveRunRow : getRunRow)(tx, { activationId, runId }, overdue);
  await assertBelowWakeupLimit(tx, activationId);
  const row: WakeupRow = {
    id: deps.ids("wku"),
    activationId,
    workspaceId,
    runId,
    status: "SCHEDULED",
    fireAt,
    reason: request.reason,
    payload: request.payload ?? null,
    dedupeKey,
    scheduled: dedupeKey,
    suspendRun: suspends,
    createdAt: now,
    firedAt: null,
  };
  await tx.insert(w).values(row);
  if (run && suspends) await suspendRun(tx, deps, run, { waitingFor: "wakeup", waitingOn: row.id, deadlineAt: fireAt });
  await scheduleFire(tx, deps, row, fireAt);
  return { wakeup: showWakeup(row), created: true };
}

/** Cancels a wakeup. Repeating it changes nothing. Throws ApiError not_found, or invalid_state for one that has fired or was skipped. */
async function cancelWakeup(tx: AgentTx, deps: AgentDeps, activationId: string, id: string): Promise<Wakeup> {
  const { wakeups: w } = tx.t;
  const row = await getWakeupRow(tx, activationId, id);
  if (row.status === "CANCELLED") return showWakeup(row);
  if (row.status !== "SCHEDULED") throw notScheduledError(row);
  await lockActivation(tx, activationId);
  const [cancelled] = await tx
    .update(w)
    .set({ status: "CANCELLED", scheduled: null })
    .where(and(eq(w.id, id), eq(w.status, "SCHEDULED")))
    .returning();
  if (!cancelled) throw notScheduledError(row);
  if (row.runId !== null) await endWait(tx, deps, { activationId, runId: row.runId }, id);
  return showWakeup(cancelled);
}

/** The wakeups of an activation, newest first. */
function listWakeups(read: Reader<AgentTables>, activationId: string, input: PageInput & { status?: WakeupStatus | undefined }) {
  const { wakeups: w } = read.t;
  const where = and(eq(w.activationId, activationId), input.status === undefined ? undefined : eq(w.status, input.status));
  return listPage(read, input, { table: w, where, toItem: showWakeup });
}

/**
 * Returns the time at which a requested wakeup fires, ms. `runAt` has the same limits as `delaySeconds`. Throws ApiError
 * validation_error.
 */
function getFireTime({ delaySeconds, runAt }: WakeupRequest, now: number): number {
  if (runAt === undefined) return now + (delaySeconds ?? 0) * 1000;
  const at = Date.parse(runAt);
  const { minSeconds, maxSeconds } = WAKEUP_LIMITS;
  if (at < now + minSeconds * 1000 || at > now + maxSeconds * 1000)
    throw invalid(
      "runAt",
      "out_of_range",
      `runAt must be ${minSeconds} seconds to ${maxSeconds / 86_400} days from now; the time is ${iso(now)}.`,
    );
  return at;
}

async function assertBelowWakeupLimit(tx: AgentTx, activationId: string): Promise<void> {
  const { wakeups: w } = tx.t;
  const [found] = await tx
    .select({ n: count() })
    .from(w)
    .where(and(eq(w.activationId, activationId), eq(w.status, "SCHEDULED")));
  if ((found?.n ?? 0) < WAKEUP_LIMITS.scheduled) return;
  throw new ApiError("limit_reached", `This activation has ${WAKEUP_LIMITS.scheduled} scheduled wakeups, which is the limit.`, {
    details: [{ path: "", code: "too_many_wakeups", message: `At most ${WAKEUP_LIMITS.scheduled} wakeups can be scheduled.` }],
    hint: "Cancel one of them first.",
  });
}

/** True if a request repeats the one that scheduled a wakeup. A delay counts from the first request. */
function isRepeat(row: WakeupRow, { delaySeconds, runAt, reason, payload, runId, suspendRun: suspends }: WakeupRequest): boolean {
  const fireAt = runAt === undefined ? row.createdAt + (delaySeconds ?? 0) * 1000 : Date.parse(runAt);
  return isSameJson(
    { fireAt, reason, payload: payload ?? null, runId: runId ?? null, suspends },
    { fireAt: row.fireAt, reason: row.reason, payload: row.payload, runId: row.runId, suspends: row.suspendRun },
  );
}

/** The 409 for a call that needs a SCHEDULED wakeup. */
function notScheduledError({ status }: WakeupRow): ApiError {
  return new ApiError("invalid_state", `This wakeup is ${status}. Only a SCHEDULED one can be cancelled.`, {
    details: [{ path: "wakeupId", code: `wakeup_already_${status.toLowerCase()}`, message: `The wakeup is ${status}.` }],
  });
}

/** Wakeups, for the agent that schedules them. */
export const agentWakeupHandlers: AgentHandlers<"wakeups"> = {
  create: async (input, { tx, deps, agent }) => {
    const { wakeup, created } = await scheduleWakeup(tx, deps, agent, input);
    return { status: created ? 201 : 200, body: wakeup };
  },
  list: ({ activationId, ...input }, { read }) => listWakeups(read, activationId, input),
  get: async ({ activationId, wakeupId }, { read }) => showWakeup(await getWakeupRow(read, activationId, wakeupId)),
  cancel: ({ activationId, wakeupId }, { tx, deps }) => cancelWakeup(tx, deps, activationId, wakeupId),
};

export interface WakeupDeps extends AgentDeps {
  readonly db: Db;
  readonly queue: Queue;
}
