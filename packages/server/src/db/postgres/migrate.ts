import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { StorageUnavailable } from "../errors.ts";
import { migrationsFolder } from "../migration-files.ts";
import { type CheckBefore, isUpToDate, needsMigration, type SchemaState } from "../migrations.ts";
import { applySettings } from "./pool.ts";

/** Records how far a copy from SQLite has come. While this table exists, servers do not start. */
export const COPY_TABLE = "mailsvc_move";

// Any number; it names the lock under which one server at a time migrates.
const LOCK = 7_316_245_103;

/** Counts the servers that run on a database; one that was killed counts for ten seconds more. */
export const COUNT_SERVERS = "SELECT count(*)::int AS n FROM workers WHERE seen_at > now() - interval '10 seconds'";

interface MigrateOptions {
  /** The version of this build. */
  version: string;
  checkBefore?: CheckBefore | undefined;
}

/**
 * Migrates a database. One server at a time does so, under an advisory lock that the database
 * releases when the connection ends. Each migration is one transaction. Throws StorageUnavailable when a newer version of
 * mailsvc has migrated it, and for a server or a database that cannot be used.
 */
export async function migratePostgres(options: pg.ClientConfig, { version, checkBefore }: MigrateOptions): Promise<void> {
  // Own connections without time limits: the other servers wait here until the first one has migrated.
  const pool = new pg.Pool({
    ...options,
    max: 2,
    query_timeout: 0,
    onConnect: (client: pg.ClientBase) => applySettings(client, { statement_timeout: "0", lock_timeout: "0" }),
  } as pg.PoolConfig);
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  try {
    const client = await pool.connect();
    try {
      // Postgres reports what exists already as a notice.
      await client.query("SET client_min_messages = warning");
      await assertUsable(client);
      await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
      const folder = migrationsFolder("pg");
      const state = await readState(client);
      if (needsMigration(state, folder, version, "The database")) {
        if (state.migration !== null && checkBefore) checkBefore(await readFactNames(client));
        if (state.migration !== null && !isUpToDate(state, folder)) await assertNoServers(client, version);
        await migrate(drizzle(client), { migrationsFolder: folder });
        await client.query("CREATE TABLE IF NOT EXISTS drizzle.mailsvc (version TEXT NOT NULL)");
        await client.query("WITH old AS (DELETE FROM drizzle.mailsvc) INSERT INTO drizzle.mailsvc VALUES ($1)", [version]);
      }
    } finally {
      // The lock ends with the connection.
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}

/**
 * Throws StorageUnavailable, which passes, while servers run on a database whose tables this build changes: those servers read and write
 * the tables as they were. One that was killed counts for ten seconds more.
 */
export async function assertNoServers(client: Pick<pg.ClientBase, "query">, version: string): Promise<void> {
  const { rows } = await client.query<{ n: number }>(COUNT_SERVERS);
  const n = rows[0]?.n ?? 0;
  if (n === 0) return;
  throw new StorageUnavailable(
    `${n} ${n === 1 ? "server" : "servers"} of an earlier build still ${n === 1 ? "runs" : "run"} on the database, whose tables mailsvc ${version} changes. Stop all of them; a server that waits then starts by itself.`,
    { isAway: true },
  );
}

async function readFactNames(client: pg.ClientBase): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>("SELECT name FROM meta");
  return new Set(rows.map(({ name }) => name));
}

const OLDEST = 14;

/** Throws StorageUnavailable for a server that is too old, or a database that cannot hold every letter. */
async function assertUsable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            current_setting('server_encoding') AS encoding`,
  );
  const [{ version, number, encoding } = { version: "", number: 0, encoding: "" }] = rows;
  if (number < OLDEST * 10_000) throw new StorageUnavailable(`This is Postgres ${version}. mailsvc needs ${OLDEST} or newer.`);
  if (encoding !== "UTF8")
    throw new StorageUnavailable(
      `The database uses the encoding ${encoding}, which cannot store all characters. mailsvc needs UTF8: createdb --encoding UTF8 --template template0 NAME`,
    );
}

/** Throws StorageUnavailable unless a database has exactly the migrations of this build. */
export async function assertMigrated(pool: pg.Pool, version: string): Promise<void> {
  const state = await readState(pool);
  const folder = migrationsFolder("pg");
  needsMigration(state, folder, version, "The database");
  if (needsMigration({ ...state, version }, folder, version, "The database"))
    throw new StorageUnavailable(`The database was not migrated by mailsvc ${version} yet. Start the server once, then try again.`);
}

async function readState(client: pg.ClientBase | pg.Pool): Promise<SchemaState> {
  const exists = async (table: string): Promise<boolean> =>
    (await client.query<{ there: boolean }>("SELECT to_regclass($1) IS NOT NULL AS there", [table])).rows[0]?.there ?? false;
  const first = async <T>(sql: string): Promise<T | null> => (await client.query<{ value: T }>(sql)).rows[0]?.value ?? null;
  const migration = (await exists("drizzle.__drizzle_migrations"))
    ? await first<number>("SELECT max(created_at)::float8 AS value FROM drizzle.__drizzle_migrations")
    : null;
  const version = (await exists("drizzle.mailsvc")) ? await first<string>("SELECT version AS value FROM drizzle.mailsvc LIMIT 1") : null;
  return { migration, version };
}
