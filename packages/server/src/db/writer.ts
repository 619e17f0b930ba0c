import { AsyncLocalStorage } from "node:async_hooks";
import { MisplacedQuery, StorageUnavailable, storageError } from "./errors.ts";

/** What the gate needs of a connection. */
export interface WriterConnection {
  /** Whether a transaction is open: SQLite ends one by itself when the disk is full. */
  readonly active: boolean;
  begin(): void;
  commit(): void;
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** Brings commits to the disk; absent where COMMIT does so, or nobody asks for it. */
  readonly disk?: Disk | undefined;
}

/** What makes commits durable after COMMIT, while the event loop goes on. */
export interface Disk {
  /** The last flush that is under way or asked for; null when there is none. */
  readonly pending: Promise<void> | null;
  /** Settles when all that was committed before the call is durable. */
  flush(): Promise<void>;
}

/** What is written once for all transactions that commit together. */
export interface CoalescedWrite<T> {
  write(scope: Scope, items: T[]): Promise<void>;
}

/** Marks one open transaction; queries made after its end are refused by it. */
export interface Scope {
  open: boolean;
  /** True once it has changed a row. */
  wrote: boolean;
  readonly afterCommit: (() => void)[];
  /** What it leaves to be written with that of its neighbours. */
  readonly coalesced: [gathering: CoalescedWrite<unknown>, item: unknown][];
}

export function newScope(): Scope {
  return { open: true, wrote: false, afterCommit: [], coalesced: [] };
}

/** The transaction a piece of code runs in, if any. */
export const currentScope = new AsyncLocalStorage<Scope>();

interface Waiting {
  run(scope: Scope): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** True once it has its answer: its work failed without leaving a trace. */
  told: boolean;
}

interface Done {
  waiting: Waiting;
  value: unknown;
  scope: Scope;
}

export interface WriterOptions {
  /** Callers in one commit, at most. 128 sends are about 4 ms of work: more would only make everybody wait longer. */
  maxGroup?: number;
  /** Callers that may wait before further ones are refused with StorageUnavailable. */
  maxWaiting?: number;
}

// How long commits may be held back while connections pour in.
const HOLD_MS = 10;
// From so many callers on, a commit is put off while each turn of the event loop brings more: a commit and its flush take
// 0.3 ms of the processor, whomever they are for. Fewer are not kept waiting.
const SOME = 8;

const STALLED = "A transaction waited for something other than its queries (network, timer, file): do that before or after it.";

/** Runs a hook. The rows are durable by now, so a hook that throws takes back neither them nor anybody's answer. */
export function runHook(hook: () => void): void {
  try {
    hook();
  } catch (error) {
    process.emitWarning(error as Error);
  }
}

/**
 * Lets one transaction at a time onto the writer connection, and commits those that wait together: one that fails takes back
 * only its own rows, and all are answered after the one COMMIT is on the disk. A caller's work may run twice, as it may on
 * Postgres. A flush costs 0.1 to 5 ms whether it covers one row or a hundred; grouping at the end of the loop turn, without
 * any timer, gave ten times the writes per second at 100 connections, and costs a lone caller nothing.
 *
 * The disk is waited for beside the loop: the next group is read, run and committed meanwhile, and may see rows that are not
 * durable yet. Nobody is told of anything before it is: neither those who wrote a row nor those who only saw it in a
 * transaction. When a flush fails, what the disk holds is unknown, so nothing more is written until the next start.
 *
 * Inside a transaction only queries may be awaited. They settle within the same turn of the event loop, so a
 * transaction that is still open when the loop comes round again waits for something else, which would stop every other
 * writer: it is rolled back and its caller told so.
 */
export class Writer {
  readonly #connection: WriterConnection;
  readonly #maxGroup: number;
  readonly #maxWaiting: number;
  #waiting: Waiting[] = [];
  #running = false;
  #closed = false;
  #idle: (() => void)[] = [];
  /** Rejects the transaction that is open now, if it stalls. */
  #stall: ((error: Error) => void) | null = null;
  #accepted = false;
  #waitingSince = 0;
  /** How many waited at the end of the last turn. */
  #seen = 0;
  /** Callers whose rows are committed, but not on the disk yet. */
  #undurable = 0;
  #failure: StorageUnavailable | null = null;
  /** Commits so far, and transactions in them: what group commit saves. */
  readonly stats = { commits: 0, transactions: 0 };

  constructor(connection: WriterConnection, options: WriterOptions = {}) {
    this.#connection = connection;
    this.#maxGroup = options.maxGroup ?? 128;
    this.#maxWaiting = options.maxWaiting ?? 20_000;
  }

