import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { migrationsFolder } from "../migrations.ts";

/** How far a move from SQLite has come. While it is there, servers do not start. */
export const COPY_TABLE = "mailsvc_move";

// Any number; it names the lock under which one server at a time migrates.
const LOCK = 7_316_245_103;

/**
 * Brings a database up to date: our tables, then what `also` brings, such as those of the queue. One server at a time, under an advisory lock that
 * the database drops when the connection ends, however it ends. Each step is one transaction.
 */
export async function migratePostgres(options: pg.ClientConfig, also?: (pool: pg.Pool) => Promise<void>): Promise<void> {
  // Connections of their own, without time limits: the other servers wait here until the first one has migrated.
  const pool = new pg.Pool({
    ...options,
    max: 2,
    pipeline: false,
    statement_timeout: 0,
    lock_timeout: 0,
    query_timeout: 0,
  } as pg.PoolConfig);
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  try {
    const client = await pool.connect();
    try {
      // What exists already is skipped with a notice.
      await client.query("SET client_min_messages = warning");
      await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
      await migrate(drizzle(client), { migrationsFolder: migrationsFolder("pg") });
      await also?.(pool);
    } finally {
      // The lock goes with the connection.
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}
