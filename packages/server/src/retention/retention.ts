import type { Reader, Tx } from "../db/db.ts";
import { deleteFact, findFact, writeMissingFact } from "../db/facts.ts";
import { iso } from "../lib/clock.ts";
import { DAY, HOUR, MINUTE } from "../lib/units.ts";
import type { JobHandler, NewJob, Outcome } from "../queue/queue.ts";
import type { Expiring, Key, Retention, RetentionByTable, RetentionDeps } from "./declarations.ts";
import { findCutoff, findTableUser, getDays, isMonthly, listMonthly, type Monthly, tendMonths } from "./months.ts";

export {
  byAge,
  type DeleteOld,
  type Key,
  type ListRows,
  listByKey,
  type MonthsOf,
  type RetentionByTable,
  type RetentionDeps,
  type StayingRow,
} from "./declarations.ts";

/** Deletes records at the end of their retention. One such job is always scheduled or running. */
export const RETENTION_JOB = "retention.sweep";

// Rows examined in one transaction: 1 ms of deleting on SQLite, during which other writers wait, and 5 ms on Postgres. Five
// million rows take a minute.
const CHUNK = 200;

/**
 * Lists the steps of a sweep, in their order. Months come late, so that no other records wait for their tables, and before the records
 * that go with them, whose remaining rows are then deleted one by one.
 */
function listSteps(retention: RetentionByTable): readonly (Expiring | "months")[] {
  const expiring = listExpiring(retention);
  return [...expiring.filter(({ policy }) => !isMonthly(policy)), "months", ...expiring.filter(({ policy }) => isMonthly(policy))];
}

/** Lists the records that expire, in the order of their declarations. */
export function listExpiring(retention: RetentionByTable): readonly Expiring[] {
  return Object.values<Retention>(retention).filter((one): one is Expiring => typeof one === "object" && "policy" in one);
}

/** The progress of a sweep. */
interface Position {
  readonly step: number;
  /** The last key examined. */
  readonly after: Key | null;
  /** Start of the sweep, ms; null before it. */
  readonly startedAt: number | null;
  /** Records whose months are still to be dropped; null for all. */
  readonly months: readonly Monthly[] | null;
  /** While others use the tables of months. */
  readonly delay: Delay | null;
}

const START: Position = { step: 0, after: null, startedAt: null, months: null, delay: null };

/** Schedules the sweep a day from now, unless one with the same policy is scheduled. */
export function startRetention(tx: Tx, deps: Pick<RetentionDeps, "queue" | "clock" | "config">): Promise<void> {
  return scheduleSweep(tx, deps, deps.clock.now() + DAY);
}

/** Deletes one chunk, in one transaction with the job for the next, so that others can write in between. */
export function sweepRecords(deps: RetentionDeps, retention: RetentionByTable): JobHandler {
  const steps = listSteps(retention);
  return async ({ payload }) => {
    if (payload.times !== policyKey(deps)) return {};
    const now = deps.clock.now();
    const read = { ...START, ...payload } as Position;
    const position = { ...read, startedAt: read.startedAt ?? now };
    const step = steps[position.step];
    if (read.startedAt === null) await deps.eventStream.storeNumbers();
    if (step === undefined) {
      const at = await getNextSweepAt(deps, retention);
      return { commit: (tx) => scheduleSweep(tx, deps, at) };
    }
    return step === "months" ? sweepMonths(deps, retention, position) : sweepRows(deps, position, step);
  };
}

async function sweepRows(deps: RetentionDeps, position: Position, records: Expiring): Promise<Outcome> {
  const { step, after } = position;
  const now = deps.clock.now();
  const before = findCutoff(deps, records.policy);
  const rows = before > 0 ? await records.list(deps.db.read, after, CHUNK, before) : [];
  const old = rows.filter(({ createdAt }) => createdAt < before).map(({ key }) => key);
  // Rows that were stored while the clock was ahead may stand before older ones.
  const goesOn = rows.length === CHUNK && (old.length === CHUNK || rows.some(({ createdAt }) => createdAt > now));
  const next: Position = goesOn ? { ...position, after: rows.at(-1)?.key ?? null } : { ...position, step: step + 1, after: null };
  return {
    commit: async (tx) => {
      const remaining = old.length === 0 ? undefined : await records.delete(tx, old, before, deps);
      await deps.queue.enqueue(tx, sweepJob(deps, remaining === "more" ? position : next, now));
    },
  };
}

