import type { PgTable } from "drizzle-orm/pg-core";
import pg from "pg";
import { yieldToEventLoop } from "../../lib/turn.ts";
import type { DatabaseSchema, Db, Reader, Tx } from "../db.ts";
import { MisplacedQuery, StorageUnavailable, storageError } from "../errors.ts";
import { currentScope, newScope, runHook, type Scope } from "../scope.ts";
import type { Row } from "./arrays.ts";
import { createGroups } from "./groups.ts";
import { type BulkInsert, listArrays, toArrays } from "./insert.ts";
import { KindMemory } from "./kinds.ts";
import { type CollectedRows, openLightTx } from "./light.ts";
import { type Listener, type ListenerEvents, openListener } from "./listener.ts";
import { toLookup } from "./lookup.ts";
import { assertMigrated, COPY_TABLE, migratePostgres } from "./migrate.ts";
import { openingError } from "./opening-error.ts";
import { createSession, type PgSession } from "./session.ts";
import { createSharedReads } from "./shared-reads.ts";
import { analyzeGrownTables } from "./statistics.ts";

export interface PostgresOptions {
  /** Connections in the pool of this process, at most. */
  connections?: number | undefined;
  /** A pool for this database that stays open when it is closed; by default it has one of its own. */
  pool?: pg.Pool | undefined;
  /** False to leave the tables as they are. */
  migrate?: boolean;
  /** Further tables to migrate, under the same lock. */
  also?: (pool: pg.Pool) => Promise<void>;
  /** True only for the copy from SQLite: it writes into a database on which servers do not start yet. */
  copying?: boolean;
}

/** The pool that migrations of further tables use. */
export type PgPool = pg.Pool;

/** A transaction on Postgres, with what only the queue needs. */
export interface PgTx extends Tx, Pick<PgSession, "raw"> {
  /** Inserts a row right before COMMIT, with all others of the same insert; in a group, together with those of other transactions. */
  defer(insert: BulkInsert, values: unknown[]): void;
  /** Runs `fn` once, right before COMMIT: writes what was collected while the transaction ran. `name` replaces an earlier one. */
  beforeCommit(name: string, fn: () => Promise<void>): void;
}

export interface PostgresDb extends Db {
  readonly engine: "postgres";
  readonly read: Reader & Pick<PgSession, "raw">;
  tx<T>(fn: (tx: PgTx) => Promise<T>, kind?: object): Promise<T>;
  /** How many connections all processes together may open, and how many are open; the pool of this process is counted whole. */
  connectionBudget(): Promise<ConnectionBudget>;
  /** Throws StorageUnavailable unless the database has exactly the tables of this version. */
  assertMigrated(): Promise<void>;
  /** Collects statistics of tables that have grown, in the schema of the product and in `schema`. */
  analyzeGrownTables(schema: string): Promise<void>;
  /** Opens a further connection, outside the pool. */
  listen(events: ListenerEvents): Promise<Listener>;
  /** Commits that light transactions shared so far, and how many transactions were in them. */
  readonly groups: { readonly commits: number; readonly transactions: number };
  /** Connections of the pool: open, idle, and callers waiting for one. */
  poolStats(): { open: number; idle: number; waiting: number };
}

/** How the connections of the database server are used. */
export interface ConnectionBudget {
  /** Connections one process of this installation uses: its pool and the one of its heartbeat. */
  readonly perProcess: number;
  /** Processes of this installation that have registered themselves and are alive. */
  readonly processes: number;
  /** What the database server gives to ordinary users. */
  readonly allowed: number;
}

/**
 * The default size of the pool. More connections than the cores of the database can serve only add waiting: with 8, 16 and 32
 * the send rate on two cores was the same within 5 %. A Postgres server allows 100 unless configured otherwise.
 */
export const CONNECTIONS = 16;

