import type { PostgresDb } from "../../packages/server/src/db/postgres/database.ts";
import type { SqliteDb } from "../../packages/server/src/db/sqlite/database.ts";
import { COLUMNS, JOBS, TASKS } from "../../packages/server/src/queue/statements.pg.ts";
import type { TestWorld } from "../../packages/server/src/testing.ts";

/** A job of a world. */
interface WorldJob {
  readonly kind: string;
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly runAt: number;
  readonly lastError: string | null;
}

const ON_SQLITE = "SELECT kind, state, run_at AS runAt, last_error AS lastError FROM jobs";
const ON_POSTGRES = `SELECT ${COLUMNS} FROM ${JOBS} j JOIN ${TASKS} t ON t.id = j.task_id`;

/** All jobs of a world, of all workspaces and of none. */
export async function listJobs({ app }: TestWorld): Promise<readonly WorldJob[]> {
  const { db } = app.deps;
  if (db.engine === "sqlite") return (db as SqliteDb).exclusive((connection) => connection.prepare(ON_SQLITE).all() as WorldJob[]);
  return (db as PostgresDb).read.raw<WorldJob & Record<string, unknown>>(ON_POSTGRES);
}
