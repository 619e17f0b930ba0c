import { PAUSING_EVENTS } from "@mailsvc/sdk/contract";
import { and, eq, isNull, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { iso } from "../lib/clock.ts";
import { addPauseReason } from "../marketplace/activations/lifecycle.ts";
import type { ListingRow } from "../marketplace/listings/store.ts";
import type { Attempt } from "./attempt.ts";
import { planAfter } from "./retry-policy.ts";
import { type EventRow, type Following, followLanes, holdLane, type Job, lookAtLane, type OpenEvent } from "./streams.ts";

/** What became of a job: its attempt; null when none was made, and the event waits as before, or until `dueAt`. */
export interface Ended {
  readonly job: Job;
  readonly attempt: Attempt | null;
  readonly dueAt?: number;
}

const ph = sql.placeholder;

type Change = Pick<EventRow, "state" | "tries" | "dueAt" | "settledAt">;

/** Notes an attempt and nothing else. */
export async function noteOnly(tx: Tx, id: string, { at, ms, class: kind, httpStatus, message, answer }: Attempt): Promise<void> {
  const { agentEvents: e } = tx.t;
  await tx
    .update(e)
    .set({
      attempts: sql`${e.attempts} + 1`,
      lastAt: at,
      lastMs: ms,
      lastClass: kind,
      lastStatus: httpStatus,
      lastError: message,
      lastAnswer: answer,
    })
    .where(eq(e.id, id));
}

/** Moves an event's last attempt to the earlier ones: another one takes its place. */
export async function archiveLast(tx: Tx, id: string): Promise<void> {
  const { agentEvents: e, deliveryAttempts: a } = tx.t;
  const [row] = await tx.select().from(e).where(eq(e.id, id));
  if (!row || row.lastAt === null || row.lastClass === null) return;
  await tx.insert(a).values({
    eventId: id,
    attempt: row.attempts,
    at: row.lastAt,
    ms: row.lastMs ?? 0,
    class: row.lastClass,
    httpStatus: row.lastStatus,
    message: row.lastError,
    answer: row.lastAnswer,
  });
}

/** Notes that an event has arrived by hand, whatever had become of it, and lets its lane go on. */
export async function acknowledge(tx: Tx, deps: Deps, event: EventRow): Promise<void> {
  const now = deps.clock.now();
  const { agentEvents: e } = tx.t;
  await tx.update(e).set({ state: "delivered", dueAt: null, settledAt: now }).where(eq(e.id, event.id));
  if (event.type === "agent.activated") await acknowledgeKey(tx, event, now);
  await lookAtLane(tx, event.activationId, now);
  tx.afterCommit(() => deps.deliveries.wake([event.listingId]));
}

/**
 * Notes what became of jobs, all in one transaction, and goes on in their lanes, or gives them back. Answers what follows for each.
 * `listingOf` tells how a listing stands now.
 */
export async function settle(
  tx: Tx,
  deps: Deps,
  outcomes: readonly Ended[],
  listingOf: (id: string) => Promise<ListingRow | undefined>,
): Promise<Map<Job, Following>> {
  const now = deps.clock.now();
  await Promise.all(outcomes.map((outcome) => noteEnded(tx, deps, outcome, now)));
  const arrived = new Set(outcomes.flatMap(({ job, attempt }) => (attempt?.class === "ok" && !job.held ? [job] : [])));
  const jobs = outcomes.map(({ job }) => job);
  return followLanes(tx, jobs, (job) => arrived.has(job), now, listingOf);
}

/** Notes an attempt in its event, with what follows from it; false when the event was settled meanwhile, which stands. */
async function note(tx: Tx, id: string, attempt: Attempt, change: Change): Promise<boolean> {
  const rows = await tx
    .prepared("note_attempt", (q, { agentEvents: e }) =>
      q
        .update(e)
        .set({
          state: sql`${ph("state")}`,
          attempts: sql`${e.attempts} + 1`,
          tries: sql`${ph("tries")}`,
          dueAt: sql`${ph("dueAt")}`,
          settledAt: sql`${ph("settledAt")}`,
          lastAt: sql`${ph("at")}`,
          lastMs: sql`${ph("ms")}`,
          lastClass: sql`${ph("class")}`,
          lastStatus: sql`${ph("httpStatus")}`,
          lastError: sql`${ph("message")}`,
          lastAnswer: sql`${ph("answer")}`,
        })
        .where(and(eq(e.id, ph("id")), isNull(e.settledAt)))
        .returning({ id: e.id })
        .prepare("note_attempt"),
    )
    .execute({ id, ...valuesOf(attempt), ...change });
  return rows.length > 0;
}

function valuesOf({ at, ms, class: kind, httpStatus, message, answer }: Attempt) {
  return { at, ms, class: kind, httpStatus, message, answer };
}

/** The webhook has acknowledged the key: the copy is erased, in the same transaction. */
async function acknowledgeKey(tx: Tx, { id, activationId }: OpenEvent, now: number): Promise<void> {
  const { agentEvents: e, activations: a } = tx.t;
  await tx.update(e).set({ sealed: null }).where(eq(e.id, id));
  await tx
    .update(a)
    .set({ keyDeliveredAt: now })
    .where(and(eq(a.id, activationId), isNull(a.keyDeliveredAt)));
}

/**
 * Notes that an event has arrived, in one statement that asks for nothing back: 3 of 11 us. What was settled meanwhile stays as
 * it is, and has had one more attempt.
 */
async function arrive(tx: Tx, { id, tries }: OpenEvent, attempt: Attempt, now: number): Promise<void> {
  await tx
    .prepared("note_arrival", (q, { agentEvents: e }) => {
      const open = sql`${e.settledAt} is null`;
      return q
        .update(e)
        .set({
          state: sql`case when ${open} then 'delivered' else ${e.state} end`,
          attempts: sql`${e.attempts} + 1`,
          tries: sql`${ph("tries")}`,
          dueAt: null,
          settledAt: sql`coalesce(${e.settledAt}, ${ph("now")})`,
          lastAt: sql`${ph("at")}`,
          lastMs: sql`${ph("ms")}`,
          lastClass: "ok",
          lastStatus: sql`${ph("httpStatus")}`,
          lastError: null,
          lastAnswer: sql`${ph("answer")}`,
        })
        .where(eq(e.id, ph("id")))
        .prepare("note_arrival");
    })
    .execute({ id, tries: tries + 1, now, ...valuesOf(attempt) });
}

/** The same for the event with the key. False when it was settled meanwhile. */
async function noteKeyDelivered(tx: Tx, event: OpenEvent, attempt: Attempt, now: number): Promise<boolean> {
  const change = { state: "delivered", tries: event.tries + 1, dueAt: null, settledAt: now } as const;
  if (!(await note(tx, event.id, attempt, change))) return false;
  await acknowledgeKey(tx, event, now);
  return true;
}

/** Pauses an activation whose event could not be delivered, and holds its lane (SPEC 6). */
async function giveUp(tx: Tx, deps: Deps, event: OpenEvent, attempt: Attempt, tries: number): Promise<void> {
  if (!PAUSING_EVENTS.includes(event.type)) return;
  const row = await addPauseReason(tx, deps, event.activationId, "webhook_failure", {
    webhookLastError: {
      eventId: event.id,
      type: event.type,
      at: iso(attempt.at),
      attempts: tries,
      class: attempt.class,
      httpStatus: attempt.httpStatus,
      message: attempt.message ?? "",
      clearedAt: null,
    },
  });
  if (row?.pauseReasons.includes("webhook_failure") && row.status === "paused") await holdLane(tx, event.activationId);
}

async function noteFailed(tx: Tx, deps: Deps, { event, held }: Job, attempt: Attempt, now: number): Promise<boolean> {
  // What tells of this very failure goes to the webhook that failed: the queue would be wasted on it.
  const { state, tries, delay } = planAfter(attempt, event.tries, held && event.type === "agent.paused");
  const dead = delay === null;
  const change = { state, tries, dueAt: dead ? null : now + delay, settledAt: dead ? now : null };
  if (!(await note(tx, event.id, attempt, change))) return false;
  if (dead) await giveUp(tx, deps, event, attempt, tries);
  return true;
}

async function noteEnded(tx: Tx, deps: Deps, { job, attempt, dueAt }: Ended, now: number): Promise<void> {
  const { event } = job;
  if (attempt && event.attempts > 0) await archiveLast(tx, event.id);
  if (attempt?.class === "ok") {
    if (event.type !== "agent.activated") await arrive(tx, event, attempt, now);
    else if (!(await noteKeyDelivered(tx, event, attempt, now))) await noteOnly(tx, event.id, attempt);
  } else if (attempt) {
    if (!(await noteFailed(tx, deps, job, attempt, now))) await noteOnly(tx, event.id, attempt);
  } else if (dueAt !== undefined) {
    const { agentEvents: e } = tx.t;
    await tx
      .update(e)
      .set({ dueAt })
      .where(and(eq(e.id, event.id), isNull(e.settledAt)));
  }
}