/** Drops months. While others use their tables it is tried again, and once a day the sweep begins anew, so that no other records wait. */
async function sweepMonths(
  deps: RetentionDeps,
  retention: RetentionByTable,
  position: Position & { readonly startedAt: number },
): Promise<Outcome> {
  const now = deps.clock.now();
  const { left, isLocked } = await tendMonths(deps, retention, position.months ?? listMonthly(deps));
  const delay = isLocked ? prolongDelay(position.delay, now) : left.length > 0 ? position.delay : null;
  const isReported = delay?.reportedAt === now && isLocked;
  const user = isReported ? await findTableUser(deps, retention, left) : null;
  const next: Position =
    left.length === 0
      ? { ...position, step: position.step + 1, delay }
      : isLocked && now - position.startedAt >= DAY
        ? { ...START, delay }
        : { ...position, months: left, delay };
  return {
    commit: async (tx) => {
      await storeDelay(tx, delay);
      await deps.queue.enqueue(tx, sweepJob(deps, next, isLocked && delay ? findRetry(delay, now) : now));
      tx.afterCommit(() => {
        if (isReported && delay)
          deps.log.warn("old records cannot be dropped, because a transaction uses their tables", {
            records: left.join(", "),
            since: iso(delay.since),
            transaction: user,
          });
        if (delay === null && position.delay?.reportedAt) deps.log.info("old records can be dropped again");
      });
    },
  };
}

export function retentionJobs(deps: RetentionDeps, retention: RetentionByTable): Readonly<Record<string, JobHandler>> {
  return { [RETENTION_JOB]: sweepRecords(deps, retention) };
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

/** Returns the time for which records are kept, ms. */
function getRetentionMs({ config }: RetentionDeps, { policy: keep }: Expiring): number {
  return (getDays(config, keep) ?? Number.POSITIVE_INFINITY) * DAY;
}

/** Returns the time at which the oldest record expires, ms: at least a day and at most a year from now. */
async function getNextSweepAt(deps: RetentionDeps, retention: RetentionByTable): Promise<number> {
  const now = deps.clock.now();
  const due = await Promise.all(
    listExpiring(retention)
      .filter(({ policy }) => (getDays(deps.config, policy) ?? 0) > 0)
      .map(async (records) => {
        if (records.daily) return now;
        const [oldest] = await records.list(deps.db.read, null, 1, now);
        // The first row was stored while the clock was ahead: those behind it may be older.
        if (oldest && oldest.createdAt > now) return now;
        return (oldest?.createdAt ?? now) + getRetentionMs(deps, records);
      }),
  );
  if (listMonthly(deps).length > 0) due.push(now);
  return Math.min(Math.max(now + DAY, Math.min(...due)), now + 365 * DAY);
}

/** Start of the time in which months cannot be dropped because others use the tables, and the latest report of that. */
interface Delay {
  readonly since: number;
  readonly reportedAt: number | null;
}

// A backup has the tables for minutes, and nobody has to know. Each attempt holds others up for a moment, so later ones are rarer.
const PATIENCE = 10 * MINUTE;
const REPORTED_EVERY = HOUR;

// The fact that tells operators of a delay: since when, ms.
const DELAY_FACT = "retention.delayed";

/** The delay after another attempt in vain. */
function prolongDelay(before: Delay | null, now: number): Delay {
  const { since, reportedAt } = before ?? { since: now, reportedAt: null };
  const isDue = now - since >= PATIENCE && (reportedAt === null || now - reportedAt >= REPORTED_EVERY);
  return { since, reportedAt: isDue ? now : reportedAt };
}

/** Returns the time of the next attempt. */
function findRetry({ since }: Delay, now: number): number {
  return now + (now - since < PATIENCE ? MINUTE : PATIENCE);
}

/** Stores a delay that was reported, so that operators see it; null when there is none any more. */
export async function storeDelay(tx: Tx, delay: Delay | null): Promise<void> {
  if (delay === null) await deleteFact(tx, DELAY_FACT);
  else if (delay.reportedAt !== null) await writeMissingFact(tx, DELAY_FACT, String(delay.since));
}

/** Returns the time (ms) since which old mail or events cannot be dropped; null if they can. */
export async function findRetentionDelay(read: Reader): Promise<number | null> {
  const since = await findFact(read, DELAY_FACT);
  return since === null ? null : Number(since);
}
