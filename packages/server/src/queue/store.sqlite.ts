import { and, eq, gte, inArray, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { INTERRUPTED, MAX_INTERRUPTIONS } from "./queue.ts";
import { type NewJobRow, TableJobStore } from "./store.ts";

/** Jobs in the SQLite file of a single process: there is no other worker to tell or to take over from. */
export class SqliteJobStore extends TableJobStore<SqliteDb> {
  readonly workers = null;
  /** Claiming costs little without a round trip. */
  readonly maxClaimAhead = 0;
  /** There is one writer. */
  readonly transactionsAtOnce = 1;
  protected readonly claimant = { claimedBy: null, claimedAt: sql`null` };

  announce(): void {}

  writersIdle(): Promise<void> {
    return this.db.writer.idle();
  }

  /** This process holds the lock of the folder, so the process that claimed the jobs that run is dead. */
  open(kinds: readonly string[]): Promise<void> {
    return this.db.tx(async (tx) => {
      const { jobs } = tx.t;
      const orphaned = eq(jobs.state, "running");
      const interrupted = { claimedBy: null, claimedAt: null, interruptions: sql`${jobs.interruptions} + 1` };
      await tx
        .update(jobs)
        .set({ ...interrupted, state: "dead", attempts: jobs.maxAttempts, lastError: INTERRUPTED })
        .where(and(orphaned, gte(jobs.interruptions, MAX_INTERRUPTIONS - 1)));
      await tx
        .update(jobs)
        .set({ ...interrupted, state: "ready", attempts: sql`${jobs.attempts} - 1` })
        .where(orphaned);
      await this.setUnknownAside(tx, kinds);
      await tx
        .update(jobs)
        .set({ state: "ready" })
        .where(and(eq(jobs.state, "unhandled"), inArray(jobs.kind, [...kinds])));
    });
  }

  async close(): Promise<void> {}

  /** Without a flush: after a power cut all jobs that were claimed are ready again, whatever is left of their claims. */
  protected alone<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.tx(async (tx) => fn(tx), { mayBeLost: true });
  }

  protected async addRows(tx: Tx, rows: readonly NewJobRow[]): Promise<void> {
    await this.insertRows(tx, rows);
  }
}