  /** Runs `fn` in a transaction. Settles after COMMIT, or after its rows were taken back. */
  run<T>(fn: (scope: Scope) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (currentScope.getStore()?.open)
        throw new MisplacedQuery("A transaction was opened inside another one: use the one you were given.");
      if (this.#closed) throw new StorageUnavailable("The database is closed.");
      this.assertHealthy();
      if (this.#waiting.length + this.#undurable >= this.#maxWaiting) throw new StorageUnavailable("Too many writes are waiting.");
      if (this.#waiting.length === 0) this.#waitingSince = performance.now();
      this.#waiting.push({ run: fn, resolve: resolve as (value: unknown) => void, reject, told: false });
      if (!this.#running) this.#schedule();
    });
  }

  /** Throws StorageUnavailable when the disk has failed. */
  assertHealthy(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Waits until nothing runs or waits, and all is durable. */
  idle(): Promise<void> {
    return this.#running || this.#undurable > 0 ? new Promise((done) => this.#idle.push(done)) : Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
  }

  /**
   * Tells that a connection was accepted. The runtime accepts one per turn of the event loop, so while they pour in the
   * turns are kept short: commits are held back, for 10 ms at most. Without this, 500 clients that connect at once wait
   * up to seconds for their first answer.
   */
  connectionAccepted(): void {
    this.#accepted = true;
  }

  #schedule(): void {
    this.#running = true;
    // The end of the loop turn: everything that arrived in this turn joins the group.
    setImmediate(() => {
      const n = this.#waiting.length;
      const growing = n > this.#seen && n >= SOME && n < this.#maxGroup;
      this.#seen = n;
      const hold = (this.#accepted || growing) && performance.now() - this.#waitingSince < HOLD_MS;
      this.#accepted = false;
      if (hold) this.#schedule();
      else void this.#commitGroup();
    });
  }

  async #commitGroup(): Promise<void> {
    const group = this.#waiting.splice(0, this.#maxGroup);
    this.#seen = this.#waiting.length;
    const watch = this.#watch();
    let done: Done[] = [];
    try {
      done = (await this.#runGroup(group, false)) ?? (await this.#runGroup(group, true)) ?? [];
      this.stats.commits += 1;
      this.stats.transactions += done.length;
    } catch (error) {
      this.#takeBack();
      for (const waiting of group) tell(waiting, error);
    }
    clearImmediate(watch.handle);
    this.#settle(done);
    this.#next();
  }

  /** Answers callers once all that they wrote or saw is on the disk. */
  #settle(done: readonly Done[]): void {
    const { disk } = this.#connection;
    const durable = disk && (changedRows(done) ? disk.flush() : disk.pending);
    if (!durable) {
      settle(done);
      return;
    }
    this.#undurable += done.length;
    const after = (answer: () => void) => (): void => {
      this.#undurable -= done.length;
      answer();
      this.#rest();
    };
    durable.then(
      after(() => settle(done)),
      (error: unknown) => after(() => this.#fail(done, error))(),
    );
  }

  #fail(done: readonly Done[], error: unknown): void {
    const code = String((error as NodeJS.ErrnoException).code ?? error);
    this.#failure ??= new StorageUnavailable(`The disk did not take what was written (${code}). Mend it, then start the server again.`);
    for (const { waiting } of done) tell(waiting, this.#failure);
    for (const waiting of this.#waiting.splice(0)) tell(waiting, this.#failure);
  }

  /**
   * Runs the callers that have no answer yet, and commits. A savepoint each costs a fifth of a small transaction, and
   * is needed only when a caller fails after it has written, which is rare. So the first round goes without: when that
   * happens all is taken back, null is returned, and the group runs once more with savepoints.
   */
  async #runGroup(group: Waiting[], savepoints: boolean): Promise<Done[] | null> {
    const done: Done[] = [];
    this.#connection.begin();
    for (const waiting of group) {
      if (waiting.told) continue;
      if (savepoints) this.#connection.savepoint();
      const scope = newScope();
      try {
        done.push({ waiting, value: await this.#runOne(waiting, scope), scope });
        if (savepoints) this.#connection.release();
      } catch (error) {
        // Nothing of the group is left; what came next would be committed by itself.
        if (!this.#connection.active) throw error;
        if (!scope.wrote) {
          tell(waiting, error);
          if (savepoints) this.#connection.release();
          continue;
        }
        if (!savepoints) {
          this.#connection.rollback();
          return null;
        }
        this.#connection.rollbackToSavepoint();
        this.#connection.release();
        tell(waiting, error);
      } finally {
        scope.open = false;
        this.#stall = null;
      }
    }
    await this.#writeGathered(done);
    if (!this.#connection.active) throw new StorageUnavailable("The database gave up the transaction.");
    this.#connection.commit();
    return done;
  }

  async #writeGathered(done: readonly Done[]): Promise<void> {
    const all = new Map<CoalescedWrite<unknown>, unknown[]>();
    for (const { scope } of done)
      for (const [gathering, item] of scope.coalesced) {
        const items = all.get(gathering);
        if (items) items.push(item);
        else all.set(gathering, [item]);
      }
    for (const [gathering, items] of all) {
      const scope = newScope();
      await this.#runOne({ run: () => gathering.write(scope, items) }, scope);
      scope.open = false;
    }
  }

  #runOne(waiting: Pick<Waiting, "run">, scope: Scope): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#stall = reject;
      // `then` is called inside the scope: a query that is returned rather than awaited runs only there.
      currentScope.run(scope, () => waiting.run(scope).then(resolve, reject));
    });
  }

  /** Looks once a turn whether the open transaction has stalled. */
  #watch(): { handle: NodeJS.Immediate } {
    const watch = { handle: setImmediate(() => look()) };
    const look = (): void => {
      watch.handle = setImmediate(look);
      this.#stall?.(new MisplacedQuery(STALLED));
    };
    return watch;
  }

  #takeBack(): void {
    try {
      this.#connection.rollback();
    } catch {
      // SQLite has rolled back by itself already (disk full, I/O error).
    }
  }

  #next(): void {
    if (this.#waiting.length > 0) {
      this.#waitingSince = performance.now();
      this.#schedule();
      return;
    }
    this.#running = false;
    this.#rest();
  }

  #rest(): void {
    if (this.#running || this.#undurable > 0) return;
    for (const done of this.#idle.splice(0)) done();
  }
}

function changedRows(done: readonly Done[]): boolean {
  return done.some(({ scope }) => scope.wrote || scope.coalesced.length > 0);
}

function tell(waiting: Waiting, error: unknown): void {
  if (waiting.told) return;
  waiting.told = true;
  waiting.reject(storageError(error));
}

function settle(done: readonly Done[]): void {
  for (const { waiting, value, scope } of done) {
    waiting.resolve(value);
    for (const hook of scope.afterCommit) runHook(hook);
  }
}
