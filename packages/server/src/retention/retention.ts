import type { Tx } from "../db/db.ts";
import { DAY, MINUTE } from "../lib/units.ts";
import type { JobHandler, NewJob } from "../queue/queue.ts";
import type { RetentionDeps } from "./deps.ts";
import { findCutoff, hasMonths, tendMonths } from "./months.ts";
import { type Key, RECORDS, type Records } from "./records.ts";

/** Deletes records at the end of their retention. One such job is always scheduled or running. */
export const RETENTION_JOB = "retention.sweep";

// Rows examined in one transaction: 1 ms of deleting on SQLite, during which other writers wait, and 5 ms on Postgres. Five
// million rows take a minute.
const CHUNK = 200;

// Until it is tried again to change tables that others use: for longer than a moment, so by a backup. Each attempt holds others up.
const LOCKED_MS = MINUTE;

/** The progress of a sweep: which records, and the last key examined. */
interface Position {
  readonly step: number;
  readonly after: Key | null;
}

const START: Position = { step: 0, after: null };

/** Schedules the sweep a day from now, unless one with the same policy is scheduled. */
export function startRetention(tx: Tx, deps: Pick<RetentionDeps, "queue" | "clock" | "config">): Promise<void> {
  return scheduleSweep(tx, deps, deps.clock.now() + DAY);
}

/** Deletes one chunk, in one transaction with the job for the next, so that others can write in between. */
export function sweepRecords(deps: RetentionDeps): JobHandler {
  return async ({ payload }) => {
    if (payload.times !== policyKey(deps)) return {};
    const { step, after } = { ...START, ...payload } as Position;
    const records = RECORDS[step];
    if (!records) {
      const at = await getNextSweepAt(deps);
      return { commit: (tx) => scheduleSweep(tx, deps, at) };
    }
    const now = deps.clock.now();
    if (step === 0 && after === null && !(await tendMonths(deps)))
      return { commit: (tx) => deps.queue.enqueue(tx, sweepJob(deps, START, now + LOCKED_MS)).then(() => {}) };
    const before = findCutoff(deps, records.policy);
    const rows = before > 0 ? await records.list(deps.db.read, after, CHUNK, before) : [];
    const old = rows.filter(({ createdAt }) => createdAt < before).map(({ key }) => key);
    const nextPosition: Position = old.length === CHUNK ? { step, after: old.at(-1) ?? null } : { step: step + 1, after: null };
    return {
      commit: async (tx) => {
        const remaining = old.length === 0 ? undefined : await records.deleteExpired(tx, old, before);
        await deps.queue.enqueue(tx, sweepJob(deps, remaining === "more" ? { step, after } : nextPosition, now));
      },
    };
  };
}

export function retentionJobs(deps: RetentionDeps): Readonly<Record<string, JobHandler>> {
  return { [RETENTION_JOB]: sweepRecords(deps) };
}

/** Identifies the policy: a sweep scheduled under another policy ends by itself. */
function policyKey({ config }: Pick<RetentionDeps, "config">): string {
  return Object.values(config.keepDays).join();
}

/** The job that continues at a position. It has no dedupe key: the sweep scheduled for its day must not replace the running one. */
function sweepJob(deps: Pick<RetentionDeps, "config">, position: Position, runAt: number): NewJob {
  return {
    kind: RETENTION_JOB,
    payload: { ...position, times: policyKey(deps) },
    runAt,
  };
}

/** Schedules a sweep at an instant (ms), unless one with the same policy is scheduled. */
async function scheduleSweep(tx: Tx, deps: Pick<RetentionDeps, "queue" | "config">, at: number): Promise<void> {
  await deps.queue.enqueue(tx, { ...sweepJob(deps, START, at), dedupeKey: `${RETENTION_JOB}:${policyKey(deps)}` });
}

/** How long records are kept, ms. */
function getRetentionMs({ config }: RetentionDeps, { policy: keep }: Records): number {
  return (config.keepDays[keep] ?? Number.POSITIVE_INFINITY) * DAY;
}

/** When the oldest record expires, ms: at least a day and at most a year from now. */
async function getNextSweepAt(deps: RetentionDeps): Promise<number> {
  const now = deps.clock.now();
  const due = await Promise.all(
    RECORDS.filter(({ policy }) => deps.config.keepDays[policy] !== null).map(async (records) => {
      if (records.daily) return now;
      const [oldest] = await records.list(deps.db.read, null, 1, now);
      return (oldest?.createdAt ?? now) + getRetentionMs(deps, records);
    }),
  );
  if (hasMonths(deps)) due.push(now);
  return Math.min(Math.max(now + DAY, Math.min(...due)), now + 365 * DAY);
}
