import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import type { JobHandler, NewJob } from "../../queue/queue.ts";
import { type Key, listRowsAfter, RECORDS, type Records } from "./records.ts";

/** Deletes what was kept for long enough; one of it waits or runs at all times. */
export const RETENTION_JOB = "marketplace.retention";

const DAY = 86_400_000;
// Rows looked at in one transaction: 1 ms of deleting on SQLite, for which other writers wait, 5 on Postgres. Five million are gone
// in a minute.
const CHUNK = 200;

/** How far a sweep has come: which records, and after which key. */
interface Position {
  readonly step: number;
  readonly after: Key | null;
}

const START: Position = { step: 0, after: null };

/** Sees to it that the sweep runs: a day from now, unless one with the same times waits already. */
export function startRetention(tx: Tx, deps: Pick<Deps, "queue" | "clock" | "config">): Promise<void> {
  return scheduleSweep(tx, deps, deps.clock.now() + DAY);
}

/** A chunk at a time: each is deleted together with the job for the next one, and others write in between. */
export function sweepRecords(deps: Deps): JobHandler {
  return async ({ payload }) => {
    if (payload.times !== policyKey(deps)) return {};
    const { step, after } = { ...START, ...payload } as Position;
    const records = RECORDS[step];
    if (!records) {
      const at = await getNextSweepAt(deps);
      return { commit: (tx) => scheduleSweep(tx, deps, at) };
    }
    const now = deps.clock.now();
    const before = now - getRetentionMs(deps, records);
    const rows = await listRowsAfter(deps.db.read, records, after, CHUNK);
    const old = rows.filter(({ made }) => made < before).map(({ key }) => key);
    const onward: Position = old.length === CHUNK ? { step, after: old.at(-1) ?? null } : { step: step + 1, after: null };
    return {
      commit: async (tx) => {
        const left = old.length === 0 ? undefined : await records.deleteExpired(tx, old, before);
        await deps.queue.enqueue(tx, sweepJob(deps, left === "more" ? { step, after } : onward, now));
      },
    };
  };
}

/** The job of this room. */
export function retentionJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [RETENTION_JOB]: sweepRecords(deps) };
}

/** What is kept for how long, in a word: the sweep of other times ends by itself. */
function policyKey({ config }: Pick<Deps, "config">): string {
  return Object.values(config.keepDays).join();
}

/** The job that goes on from there. It has no key of its own: the sweep that waits for its day must not stop the one at work. */
function sweepJob(deps: Pick<Deps, "config">, position: Position, runAt: number): NewJob {
  return {
    kind: RETENTION_JOB,
    payload: { ...position, times: policyKey(deps) },
    runAt,
  };
}

/** Lets a sweep begin at an instant (ms), unless one with the same times waits already. */
function scheduleSweep(tx: Tx, deps: Pick<Deps, "queue" | "config">, at: number): Promise<void> {
  return deps.queue.enqueue(tx, { ...sweepJob(deps, START, at), dedupeKey: `${RETENTION_JOB}:${policyKey(deps)}` });
}

/** For how long records are kept, ms. */
function getRetentionMs({ config }: Deps, { policy: keep }: Records): number {
  return (config.keepDays[keep] ?? Number.POSITIVE_INFINITY) * DAY;
}

/** When there may be something to delete again: a day from now, or later where the oldest of all is younger; in a year at the latest. */
async function getNextSweepAt(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  const due = await Promise.all(
    RECORDS.map(async (records) => {
      const [oldest] = await listRowsAfter(deps.db.read, records, null, 1);
      return (oldest?.made ?? now) + getRetentionMs(deps, records);
    }),
  );
  return Math.min(Math.max(now + DAY, Math.min(...due)), now + 365 * DAY);
}
