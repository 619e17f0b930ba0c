import { isNotNull } from "drizzle-orm";
import type { Kit } from "../db/postgres/columns.ts";

export type JobState = "ready" | "running" | "dead";

/** The job queue of SQLite; on Postgres graphile-worker brings its own. */
export function queueTables(k: Kit) {
  return {
    jobs: k.table(
      "jobs",
      {
        id: k.counter("id"),
        kind: k.text("kind").notNull(),
        payload: k.json<Record<string, unknown> | Record<string, unknown>[]>("payload").notNull(),
        /** Jobs of one kind that were added by one commit, as one row: `payload` lists theirs. */
        bundle: k.flag("bundle").notNull(),
        state: k.text("state").$type<JobState>().notNull(),
        runAt: k.instant("run_at").notNull(),
        attempts: k.int("attempts").notNull(),
        maxAttempts: k.int("max_attempts").notNull(),
        /** The lease of a running job: after this instant another worker may take it. */
        lockedUntil: k.instant("locked_until"),
        /** While a job with this key is ready, another one is not added. */
        dedupeKey: k.text("dedupe_key"),
        lastError: k.text("last_error"),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [k.index("jobs_due").on(t.state, t.runAt), k.uniqueIndex("jobs_dedupe").on(t.dedupeKey).where(isNotNull(t.dedupeKey))],
    ),
  };
}