// A lock or a statement that takes longer belongs to a stuck transaction; the caller gets 503 instead.
const LOCK_MS = 10_000;
const STATEMENT_MS = 30_000;
// Inside a transaction only its queries are awaited, so one that idles waits for something it should not.
const IDLE_MS = 10_000;
const CONNECT_MS = 5000;
// Of two transactions that conflict the later one runs again, one at a time within this process.
const MAX_TRIES = 40;

const SERIALIZATION = new Set(["40001", "40P01"]);

interface Connection {
  readonly session: PgSession;
  /** The transaction that uses this connection. */
  scope: Scope | null;
  /** True when the open transaction conflicted with another one. */
  contended: boolean;
}

/**
 * Opens a Postgres database, migrating it as needed. Throws StorageUnavailable when it cannot be reached.
 *
 * Transactions are REPEATABLE READ: what a transaction has read cannot change before it writes, so a feature that reads, decides
 * and updates is as safe as behind SQLite's single writer. Of two that update the same row the later one fails with 40001 and is
 * run again here, so the work of a transaction may run more than once. `afterCommit` hooks run once.
 *
 * | transaction is | trigger                            | becomes                                            |
 * | -------------- | ---------------------------------- | -------------------------------------------------- |
 * | first try      | COMMIT succeeds                    | done: the caller resolves, hooks run               |
 * | first try      | 40001 or 40P01                     | rolled back, then waiting for earlier retries      |
 * | waiting        | its turn among the retries         | retry                                              |
 * | retry          | COMMIT succeeds                    | done                                               |
 * | retry          | 40001 or 40P01, up to 39 times     | retry                                              |
 * | any            | another error                      | rolled back: the caller is rejected                |
 */
