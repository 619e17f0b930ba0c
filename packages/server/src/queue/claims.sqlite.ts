import { and, asc, eq, lte, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { MINUTE } from "../lib/units.ts";
import type { Claim, LaneLimits } from "./job-store.ts";
import type { JobsTable } from "./listing.sqlite.ts";
import { PAUSED_LANES, readPause } from "./pause.ts";
import { LANES, type Lane, type LaneJob } from "./queue.ts";

/** A claimed job, with the key it had while it was ready. */
export interface ClaimedRow extends LaneJob {
  readonly dedupeKey: string | null;
}

/** A job that was found due. */
interface DueRow {
  readonly id: number;
  readonly dedupeKey: string | null;
}

// For the display only: the worker itself gives up an attempt after this long.
const LEASE_MS = 10 * MINUTE;

/** Claims jobs of SQLite. */
export class SqliteClaims {
  readonly #db: SqliteDb;
  readonly #jobs: JobsTable;

  constructor(db: SqliteDb, jobs: JobsTable) {
    this.#db = db;
    this.#jobs = jobs;
  }

  claim(now: number, limits: LaneLimits): Promise<Claim> {
    return this.#db.tx(async (tx) => {
      const jobs: LaneJob[] = [];
      const drained: Lane[] = [];
      const isPaused = limits.mail + limits.bulk > 0 && (await readPause(tx)) !== null;
      for (const lane of LANES) {
        if (limits[lane] <= 0) continue;
        const due = isPaused && PAUSED_LANES.includes(lane) ? [] : await this.#findDue(tx, now, lane, limits[lane]);
        if (due.length < limits[lane]) drained.push(lane);
        if (due.length > 0) jobs.push(...(await this.#claimAll(tx, due, now)));
      }
      return { jobs, drained };
    });
  }

  async #findDue(tx: Tx, now: number, lane: Lane, limit: number): Promise<DueRow[]> {
    const jobs = this.#jobs;
    return tx
      .prepared("claim_due", (q, _, arg) =>
        q
          .select({ id: jobs.id, dedupeKey: jobs.dedupeKey })
          .from(jobs)
          .where(and(eq(jobs.state, "ready"), eq(jobs.lane, arg("lane")), lte(jobs.runAt, arg("now"))))
          .orderBy(asc(jobs.runAt), asc(jobs.id))
          .limit(arg("limit")),
      )
      .execute({ now, lane: LANES.indexOf(lane), limit });
  }

  /** Claims jobs that were found due in this transaction, in their order: one statement for all takes half the time. */
  async #claimAll(tx: Tx, due: readonly DueRow[], now: number): Promise<ClaimedRow[]> {
    const jobs = this.#jobs;
    const rows = await tx
      .prepared("claim_jobs", (q, _, arg) =>
        q
          .update(jobs)
          .set({ state: "running", attempts: sql`${jobs.attempts} + 1`, lockedUntil: sql`${arg("until")}`, dedupeKey: null })
          .where(tx.sqlDialect.amongNumbers(jobs.id, arg("ids")))
          .returning(),
      )
      .execute({ ids: JSON.stringify(due.map(({ id }) => id)), until: now + LEASE_MS });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return due.flatMap(({ id, dedupeKey }) => {
      const row = byId.get(id);
      if (!row) return [];
      const { kind, payload, attempts, interruptions, maxAttempts } = row;
      const lane = LANES[row.lane] ?? "default";
      return { id: String(id), kind, payload, attempt: attempts, interruptions, maxAttempts, dedupeKey, lane };
    });
  }
}
