import pg from "pg";
import { errorCode, StorageUnavailable, storageError } from "../errors.ts";

/**
 * The default size of the pool. More connections than the cores of the database can serve only add waiting: with 8, 16 and 32
 * the send rate on two cores was the same within 5 %. A Postgres server allows 100 unless configured otherwise.
 */
export const CONNECTIONS = 16;

/** Maximum number of connections of a process: those of the pool, and the one that listens. */
export const CONNECTIONS_PER_PROCESS = CONNECTIONS + 1;

// A lock or a statement that takes longer belongs to a stuck transaction; the caller gets 503 instead.
const LOCK_MS = 10_000;
const STATEMENT_MS = 30_000;
// Inside a transaction only its queries are awaited, so one that idles waits for something it should not.
const IDLE_MS = 10_000;
const CONNECT_MS = 5000;

/** A pool of connections to a database, which are opened as they are needed. */
export function openPool(url: string, size = CONNECTIONS): pg.Pool {
  const pool = new pg.Pool({
    ...clientOptions(url),
    max: size,
    idleTimeoutMillis: 30_000,
    // Sends BEGIN together with the first query, and the last writes together with COMMIT.
    pipeline: true,
    onConnect: (client: pg.ClientBase) => applySettings(client),
  } as pg.PoolConfig);
  // The pool drops an unused connection that breaks; one in use fails its query.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

const SETTINGS = {
  statement_timeout: String(STATEMENT_MS),
  lock_timeout: String(LOCK_MS),
  idle_in_transaction_session_timeout: String(IDLE_MS),
  // Rows looked up by key are in memory or on a solid-state disk. At the default, 4, Postgres reads small tables whole, and keeps such
  // plans while the tables grow.
  random_page_cost: "1.1",
  // Every statement reads few rows. To start parallel workers takes 7 ms, as long as all of a search among a million addresses, and
  // to compile a statement takes longer still.
  max_parallel_workers_per_gather: "0",
  jit: "off",
};

// With `off` a commit is answered before it is on disk, and what was accepted is lost when the server crashes. All other values wait for
// the disk; which of them is right for the standbys of a cluster, its administrator decides.
const COMMIT_TO_DISK = "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

/**
 * Gives a new connection the settings of ours, except for `others`. By a statement, because poolers such as PgBouncer refuse connections
 * that ask for settings when they are opened.
 */
export async function applySettings(client: pg.ClientBase, others: Partial<typeof SETTINGS> = {}): Promise<void> {
  const settings = Object.entries({ ...SETTINGS, ...others });
  await client.query(
    `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value) union all ${COMMIT_TO_DISK}`,
    [settings.map(([name]) => name), settings.map(([, value]) => value)],
  );
}

/** The options of every connection, which needs `applySettings` too. Throws what `URL` throws for an invalid URL. */
export function clientOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: "mailsvc",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    // Longer than any statement may take on the server: only a silently dead connection takes this long.
    query_timeout: STATEMENT_MS + 10_000,
  };
}

const UNREACHABLE = /^(?:ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;

/** Explains why a database cannot be opened, in a sentence that says what to do and leaves out the password of the URL. */
export function openingError(error: unknown, url: string): unknown {
  const { host, pathname, username } = new URL(url);
  // drizzle wraps what the driver says.
  const code = errorCode(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  const server = host === "" ? "Postgres" : `Postgres at ${host}`;
  const database = pathname.slice(1);
  if (code === "3D000")
    return new StorageUnavailable(`${server} has no database ${database} (${code}). Create it with createdb, or correct the URL.`);
  if (code === "28P01" || code === "28000")
    return new StorageUnavailable(`${server} refused the user ${username} (${code}). Check the user and password in the URL.`);
  if (code === "42501")
    return new StorageUnavailable(
      `The user ${username} may not create the tables of mailsvc (${code}). Make it the owner: alter database ${database} owner to ${username}`,
    );
  if (code === "3F000")
    return new StorageUnavailable(
      `The search_path of the user ${username} names no schema that exists (${code}). Create the schema, or correct the search_path.`,
    );
  if (code === "25006")
    return new StorageUnavailable(
      `${server} takes no writes (${code}). Give the URL of the primary server, or turn off default_transaction_read_only.`,
    );
  if (code === "53300")
    return new StorageUnavailable(
      `${server} has no connection left (${code}). Raise its max_connections, or lower --database-connections, which is ${CONNECTIONS} by default.`,
      { isAway: true },
    );
  if (code !== null && UNREACHABLE.test(code))
    // A name that does not exist is a mistake in the URL; all else passes.
    return new StorageUnavailable(`${server} cannot be reached (${code}). Check that it is running, and the address in the URL.`, {
      isAway: code !== "ENOTFOUND",
    });
  return storageError(error);
}

/** The part of a connection or a pool that drizzle uses. */
export interface Queryable {
  query(config: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult>;
}

/** Runs SQL that drizzle cannot express. With a `name` it is prepared. */
export type Run = <R extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string) => Promise<pg.QueryResult<R>>;

/** The same, for the rows alone. */
export type Raw = <R extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string) => Promise<R[]>;
