import { eq, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Coalescer, SqliteDb } from "../db/sqlite/database.ts";
import type { JobRow } from "./queue.ts";
import type { queueTables } from "./tables.ts";

type Jobs = ReturnType<typeof queueTables>["jobs"];

/** A job that is due at once, and has no key. */
export type Loose = Pick<JobRow, "kind" | "payload" | "maxAttempts" | "createdAt">;

const ph = sql.placeholder;

/** Opens all bundles of a file that no server uses. */
export const OPEN_ALL = `
  insert into jobs (kind, payload, bundle, state, run_at, attempts, max_attempts, created_at)
    select j.kind, e.value, 0, j.state, j.run_at, j.attempts, j.max_attempts, j.created_at from jobs j, json_each(j.payload) e where j.bundle = 1;
  delete from jobs where bundle = 1;`;

/**
 * Jobs that were added by one commit, kept as one row until they are claimed: a row each costs a send a twentieth of all
 * it costs. Used while requests are waiting; the worker has no time for the jobs then anyway.
 */
export function bundles(db: SqliteDb, jobs: Jobs) {
  const insert = async (
    tx: Tx,
    { kind, maxAttempts, createdAt }: Omit<Loose, "payload">,
    payload: Jobs["$inferInsert"]["payload"],
  ): Promise<void> => {
    await tx
      .prepared("add_bundle", (q) =>
        q
          .insert(jobs)
          .values({
            kind: ph("kind"),
            payload: ph("payload"),
            bundle: ph("bundle"),
            state: "ready",
            runAt: ph("createdAt"),
            attempts: 0,
            maxAttempts: ph("maxAttempts"),
            createdAt: ph("createdAt"),
          })
          .prepare("add_bundle"),
      )
      .execute({ kind, maxAttempts, createdAt, payload, bundle: Array.isArray(payload) });
  };

  const gather: Coalescer<Loose> = {
    write: async (tx, items) => {
      const alike = Map.groupBy(items, ({ kind, maxAttempts }) => `${kind} ${maxAttempts}`);
      for (const some of alike.values()) {
        const payloads = some.map(({ payload }) => payload);
        await insert(tx, some[0] as Loose, payloads.length === 1 ? (payloads[0] as Loose["payload"]) : payloads);
      }
    },
  };

  /** Makes jobs of a bundle, each a row that is due. */
  const open = async (tx: Tx, id: number): Promise<void> => {
    const [bundle] = await tx.delete(jobs).where(eq(jobs.id, id)).returning();
    if (!bundle || !Array.isArray(bundle.payload)) return;
    for (const payload of bundle.payload) await insert(tx, bundle, payload);
  };

  return { add: (job: Loose): void => db.coalesce(gather, job), open };
}
