import { Logger, runMigrations } from "graphile-worker";
import type { PgPool } from "../db/postgres/database.ts";

/** The schema of the queue's tables: our own, so that an application in the same database may use graphile-worker too. */
export const QUEUE_SCHEMA = "mailsvc_jobs";

const silent = new Logger(() => () => {});

/** Brings the tables of the queue up to date. */
export function migrateQueue(pgPool: PgPool): Promise<void> {
  return runMigrations({ pgPool, schema: QUEUE_SCHEMA, logger: silent });
}
