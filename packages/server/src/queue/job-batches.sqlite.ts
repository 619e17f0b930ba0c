import { eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Coalescer, SqliteDb } from "../db/sqlite/database.ts";
import type { Addition } from "./job-store.ts";
import type { JobsTable } from "./listing.sqlite.ts";
import { LANES } from "./queue.ts";

/** A job that is due at once and has no key. */
export type BatchedJob = Omit<Addition, "dedupeKey">;

/** Unpacks all batches of a database that no server uses. */
export const UNPACK_ALL = `
  insert into jobs (kind, payload, bundle, state, run_at, attempts, max_attempts, created_at, lane)
    select j.kind, e.value, 0, j.state, j.run_at, j.attempts, j.max_attempts, j.created_at, j.lane from jobs j, json_each(j.payload) e where j.bundle = 1;
  delete from jobs where bundle = 1;`;

/**
 * Job batches: jobs that one commit added, in one row until they are claimed. A row for each would cost a send a twentieth of
 * its time. Used while requests are waiting, when the worker has little time for the jobs anyway.
 */
export class JobBatches {
  readonly #db: SqliteDb;
  readonly #jobs: JobsTable;
  readonly #coalescer: Coalescer<BatchedJob> = { write: (tx, items) => this.#write(tx, items) };

  constructor(db: SqliteDb, jobs: JobsTable) {
    this.#db = db;
    this.#jobs = jobs;
  }

  /** Adds a job to the batch of the open commit. */
  add(job: BatchedJob): void {
    this.#db.coalesce(this.#coalescer, job);
  }

  /** Replaces a batch with its jobs, a row each, all due. */
  async unpack(tx: Tx, id: number): Promise<void> {
    const [batch] = await tx.delete(this.#jobs).where(eq(this.#jobs.id, id)).returning();
    if (!batch || !Array.isArray(batch.payload)) return;
    for (const payload of batch.payload) await this.#insert(tx, batch, payload);
  }

  async #write(tx: Tx, items: readonly BatchedJob[]): Promise<void> {
    for (const alike of Map.groupBy(items, ({ kind, maxAttempts }) => `${kind} ${maxAttempts}`).values()) {
      const [first] = alike;
      if (!first) continue;
      const payload = alike.length === 1 ? first.payload : alike.map((job) => job.payload);
      await this.#insert(tx, { ...first, lane: LANES.indexOf(first.lane) }, payload);
    }
  }

  async #insert(
    tx: Tx,
    { kind, maxAttempts, createdAt, lane }: Pick<JobsTable["$inferSelect"], "kind" | "maxAttempts" | "createdAt" | "lane">,
    payload: JobsTable["$inferInsert"]["payload"],
  ): Promise<void> {
    await tx
      .prepared("add_batch", (q, _, arg) =>
        q.insert(this.#jobs).values({
          kind: arg("kind"),
          payload: arg("payload"),
          batch: arg("batch"),
          state: "ready",
          runAt: arg("createdAt"),
          attempts: 0,
          maxAttempts: arg("maxAttempts"),
          createdAt: arg("createdAt"),
          lane: arg("lane"),
        }),
      )
      .execute({ kind, maxAttempts, createdAt, lane, payload, batch: Array.isArray(payload) });
  }
}
