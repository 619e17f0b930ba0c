import pg from "pg";
import type { DatabaseSchema, Db, Reader, Tx } from "../db.ts";
import { MisplacedQuery, StorageUnavailable, storageError } from "../errors.ts";
import { currentScope, newScope, runHook, type Scope } from "../writer.ts";
import { type Listener, type ListenerEvents, openListener } from "./listener.ts";
import { COPY_TABLE, migratePostgres } from "./migrate.ts";
import { createSession, type PgSession } from "./session.ts";

export interface PostgresOptions {
  /** Connections of this process, at most. */
  connections?: number;
  /** False to leave the tables as they are. */
  migrate?: boolean;
  /** Further tables to bring up to date, under the same lock. */
  also?: (pool: pg.Pool) => Promise<void>;
  /** True for the move from SQLite, and for nobody else: an installation is being moved into this database. */
  moving?: boolean;
}

/** What brings further tables works on. */
export type PgPool = pg.Pool;

/** A transaction on Postgres, and what only the queue may do in it. */
export interface PgTx extends Tx, Pick<PgSession, "raw"> {
  /** Runs once, as the last thing before COMMIT: for what is collected while the transaction runs. */
  beforeCommit(name: string, fn: () => Promise<void>): void;
}

export interface PostgresDb extends Db {
  readonly engine: "postgres";
  readonly read: Reader & Pick<PgSession, "raw">;
  tx<T>(fn: (tx: PgTx) => Promise<T>): Promise<T>;
  /** Opens a further connection, outside the pool. */
  listen(events: ListenerEvents): Promise<Listener>;
}

/**
 * Connections of one process. More than the database has cores to serve them only adds waiting: with 8, 16 and 32 the
 * send rate on two cores was the same within 5 %. A server of Postgres gives out 100 unless told otherwise.
 */
export const CONNECTIONS = 16;

// A lock held longer, or a statement that runs longer, belongs to a stuck neighbour: the caller is told 503 instead.
const LOCK_MS = 10_000;
const STATEMENT_MS = 30_000;
// Inside a transaction only its queries are awaited, so one that idles waits for something it should not.
const IDLE_MS = 10_000;
const CONNECT_MS = 5000;
// Two transactions that got in each other's way: the later one is run again, alone among those of this process.
const MAX_TRIES = 40;

const SERIALIZATION = new Set(["40001", "40P01"]);

interface Connection {
  readonly session: PgSession;
  /** The transaction that holds this connection. */
  scope: Scope | null;
  /** True when the open transaction got in another one's way. */
  contended: boolean;
}

/**
 * Opens a Postgres database, migrating it as needed. Throws StorageUnavailable when it cannot be reached.
 *
 * Transactions are REPEATABLE READ: what one has read cannot change under it before it writes, so a feature that reads,
 * decides and updates is as safe as behind SQLite's gate. Of two that update the same row the later one fails with 40001
 * and is run again by itself, so what runs in a transaction may run more than once; its effects outside are
 * `afterCommit` hooks, which run once.
 */
