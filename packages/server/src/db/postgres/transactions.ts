import type pg from "pg";
import { yieldToEventLoop } from "../../lib/turn.ts";
import type { DatabaseSchema, Tx } from "../db.ts";
import { errorCode, MisplacedQuery, StorageUnavailable, storageError, UniqueViolation } from "../errors.ts";
import { currentScope, newScope, runHook, type Scope } from "../scope.ts";
import type { Raw } from "./pool.ts";
import { createSession, type PgSession } from "./session.ts";
import type { TableStatements } from "./table-statements.ts";

/** A transaction on Postgres, with what only the queue needs. */
export interface PgTx extends Tx {
  readonly raw: Raw;
  /** Runs `fn` right before COMMIT, where it writes what was collected meanwhile. */
  beforeCommit(fn: () => Promise<void>): Promise<void>;
}

/** The work of a transaction, which may run more than once. */
export type Work<T> = (tx: PgTx) => Promise<T>;

// If two transactions conflict, the later one runs again, one at a time within this process.
const MAX_TRIES = 40;

const SERIALIZATION = new Set(["40001", "40P01"]);

interface Connection {
  readonly session: PgSession;
  /** The transaction that uses this connection. */
  scope: Scope | null;
  /** True when the open transaction conflicted with another one. */
  contended: boolean;
}

/** A transaction that was committed. */
interface Committed<T> {
  readonly value: T;
  readonly scope: Scope;
}

/**
 * Runs transactions, each on its own connection, at REPEATABLE READ: what a transaction has read cannot change before it
 * writes, so a feature that reads, decides and updates is as safe as behind SQLite's single writer. If two update the same row, the
 * later one fails with 40001 and runs again here, so the work of a transaction may run more than once. `afterCommit` hooks run once.
 *
 * | transaction is | trigger                            | becomes                                            |
 * | -------------- | ---------------------------------- | -------------------------------------------------- |
 * | first try      | COMMIT succeeds                    | done: the caller resolves, hooks run               |
 * | first try      | 40001 or 40P01                     | rolled back, then waiting for earlier retries      |
 * | first try      | a unique key is taken              | the same: by a row that it could not see, perhaps  |
 * | waiting        | its turn among the retries         | retry                                              |
 * | retry          | COMMIT succeeds                    | done                                               |
 * | retry          | 40001 or 40P01, up to 39 times     | retry                                              |
 * | any            | another error                      | rolled back: the caller is rejected                |
 */
export class Transactions {
  readonly #pool: pg.Pool;
  readonly #schema: DatabaseSchema;
  readonly #statements: TableStatements;
  readonly #connections = new WeakMap<pg.PoolClient, Connection>();
  /** Retries run one after the other: at the same time they would only conflict again. */
  #retries: Promise<unknown> = Promise.resolve();
  #refusal: string | null = null;
  /** Hears of each transaction that failed because the database takes no writes. */
  onRefusal: (error: StorageUnavailable) => void = () => {};

  constructor(pool: pg.Pool, schema: DatabaseSchema, statements: TableStatements) {
    this.#pool = pool;
    this.#schema = schema;
    this.#statements = statements;
  }

  /** Reason the last write failed, if the database takes none; null after one that succeeded. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Runs a transaction. Settles after COMMIT or rollback. */
  async run<T>(work: Work<T>): Promise<T> {
    try {
      let done = await this.#tryFirst(work);
      if (done === "conflict") {
        const turn = this.#retries.then(() => this.#retry(work));
        this.#retries = turn.catch(() => {});
        done = await turn;
      }
      this.committed(done.scope);
      return done.value;
    } catch (error) {
      const translated = storageError(error);
      if (translated instanceof StorageUnavailable && translated.refusesWrites) {
        this.#refusal = translated.message;
        this.onRefusal(translated);
      }
      throw translated;
    }
  }

  /** Call this when a transaction is committed, here or elsewhere: its hooks run. */
  committed(scope: Scope): void {
    this.#refusal = null;
    for (const hook of scope.afterCommit) runHook(hook);
  }

  /** The first try. A row that took a unique key may have been committed after this transaction began to read: the next try sees it. */
  async #tryFirst<T>(work: Work<T>): Promise<Committed<T> | "conflict"> {
    try {
      return await this.#tryOnce(work);
    } catch (error) {
      if (error instanceof UniqueViolation || storageError(error) instanceof UniqueViolation) return "conflict";
      throw error;
    }
  }

  async #retry<T>(work: Work<T>): Promise<Committed<T>> {
    for (let tries = 2; tries <= MAX_TRIES; tries += 1) {
      const done = await this.#tryOnce(work);
      if (done !== "conflict") return done;
    }
    throw new StorageUnavailable("This write conflicted with too many others on the same rows.");
  }

  /** Runs a transaction once. Resolves after COMMIT, with `conflict` when it conflicted with another one. */
  async #tryOnce<T>(work: Work<T>): Promise<Committed<T> | "conflict"> {
    const client = await this.#pool.connect();
    const connection = this.#findConnection(client);
    const scope = newScope();
    connection.scope = scope;
    connection.contended = false;
    let broken: Error | undefined;
    try {
      const begun = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      // If it fails, so does the first query.
      begun.catch(() => {});
      const value = await currentScope.run(scope, () => runWork(connection.session, scope, work));
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
      if (connection.contended || isConflict(error)) return "conflict";
      throw error;
    } finally {
      connection.scope = null;
      client.release(broken);
    }
  }

  #findConnection(client: pg.PoolClient): Connection {
    const known = this.#connections.get(client);
    if (known) return known;
    const connection: Connection = {
      scope: null,
      contended: false,
      session: createSession({
        connection: client,
        schema: this.#schema,
        statements: this.#statements,
        // The connection may serve another transaction by now, so the caller's transaction is compared too.
        guard: () => {
          if (!connection.scope?.open || currentScope.getStore() !== connection.scope)
            throw new MisplacedQuery("A query was made after its transaction had ended, or outside of it.");
        },
        onError: (error) => {
          if (isConflict(error)) connection.contended = true;
        },
      }),
    };
    this.#connections.set(client, connection);
    return connection;
  }
}

/** Runs the work of a transaction, and what it has put off to its end. */
async function runWork<T>(session: PgSession, scope: Scope, work: Work<T>): Promise<T> {
  const beforeCommit: (() => Promise<void>)[] = [];
  const tx = Object.assign(Object.create(session) as PgSession, {
    breathe: yieldToEventLoop,
    afterCommit: (hook: () => void) => void scope.afterCommit.push(hook),
    beforeCommit: async (fn: () => Promise<void>) => void beforeCommit.push(fn),
  }) as unknown as PgTx;
  const value = await work(tx);
  for (const fn of beforeCommit) await fn();
  return value;
}

function isConflict(error: unknown): boolean {
  return SERIALIZATION.has(errorCode(error) ?? "");
}
