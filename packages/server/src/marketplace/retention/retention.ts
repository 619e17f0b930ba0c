import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { type Batch, type Mark, RECORDS } from "./records.ts";

/** Deletes what was kept for long enough; one of it waits or runs at all times. */
export const RETENTION_JOB = "marketplace.retention";

const DAY = 86_400_000;
// Rows looked at, and deleted at most, in one transaction: 3 ms on SQLite, for which other writers wait.
const CHUNK = 200;

/** How far a sweep has come: which records, and after which key. */
interface Position {
  readonly step: number;
  readonly after: Mark | null;
}

const START: Position = { step: 0, after: null };

/** What is kept for how long, in a word: the sweep of other times ends by itself. */
const times = ({ config }: Pick<Deps, "config">): string => Object.values(config.keepDays).join();

const enqueue = (tx: Tx, deps: Pick<Deps, "queue" | "config">, position: Position, runAt: number): Promise<void> =>
  deps.queue.enqueue(tx, {
    kind: RETENTION_JOB,
    payload: { ...position, times: times(deps) },
    runAt,
    dedupeKey: `${RETENTION_JOB}:${times(deps)}`,
  });

/** Sees to it that the sweep runs: a day from now, unless one with the same times waits already. */
export const startRetention = (tx: Tx, deps: Pick<Deps, "queue" | "clock" | "config">): Promise<void> =>
  enqueue(tx, deps, START, deps.clock.now() + DAY);

/** What was made before this instant has been kept for long enough; null for what is kept for ever. */
const cutoff = ({ config, clock }: Deps, step: number): number | null => {
  const records = RECORDS[step];
  const days = records ? config.keepDays[records.keep] : null;
  return days === null ? null : clock.now() - days * DAY;
};

/** When there may be something to delete again: a day from now, or later where the oldest of all is younger. */
const nextSweep = async (deps: Deps): Promise<number> => {
  const now = deps.clock.now();
  const due = await Promise.all(
    RECORDS.map(async (records) => {
      const days = deps.config.keepDays[records.keep];
      return days === null ? Number.POSITIVE_INFINITY : ((await records.oldest(deps.db.read)) ?? now) + days * DAY;
    }),
  );
  const first = Math.min(...due);
  return Math.max(now + DAY, Number.isFinite(first) ? first : now + 365 * DAY);
};

/** A chunk at a time: each is deleted together with the job for the next one, and others write in between. */
export const sweepRecords =
  (deps: Deps): JobHandler =>
  async ({ payload }) => {
    if (payload.times !== times(deps)) return {};
    const { step, after } = { ...START, ...payload } as Position;
    const records = RECORDS[step];
    if (!records) {
      const at = await nextSweep(deps);
      return { commit: (tx) => enqueue(tx, deps, START, at) };
    }
    const before = cutoff(deps, step);
    const batch: Batch = before === null ? { ids: [], next: null } : await records.find(deps.db.read, before, after, CHUNK);
    return {
      commit: async (tx) => {
        if (before !== null && batch.ids.length > 0) await records.drop(tx, batch.ids, before);
        await enqueue(tx, deps, batch.next === null ? { step: step + 1, after: null } : { step, after: batch.next }, deps.clock.now());
      },
    };
  };

/** The job of this room. */
export const retentionJobs = (deps: Deps): Readonly<Record<string, JobHandler>> => ({ [RETENTION_JOB]: sweepRecords(deps) });
