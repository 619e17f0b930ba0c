import type pg from "pg";
import type { DatabaseSchema, Db, DbHealth, Reader } from "../db.ts";
import { MisplacedQuery, StorageUnavailable } from "../errors.ts";
import type { CheckBefore } from "../migrations.ts";
import { currentScope } from "../scope.ts";
import { type Listener, type ListenerEvents, openListener } from "./listener.ts";
import { assertMigrated, COPY_TABLE, migratePostgres } from "./migrate.ts";
import { CONNECTIONS, clientOptions, openingError, openPool, type Raw } from "./pool.ts";
import { createSession } from "./session.ts";
import { TableStatements } from "./table-statements.ts";
import { type PgTx, Transactions, type Work } from "./transactions.ts";

export interface PostgresOptions {
  /** Connections in the pool of this process, at most. */
  connections?: number | undefined;
  /** A pool for this database that stays open when it is closed; by default it has one of its own. */
  pool?: pg.Pool | undefined;
  /** False to leave the tables as they are. */
  migrate?: boolean;
  checkBefore?: CheckBefore | undefined;
  /** True only for the copy from SQLite: it writes into a database on which servers do not start yet. */
  copying?: boolean;
}

export interface PostgresDb extends Db {
  readonly engine: "postgres";
  readonly read: Reader & { readonly raw: Raw };
  tx<T>(fn: (tx: PgTx) => Promise<T>): Promise<T>;
  /** Limit and number of open connections of all processes together; the pool of this process is counted whole. */
  connectionBudget(): Promise<ConnectionBudget>;
  /** The settings of the database server that are off although a power cut may then lose or damage what was committed. */
  listUnsafeSettings(): Promise<string[]>;
  /** Throws StorageUnavailable unless the database has exactly the tables of this version. */
  assertMigrated(): Promise<void>;
  /** Collects statistics of tables that have grown. */
  analyzeGrownTables(): Promise<void>;
  /** Opens a further connection, outside the pool. */
  listen(events: ListenerEvents): Promise<Listener>;
  /** Connections of the pool: open, idle, and callers waiting for one. */
  poolStats(): { open: number; idle: number; waiting: number };
}

/** Use of the database server's connections. */
interface ConnectionBudget {
  /** Connections one process of this installation uses: its pool and the one of its heartbeat. */
  readonly perProcess: number;
  /** Processes of this installation that have registered themselves and are alive. */
  readonly processes: number;
  /** Connections that the database server allows ordinary users. */
  readonly allowed: number;
}

/** Opens a Postgres database, migrating it as needed. Throws StorageUnavailable when it cannot be reached. */
export async function openPostgres(url: string, schema: DatabaseSchema, options: PostgresOptions = {}): Promise<PostgresDb> {
  const pool = options.pool ?? openPool(url, options.connections);
  const closePool = async (): Promise<void> => {
    if (pool !== options.pool) await pool.end();
  };
  try {
    await prepareTables(pool, url, schema.version, options);
  } catch (error) {
    await closePool();
    throw openingError(error, url);
  }
  return new PostgresDatabase({ url, schema, pool, closePool, size: options.connections ?? CONNECTIONS });
}

async function prepareTables(
  pool: pg.Pool,
  url: string,
  version: string,
  { migrate, copying, checkBefore }: PostgresOptions,
): Promise<void> {
  if (migrate !== false) await migratePostgres(clientOptions(url), { version, checkBefore });
  const { rows } = await pool.query<{ copying: boolean }>(`SELECT to_regclass('${COPY_TABLE}') IS NOT NULL AS copying`);
  if (rows[0]?.copying && !copying)
    throw new StorageUnavailable(
      "A move into this database has not ended. Run the same `mailsvc migrate` again; it continues where it stopped.",
    );
}

interface PostgresParts {
  readonly url: string;
  readonly schema: DatabaseSchema;
  readonly pool: pg.Pool;
  readonly closePool: () => Promise<void>;
  /** Connections in the pool, at most. */
  readonly size: number;
}