export async function openPostgres(url: string, schema: DatabaseSchema, options: PostgresOptions = {}): Promise<PostgresDb> {
  const base = clientOptions(url);
  const size = options.connections ?? CONNECTIONS;
  const pool = options.pool ?? openPool(url, size);
  const closePool = async (): Promise<void> => {
    if (pool !== options.pool) await pool.end();
  };

  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new StorageUnavailable("The database is closed.");
  };

  try {
    if (options.migrate !== false) await migratePostgres(base, { version: schema.version, also: options.also });
    const { rows } = await pool.query<{ copying: boolean }>(`SELECT to_regclass('${COPY_TABLE}') IS NOT NULL AS copying`);
    if (rows[0]?.copying && !options.copying)
      throw new StorageUnavailable(
        "A move into this database has not ended. Run the same `mailsvc migrate` again; it continues where it stopped.",
      );
  } catch (error) {
    await closePool();
    throw openingError(error, url);
  }

  const guardRead = (): void => {
    assertOpen();
    if (currentScope.getStore()?.open)
      throw new MisplacedQuery("A query was made beside the open transaction: use the transaction you were given.");
  };
  const reads = createSharedReads(pool);
  const read: PgSession = Object.assign(
    createSession(pool, schema, guardRead, () => {}),
    {
      lookUp: async (table: PgTable, keys: readonly Row[]) => {
        guardRead();
        const [first] = keys;
        return first ? reads.ask(toLookup(table, first), keys) : [];
      },
    },
  ) as PgSession;

  const groups = createGroups(pool);
  const kinds = new KindMemory();

  const connections = new WeakMap<pg.PoolClient, Connection>();
  const connectionOf = (client: pg.PoolClient): Connection => {
    let connection = connections.get(client);
    if (!connection) {
      const made: Connection = {
        scope: null,
        contended: false,
        session: createSession(
          client,
          schema,
          () => {
            // The connection may serve another transaction by now, so the caller's transaction is compared too.
            if (!made.scope?.open || currentScope.getStore() !== made.scope)
              throw new MisplacedQuery("A query was made after its transaction had ended, or outside of it.");
          },
          (error) => {
            if (SERIALIZATION.has(String((error as { code?: unknown }).code))) made.contended = true;
          },
        ),
      };
      connection = made;
      connections.set(client, connection);
    }
    return connection;
  };

  /** Runs a transaction once. Resolves after COMMIT, with `conflict` when it conflicted with another one. */
  const tryOnce = async <T>(fn: (tx: PgTx) => Promise<T>): Promise<{ value: T; scope: Scope } | "conflict"> => {
    const client = await pool.connect();
    const connection = connectionOf(client);
    const scope: Scope = newScope();
    const beforeCommit = new Map<string, () => Promise<void>>();
    const deferred: CollectedRows = new Map();
    connection.scope = scope;
    connection.contended = false;
    let broken: Error | undefined;
    try {
      const begun = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      // If it fails, so does the first query.
      begun.catch(() => {});
      const tx: PgTx = Object.assign(Object.create(connection.session) as PgSession, {
        breathe: yieldToEventLoop,
        afterCommit: (hook: () => void) => void scope.afterCommit.push(hook),
        defer: (insert: BulkInsert, values: unknown[]) => {
          const list = deferred.get(insert);
          if (list) list.push(values);
          else deferred.set(insert, [values]);
        },
        beforeCommit: (name: string, run: () => Promise<void>) => void beforeCommit.set(name, run),
      });
      const value = await currentScope.run(scope, async () => {
        const result = await fn(tx);
        for (const run of beforeCommit.values()) await run();
        for (const [insert, rows] of deferred) await insertDeferred(connection.session, insert, rows);
        return result;
      });
      await begun;
      scope.open = false;
      const { command } = await client.query("COMMIT");
      // Postgres answers the COMMIT of a failed transaction with a rollback, not with an error.
      if (command !== "COMMIT") throw new Error("A query of this transaction failed, so nothing was stored.");
      return { value, scope };
    } catch (error) {
      scope.open = false;
      await client.query("ROLLBACK").catch((failure: Error) => {
        broken = failure;
      });
      if (connection.contended || SERIALIZATION.has(String((error as { code?: unknown }).code))) return "conflict";
      throw error;
    } finally {
      connection.scope = null;
      client.release(broken);
    }
  };

  // Retries run one after the other: at the same time they would only conflict again.
  let retries: Promise<unknown> = Promise.resolve();
  const retry = async <T>(fn: (tx: PgTx) => Promise<T>): Promise<{ value: T; scope: Scope }> => {
    for (let tries = 2; tries <= MAX_TRIES; tries += 1) {
      const done = await tryOnce(fn);
      if (done !== "conflict") return done;
    }
    throw new StorageUnavailable("This write conflicted with too many others on the same rows.");
  };

  let refusal: string | null = null;
  const runOrdinary = async <T>(fn: (tx: PgTx) => Promise<T>): Promise<T> => {
    try {
      let done = await tryOnce(fn);
      if (done === "conflict") {
        const turn = retries.then(() => retry(fn));
        retries = turn.catch(() => {});
        done = await turn;
      }
      refusal = null;
      for (const hook of done.scope.afterCommit) runHook(hook);
      return done.value;
    } catch (error) {
      const translated = storageError(error);
      if (translated instanceof StorageUnavailable && translated.refusesWrites) refusal = translated.message;
      throw translated;
    }
  };

  /** Runs `fn` in a light transaction, and in an ordinary one if it needs that. */
  const runLight = async <T>(fn: (tx: PgTx) => Promise<T>, kind: object): Promise<T> => {
    const scope = newScope();
    const light = openLightTx(scope, schema.tables, reads, kinds.numbersOf(kind));
    let value: T;
    try {
      value = await currentScope.run(scope, async () => fn(light.tx));
    } catch (error) {
      scope.open = false;
      if (!light.failed) throw storageError(error);
    }
    scope.open = false;
    if (light.failed) {
      kinds.failed(kind);
      return runOrdinary(fn);
    }
    kinds.succeeded(kind, light.numbers);
    return new Promise<T>((resolve, reject) => {
      const commit = (): void => {
        refusal = null;
        for (const hook of scope.afterCommit) runHook(hook);
        resolve(value);
      };
      if (light.rows.size === 0) commit();
      else
        groups.add({
          rows: light.rows,
          size: light.size,
          resolve: commit,
          reject,
          // Of what failed together with others, only this is at fault, or met others: as an ordinary transaction it runs again.
          refused: () => runOrdinary(fn).then(resolve, reject),
        });
    });
  };

  const tx = async <T>(fn: (tx: PgTx) => Promise<T>, kind?: object): Promise<T> => {
    if (currentScope.getStore()?.open) throw new MisplacedQuery("A transaction was opened inside another one: use the one you were given.");
    assertOpen();
    return kind && kinds.mayBeLight(kind) ? runLight(fn, kind) : runOrdinary(fn);
  };

  const running = new Set<Promise<unknown>>();
  return {
    engine: "postgres",
    health: () => ({ writable: refusal === null, reason: refusal }),
    assertMigrated: () => assertMigrated(pool, schema.version),
    connectionBudget: () => readBudget(read, size),
    analyzeGrownTables: (schema) => analyzeGrownTables(read.raw, schema),
    listen: (events) => openListener(base, events),
    isUnavailable: (error) => error instanceof StorageUnavailable,
    groups: groups.stats,
    poolStats: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    read: read as PostgresDb["read"],
    tx: (fn, kind) => {
      const run = tx(fn, kind);
      running.add(run);
      const forget = (): void => void running.delete(run);
      run.then(forget, forget);
      return run;
    },
    ping: async () => {
      await read.raw("SELECT 1");
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await Promise.allSettled(running);
      await closePool();
    },
  };
}

