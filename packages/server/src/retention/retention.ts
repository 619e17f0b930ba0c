import type { Tx } from "../db/db.ts";
import { DAY } from "../lib/units.ts";
import type { JobHandler, NewJob } from "../queue/queue.ts";
import type { Expiring, Key, Retention, RetentionByTable, RetentionDeps, Term } from "./declarations.ts";

export {
  byAge,
  type DeleteOld,
  type Key,
  type ListRows,
  listByKey,
  type RetentionByTable,
  type RetentionDeps,
} from "./declarations.ts";

/** Deletes records at the end of their retention. One such job is always scheduled or running. */
export const RETENTION_JOB = "retention.sweep";

// Rows examined in one transaction: 1 ms of deleting on SQLite, during which other writers wait, and 5 ms on Postgres. Five
// million rows take a minute.
const CHUNK = 200;

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
}

const START: Position = { step: 0, after: null, startedAt: null };

/** Schedules the sweep a day from now, unless one with the same policy is scheduled. */
export function startRetention(tx: Tx, deps: Pick<RetentionDeps, "queue" | "clock" | "config">): Promise<void> {
  return scheduleSweep(tx, deps, deps.clock.now() + DAY);
}

/** Deletes one chunk, in one transaction with the job for the next, so that others can write in between. */
export function sweepRecords(deps: RetentionDeps, retention: RetentionByTable): JobHandler {
  const steps = listExpiring(retention);
  return async ({ payload }) => {
    if (payload.times !== policyKey(deps)) return {};
    const now = deps.clock.now();
    const position = { ...START, ...payload } as Position;
    const { step, after, startedAt } = position;
    const records = steps[step];
    if (startedAt === null) await deps.eventStream.storeNumbers();
    if (records === undefined) {
      const at = await getNextSweepAt(deps, retention);
      return { commit: (tx) => scheduleSweep(tx, deps, at) };
    }
    const before = findCutoff(deps, records.policy);
    const rows = before > 0 ? await records.list(deps.db.read, after, CHUNK, before) : [];
    const old = rows.filter(({ createdAt }) => createdAt < before).map(({ key }) => key);
    // Rows that were stored while the clock was ahead may stand before older ones.
    const goesOn = rows.length === CHUNK && (old.length === CHUNK || rows.some(({ createdAt }) => createdAt > now));
    const begun = { ...position, startedAt: startedAt ?? now };
    const next: Position = goesOn ? { ...begun, after: rows.at(-1)?.key ?? null } : { ...begun, step: step + 1, after: null };
    return {
      commit: async (tx) => {
        const remaining = old.length === 0 ? undefined : await records.delete(tx, old, before, deps);
        await deps.queue.enqueue(tx, sweepJob(deps, remaining === "more" ? begun : next, now));
      },
    };
  };
}

/** The instant (ms) before which records are old. */
function findCutoff({ config, clock }: RetentionDeps, policy: Term): number {
  const days = getDays(config, policy);
  return days === null ? Number.NEGATIVE_INFINITY : clock.now() - days * DAY;
}

/** Returns the days for which records are kept; null for ever. */
function getDays({ keepDays }: RetentionDeps["config"], policy: Term): number | null {
  return typeof policy === "object" ? policy.days : keepDays[policy];
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
  return Math.min(Math.max(now + DAY, Math.min(...due)), now + 365 * DAY);
}