class PostgresDatabase implements PostgresDb {
  readonly engine = "postgres";
  readonly read: PostgresDb["read"];
  readonly #parts: PostgresParts;
  readonly #transactions: Transactions;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  // `tx`, `isUnavailable` and `close` are passed on alone, so they are bound.
  readonly tx: PostgresDb["tx"] = (fn) => {
    const run = this.#run(fn);
    this.#running.add(run);
    const forget = (): void => void this.#running.delete(run);
    run.then(forget, forget);
    return run;
  };
  readonly isUnavailable: Db["isUnavailable"] = (error) => error instanceof StorageUnavailable;
  readonly isAway: Db["isAway"] = (error) => error instanceof StorageUnavailable && error.isAway;
  readonly close: Db["close"] = async () => {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled(this.#running);
    await this.#parts.closePool();
  };

  constructor(parts: PostgresParts) {
    this.#parts = parts;
    const { pool, schema } = parts;
    const statements = new TableStatements();
    this.#transactions = new Transactions(pool, schema, statements);
    this.read = this.#openReader(statements);
  }

  health(): DbHealth {
    const { refusal } = this.#transactions;
    return { writable: refusal === null, reason: refusal };
  }

  watchRefusals(hear: (error: StorageUnavailable) => void): void {
    this.#transactions.onRefusal = hear;
  }

  async ping(): Promise<void> {
    await this.read.raw("SELECT 1");
  }

  async connectionBudget(): Promise<ConnectionBudget> {
    const [row] = await this.read.raw<{ allowed: number; processes: number }>(
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
         (select count(*)::int from workers where seen_at > now() - interval '1 minute') as processes`,
    );
    return { perProcess: this.#parts.size + 1, processes: row?.processes ?? 0, allowed: row?.allowed ?? Number.POSITIVE_INFINITY };
  }

  async listUnsafeSettings(): Promise<string[]> {
    const rows = await this.read.raw<{ name: string }>(
      "select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name",
    );
    return rows.map(({ name }) => name);
  }

  assertMigrated(): Promise<void> {
    return assertMigrated(this.#parts.pool, this.#parts.schema.version);
  }

  analyzeGrownTables(): Promise<void> {
    return analyzeGrownTables(this.read.raw);
  }

  listen(events: ListenerEvents): Promise<Listener> {
    return openListener(clientOptions(this.#parts.url), events);
  }

  poolStats(): { open: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#parts.pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  async #run<T>(work: Work<T>): Promise<T> {
    if (currentScope.getStore()?.open) throw new MisplacedQuery("A transaction was opened inside another one: use the one you were given.");
    this.#assertOpen();
    return this.#transactions.run(work);
  }

  #openReader(statements: TableStatements): PostgresDb["read"] {
    const { pool, schema } = this.#parts;
    return createSession({ connection: pool, schema, statements, guard: () => this.#assertReadable() });
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageUnavailable("The database is closed.");
  }

  #assertReadable(): void {
    this.#assertOpen();
    if (currentScope.getStore()?.open)
      throw new MisplacedQuery("A query was made outside the open transaction: use the transaction you were given.");
  }
}

type Query = <R extends Record<string, unknown>>(text: string, values?: unknown[]) => Promise<R[]>;

// A table with fewer changed rows is read in no time, whatever the plan.
const MIN_CHANGES = 500;
// A table that has changed this many times over is another table.
const GROWTH = 2;
// Autovacuum is soon enough for larger ones: their plans use the indexes, and looking at them would take a while.
const MAX_ROWS = 50_000;
// A tenth of the usual sample: 3,000 rows tell a small table well enough. With the usual one, the statistics of a table of events took
// 84 ms of the processor each time.
const SAMPLE = "set local default_statistics_target = 10";

/**
 * Collects statistics of tables that have grown and have none, or none of their present size. Autovacuum does so once a minute at
 * best. Until then Postgres plans as if a workspace held a two-hundredth of each table, and keeps plans it made when tables were
 * nearly empty, which read all of a table: in a database a minute old, an update of ten emails took 2.2 ms instead of 0.1, and
 * each mail sent by SMTP cost Postgres 630 µs instead of 300.
 */
export async function analyzeGrownTables(query: Query): Promise<void> {
  const tables = await query<{ name: string }>(
    `select format('%I.%I', s.schemaname, s.relname) as name from pg_stat_user_tables s join pg_class c on c.oid = s.relid
     where s.n_mod_since_analyze >= greatest($1, ${GROWTH} * c.reltuples) and c.reltuples < ${MAX_ROWS}
       and s.schemaname = current_schema()`,
    [MIN_CHANGES],
  );
  // Skips a table that another process or autovacuum is working on.
  for (const { name } of tables) await query(`${SAMPLE}; analyze (skip_locked) ${name}`);
}