/** A pool of connections to a database, which are opened as they are needed. */
export function openPool(url: string, size = CONNECTIONS): pg.Pool {
  const pool = new pg.Pool({ ...clientOptions(url), max: size, idleTimeoutMillis: 30_000 } as pg.PoolConfig);
  // The pool drops an unused connection that breaks; one in use fails its query.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

async function insertDeferred({ raw }: PgSession, insert: BulkInsert, rows: readonly unknown[][]): Promise<void> {
  try {
    await raw(insert.build(listArrays(insert)), toArrays(insert, rows), insert.name);
  } catch (error) {
    insert.failed?.();
    throw error;
  }
}

async function readBudget(read: Pick<PgSession, "raw">, size: number): Promise<ConnectionBudget> {
  const [row] = await read.raw<{ allowed: number; processes: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
       (select count(*)::int from workers where seen_at > now() - interval '1 minute') as processes`,
  );
  return { perProcess: size + 1, processes: row?.processes ?? 0, allowed: row?.allowed ?? Number.POSITIVE_INFINITY };
}

const PLANNER_SETTINGS = [
  // Rows looked up by key are in memory or on a solid-state disk. At the default, 4, Postgres reads small tables whole, and keeps such
  // plans while the tables grow.
  "random_page_cost=1.1",
  // Every statement reads few rows. To start parallel workers takes 7 ms, as long as all of a search among a million addresses, and
  // to compile a statement takes longer still.
  "max_parallel_workers_per_gather=0",
  "jit=off",
];

/** The options of every connection. Throws what `URL` throws for an invalid URL. */
function clientOptions(url: string): pg.ClientConfig & { pipeline: boolean } {
  return {
    connectionString: url,
    application_name: "mailsvc",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_MS,
    // Longer than any statement may take on the server: only a silently dead connection takes this long.
    query_timeout: STATEMENT_MS + 10_000,
    options: PLANNER_SETTINGS.map((setting) => `-c ${setting}`).join(" "),
    // Sends BEGIN together with the first query, and the last writes together with COMMIT.
    pipeline: true,
  };
}
