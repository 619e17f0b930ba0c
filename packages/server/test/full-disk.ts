import type { PostgresDb } from "../src/db/postgres.ts";
import type { SqliteDb } from "../src/db/sqlite.ts";
import type { TestWorld } from "../src/testing.ts";

// Connections keep the setting they began with, so those that are open are cut.
const CUT = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

const setting = (db: PostgresDb, sql: string): Promise<unknown> =>
  db.read.raw(`do $$ begin execute format('alter database %I ${sql}', current_database()); end $$`);

/**
 * Leaves a world's database readable and lets nothing large be written, as when the disk is full (SQLite) or the server has
 * become a standby (Postgres). Returns how to undo it.
 */
export const fillDisk = async ({ app }: TestWorld): Promise<() => Promise<void>> => {
  const { db } = app.deps;
  if (db.dialect === "sqlite") {
    const sqlite = db as SqliteDb;
    await sqlite.gate.idle();
    await sqlite.alone((c) => void c.pragma(`max_page_count = ${c.pragma("page_count", { simple: true })}`));
    return () => sqlite.alone((c) => void c.pragma("max_page_count = 1000000"));
  }
  const postgres = db as PostgresDb;
  await app.deps.queue.idle();
  await setting(postgres, "set default_transaction_read_only = on");
  await postgres.read.raw(CUT);
  return async () => {
    await postgres.read.raw("set default_transaction_read_only = off");
    await postgres.tx(async (tx) => {
      await tx.raw("set transaction read write");
      await tx.raw("do $$ begin execute format('alter database %I reset default_transaction_read_only', current_database()); end $$");
    });
    await postgres.read.raw(CUT);
  };
};
