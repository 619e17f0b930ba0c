import { isNotNull, sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

/** `unhandled`: it waits for a build that knows its kind. */
export type JobState = "ready" | "running" | "dead" | "unhandled";

/** The workspace that a payload names. A query must repeat these two texts to use the indexes of them. */
export const PAYLOAD_WORKSPACE = sql`(payload ->> 'workspaceId')`;
export const DEAD = sql`state = 'dead'`;

/** True for jobs that may be claimed once they are due. */
export const READY = sql`state = 'ready'`;

/** The job queue. */
export function queueTables(c: ColumnTypes) {
  return {
    jobs: c.table(
      "jobs",
      {
        id: c.counter("id"),
        kind: c.text("kind").notNull(),
        payload: c.json<Record<string, unknown>>("payload").notNull(),
        state: c.text("state").$type<JobState>().notNull(),
        runAt: c.instant("run_at").notNull(),
        attempts: c.int("attempts").notNull(),
        maxAttempts: c.int("max_attempts").notNull(),
        /** The number of its claims. An attempt holds its job only while this is as it was then. */
        claims: c.int("claims").notNull(),
        /** The process that runs it, and when it was claimed by the clock of the database; null on SQLite, where there is one process. */
        claimedBy: c.text("claimed_by"),
        claimedAt: c.instant("claimed_at"),
        /** While a job with this key is ready, another one is not added. One that runs or is dead keeps it until another one needs it. */
        dedupeKey: c.text("dedupe_key"),
        lastError: c.text("last_error"),
        createdAt: c.instant("created_at").notNull(),
        /** The index of its lane in `JOB_LANES`. */
        lane: c.int("lane").notNull(),
        /** Attempts in a row that the process did not survive; `attempts` does not count them. */
        interruptions: c.int("interruptions").notNull(),
      },
      (t) => [
        c.index("jobs_state").on(t.state, t.lane, t.runAt),
        c.uniqueIndex("jobs_dedupe").on(t.dedupeKey).where(isNotNull(t.dedupeKey)),
        // For the list of a workspace.
        c.index("jobs_workspace").on(PAYLOAD_WORKSPACE, t.id),
        c.index("jobs_dead").on(PAYLOAD_WORKSPACE, t.id).where(DEAD),
      ],
    ),
  };
}