export async function openPostgres(url: string, schema: DatabaseSchema, options: PostgresOptions = {}): Promise<PostgresDb> {
  const base = clientOptions(url);
  const pool = new pg.Pool({ ...base, max: options.connections ?? CONNECTIONS, idleTimeoutMillis: 30_000 } as pg.PoolConfig);
  // A connection that breaks while nobody uses it is dropped by the pool; one in use fails its query.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));

  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new StorageUnavailable("The database is closed.");
  };

  try {
    if (options.migrate !== false) await migratePostgres(base, options.also);
    const { rows } = await pool.query<{ moving: boolean }>(`SELECT to_regclass('${COPY_TABLE}') IS NOT NULL AS moving`);
    if (rows[0]?.moving && !options.moving)
      throw new StorageUnavailable(
        "A move into this database has not ended. Run the same `mailsvc migrate` again; it goes on where it was.",
      );
  } catch (error) {
    await pool.end();
    throw storageError(error);
  }

  const read: PgSession = createSession(
    pool,
    schema,
    () => {
      assertOpen();
      if (currentScope.getStore()?.open)
        throw new MisplacedQuery("A query was made beside the open transaction: use the transaction you were given.");
    },
    () => {},
  );

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
            // The connection may serve another transaction by now: so it is asked whose code this is, too.
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

  /** One try. Settles after COMMIT; `again` when the transaction got in another one's way. */
  const once = async <T>(fn: (tx: PgTx) => Promise<T>): Promise<{ value: T; scope: Scope } | "again"> => {
    const client = await pool.connect();
    const connection = connectionOf(client);
    const scope: Scope = newScope();
    const last = new Map<string, () => Promise<void>>();
    connection.scope = scope;
    connection.contended = false;
    let broken: Error | undefined;
    try {
      const begun = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      // Its failure is that of the first query, too.
      begun.catch(() => {});
      const tx: PgTx = Object.assign(Object.create(connection.session) as PgSession, {
        afterCommit: (hook: () => void) => void scope.afterCommit.push(hook),
        beforeCommit: (name: string, run: () => Promise<void>) => void last.set(name, run),
      });
      const value = await currentScope.run(scope, async () => {
        const result = await fn(tx);
        for (const run of last.values()) await run();
        return result;
      });
      await begun;
      scope.open = false;
      const { command } = await client.query("COMMIT");
      // Postgres answers the COMMIT of a transaction in which something failed with a rollback, not with an error.
      if (command !== "COMMIT") throw new Error("A query of this transaction had failed, so nothing was stored.");
      return { value, scope };
    } catch (error) {
      scope.open = false;
      await client.query("ROLLBACK").catch((failure: Error) => {
        broken = failure;
      });
      if (connection.contended || SERIALIZATION.has(String((error as { code?: unknown }).code))) return "again";
      throw error;
    } finally {
      connection.scope = null;
      client.release(broken);
    }
  };

  // Those that were in somebody's way wait here for each other: more of them at once would only fail again.
  let lane: Promise<unknown> = Promise.resolve();
  const retry = async <T>(fn: (tx: PgTx) => Promise<T>): Promise<{ value: T; scope: Scope }> => {
    for (let tries = 2; tries <= MAX_TRIES; tries += 1) {
      const done = await once(fn);
      if (done !== "again") return done;
    }
    throw new StorageUnavailable("This write met too many others on the same rows.");
  };

  const tx = async <T>(fn: (tx: PgTx) => Promise<T>): Promise<T> => {
    if (currentScope.getStore()?.open) throw new MisplacedQuery("A transaction was opened inside another one: use the one you were given.");
    assertOpen();
    try {
      let done = await once(fn);
      if (done === "again") {
        const turn = lane.then(() => retry(fn));
        lane = turn.catch(() => {});
        done = await turn;
      }
      for (const hook of done.scope.afterCommit) runHook(hook);
      return done.value;
    } catch (error) {
      throw storageError(error);
    }
  };

  const running = new Set<Promise<unknown>>();
  return {
    engine: "postgres",
    listen: (events) => openListener(base, events),
    isUnavailable: (error) => error instanceof StorageUnavailable,
    read: read as PostgresDb["read"],
    tx: (fn) => {
      const run = tx(fn);
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
      await pool.end();
    },
  };
}

/** Options of every connection. Throws what `URL` throws on nonsense. */
function clientOptions(url: string): pg.ClientConfig & { pipeline: boolean } {
  return {
    connectionString: url,
    application_name: "mailsvc",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_MS,
    // Longer than any statement may take on the server: only a connection that is dead without saying so gets here.
    query_timeout: STATEMENT_MS + 10_000,
    // BEGIN travels with the first query, and what is left to write with COMMIT.
    pipeline: true,
  };
}
