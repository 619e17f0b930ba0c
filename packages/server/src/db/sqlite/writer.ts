import { yieldToEventLoop } from "../../lib/turn.ts";
import type { TxOptions } from "../db.ts";
import { errorCode, MisplacedQuery, StorageUnavailable, storageError } from "../errors.ts";
import { GroupHold } from "../group-hold.ts";
import { currentScope, newScope, runHook, type Scope } from "../scope.ts";

/** The part of a connection that the writer uses. */
export interface WriterConnection {
  /** True while a transaction is open: SQLite ends one by itself when the disk is full. */
  readonly active: boolean;
  begin(): void;
  commit(): void;
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** Flushes commits to the disk; absent where COMMIT does so, or durability is not needed. */
  readonly disk?: Disk | undefined;
  /** Resolves when the next commit may begin; null or absent when it need not wait. */
  readonly backlog?: Promise<void> | null;
}

/** Makes commits durable after COMMIT, while the event loop goes on. */
export interface Disk {
  /** The last flush that is running or requested; null when there is none. */
  readonly pending: Promise<void> | null;
  /** Resolves when everything committed before the call is durable. */
  flush(): Promise<void>;
}

/** A call of `run` that has not settled yet. */
interface Caller {
  run(scope: Scope): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** True once it was rejected: its work failed without changing a row. */
  rejected: boolean;
  /** True if its rows need not survive a power cut. */
  readonly mayBeLost: boolean;
}

/** A caller whose work has run. */
interface Finished {
  caller: Caller;
  value: unknown;
  scope: Scope;
}

export interface WriterOptions {
  /** Callers in one commit, at most. 128 sends are about 4 ms of work: more would only make all of them wait longer. */
  maxGroup?: number;
  /** Callers that may wait before further ones are refused with StorageUnavailable. */
  maxWaiting?: number;
  /** Longest time a commit may be held back for further callers, or while connections are being accepted, ms; 10 when absent. */
  holdMs?: number;
  /**
   * Called once when it is unknown what the disk holds: a flush or commit failed with an I/O error. Nothing can be written any
   * more; the process should end, so that its supervisor starts it again and SQLite recovers from what is on the disk.
   */
  onFatal?: ((error: StorageUnavailable) => void) | undefined;
}

const STALLED = "A transaction waited for something other than its queries (network, timer, file): do that before or after it.";

/**
 * Runs one transaction at a time on the writing connection and commits those that wait together: all of them are answered after
 * the one COMMIT is on the disk, and one that fails rolls back only its own rows. A caller's work may run twice, as it may on
 * Postgres. A flush costs 0.1 to 5 ms whether it covers one row or a hundred. Grouping at the end of the loop turn, without a
 * timer, gave ten times the writes per second at 100 connections and costs a lone caller nothing.
 *
 * The flush runs outside the event loop: the next group is read, run and committed meanwhile, and may see rows that are not
 * durable yet. No caller is answered before they are: neither those who wrote a row nor those who only read it in a
 * transaction. After a flush that failed, the content of the disk is unknown, so nothing more is written until the next start.
 *
 * Inside a transaction only queries and `breathe` may be awaited. Queries settle within the same turn of the event loop, so a
 * transaction that is still open in the next turn, and is not breathing, waits for something else, which would block every other
 * writer: it is rolled back and rejected.
 *
 * | group is   | trigger                                           | becomes                                          |
 * | ---------- | ------------------------------------------------- | ------------------------------------------------ |
 * | waiting    | end of the loop turn (10 ms later under pressure) | running, without savepoints                      |
 * | waiting    | the log is far too long                           | waiting, until it has been moved                 |
 * | running    | all callers have run                              | committed                                        |
 * | running    | a caller throws before it has written             | running; that caller is rejected                 |
 * | running    | a caller throws after it has written              | rolled back, then running again with savepoints  |
 * | running    | a caller stalls                                   | as if it had thrown                              |
 * | running    | COMMIT fails                                      | rolled back; all callers are rejected            |
 * | committed  | the flush that covers it ends                     | durable: callers resolve, hooks run              |
 * | committed  | the flush fails                                   | failed: all callers are rejected, `onFatal`      |
 */
export class Writer {
  readonly #connection: WriterConnection;
  readonly #maxGroup: number;
  readonly #maxWaiting: number;
  readonly #hold: GroupHold;
  #waiting: Caller[] = [];
  #running = false;
  #closed = false;
  #idle: (() => void)[] = [];
  /** The transaction that is open now. */
  #open: Scope | null = null;
  /** Rejects it, if it stalls. */
  #stall: ((error: Error) => void) | null = null;
  /** Number of pauses the open transaction is making. */
  #breathing = 0;
  #accepted = false;
  #waitingSince = 0;
  /** Callers whose rows are committed but not on the disk yet. */
  #undurable = 0;
  #failure: StorageUnavailable | null = null;
  /** Reason the last commit with changes failed; null after one that succeeded. */
  #refusal: StorageUnavailable | null = null;
  readonly #onFatal: (error: StorageUnavailable) => void;
  /** Hears of each transaction that failed because the database takes no writes. */
  onRefusal: (error: StorageUnavailable) => void = () => {};
  /** Commits so far, and the transactions in them: what group commit saves. */
  readonly stats = { commits: 0, transactions: 0 };

  constructor(connection: WriterConnection, options: WriterOptions = {}) {
    this.#connection = connection;
    this.#maxGroup = options.maxGroup ?? 128;
    this.#hold = new GroupHold({ maxSize: this.#maxGroup, maxMs: options.holdMs });
    this.#maxWaiting = options.maxWaiting ?? 20_000;
    this.#onFatal = options.onFatal ?? (() => {});
  }

  /** Runs `fn` in a transaction. Settles after its rows are durable or rolled back; rows that may be lost need no flush. */
  run<T>(fn: (scope: Scope) => Promise<T>, { mayBeLost = false }: Pick<TxOptions, "mayBeLost"> = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (currentScope.getStore()?.open)
        throw new MisplacedQuery("A transaction was opened inside another one: use the one you were given.");
      if (this.#closed) throw new StorageUnavailable("The database is closed.");
      this.assertHealthy();
      if (this.#waiting.length + this.#undurable >= this.#maxWaiting) throw new StorageUnavailable("Too many writes are waiting.");
      if (this.#waiting.length === 0) this.#waitingSince = performance.now();
      this.#waiting.push({ run: fn, resolve: resolve as (value: unknown) => void, reject, rejected: false, mayBeLost });
      if (!this.#running) this.#schedule();
    });
  }

  /**
   * Finds the transaction that the current code runs in. Throws MisplacedQuery when it runs in none, or its transaction has ended, and
   * StorageUnavailable after SQLite has rolled it back by itself, as it does when the disk is full: a query made at the same time as the
   * failed one would be committed on its own.
   */
  findScope(): Scope {
    const scope = this.#open;
    if (!scope?.open || currentScope.getStore() !== scope) throw new MisplacedQuery("A query was made after its transaction had ended.");
    if (!this.#connection.active) throw new StorageUnavailable("The database rolled back the transaction.");
    return scope;
  }

  /** Lets the event loop serve others for one turn, in the open transaction. */
  async breathe(): Promise<void> {
    this.#breathing += 1;
    await yieldToEventLoop();
    this.#breathing -= 1;
  }

  /** Reason nothing can be written at the moment; null when the last commit succeeded. */
  get refusal(): StorageUnavailable | null {
    return this.#failure ?? this.#refusal;
  }

  /** Throws StorageUnavailable when the disk has failed. */
  assertHealthy(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Waits until no caller runs or waits, and everything is durable. */
  idle(): Promise<void> {
    return this.#running || this.#undurable > 0 ? new Promise((done) => this.#idle.push(done)) : Promise.resolve();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
  }

  /**
   * Call this for each accepted connection. The runtime accepts one per turn of the event loop, so turns are kept short while
   * many arrive: commits are held back, for 10 ms at most. Without this, 500 clients that connect at once wait up to seconds
   * for their first response.
   */
  connectionAccepted(): void {
    this.#accepted = true;
  }

  #schedule(): void {
    this.#running = true;
    // At the end of the loop turn: callers that arrived in this turn join the group.
    setImmediate(() => {
      const waitedMs = performance.now() - this.#waitingSince;
      const waits = this.#hold.waits(this.#waiting.length, waitedMs, { short: this.#accepted });
      this.#accepted = false;
      const { backlog } = this.#connection;
      if (waits) this.#schedule();
      else if (backlog) void backlog.then(() => this.#commitGroup());
      else void this.#commitGroup();
    });
  }

  async #commitGroup(): Promise<void> {
    const group = this.#waiting.splice(0, this.#maxGroup);
    this.#hold.taken(this.#waiting.length);
    const watch = this.#watch();
    let done: Finished[] = [];
    try {
      done = (await this.#runGroup(group, false)) ?? (await this.#runGroup(group, true)) ?? [];
      this.stats.commits += 1;
      this.stats.transactions += done.length;
      if (hasChanges(done)) this.#refusal = null;
    } catch (error) {
      this.#rollback();
      for (const caller of group) reject(caller, error);
      this.#noteRefusal(error);
      if (errorCode(error)?.startsWith("SQLITE_IOERR")) this.#fail([], error);
    }
    clearImmediate(watch.handle);
    this.#settle(done);
    this.#next();
  }

  /** Answers callers once everything they wrote or read is on the disk. */
  #settle(done: readonly Finished[]): void {
    const { disk } = this.#connection;
    const durable = disk && (hasChanges(done.filter(({ caller }) => !caller.mayBeLost)) ? disk.flush() : disk.pending);
    if (!durable) {
      resolveAll(done);
      return;
    }
    this.#undurable += done.length;
    const after = (answer: () => void) => (): void => {
      this.#undurable -= done.length;
      answer();
      this.#settleIdle();
    };
    durable.then(
      after(() => resolveAll(done)),
      (error: unknown) => after(() => this.#fail(done, error))(),
    );
  }

  #fail(done: readonly Finished[], error: unknown): void {
    const first = this.#failure === null;
    this.#failure ??= new StorageUnavailable(
      `The disk did not store what was written (${errorCode(error) ?? String(error)}). Check the disk, then start the server again.`,
      { refusesWrites: true },
    );
    for (const { caller } of done) reject(caller, this.#failure);
    for (const caller of this.#waiting.splice(0)) reject(caller, this.#failure);
    if (first) this.#onFatal(this.#failure);
  }

  #noteRefusal(error: unknown): void {
    const translated = storageError(error);
    if (!(translated instanceof StorageUnavailable && translated.refusesWrites)) return;
    this.#refusal = translated;
    this.onRefusal(translated);
  }

  /**
   * Runs the callers that were not rejected yet, and commits. A savepoint for each costs a fifth of a small transaction and is
   * needed only when a caller fails after it has written, which is rare. So the first round does without: when that happens,
   * everything is rolled back, null is returned, and the group runs once more with savepoints.
   */
  async #runGroup(group: Caller[], savepoints: boolean): Promise<Finished[] | null> {
    const done: Finished[] = [];
    this.#connection.begin();
    for (const caller of group) {
      if (caller.rejected) continue;
      if (savepoints) this.#connection.savepoint();
      const scope = newScope();
      try {
        done.push({ caller, value: await this.#runOne(caller, scope), scope });
        if (savepoints) this.#connection.release();
      } catch (error) {
        this.#noteRefusal(error);
        // SQLite has rolled back the whole group; further callers would be committed on their own.
        if (!this.#connection.active) throw error;
        if (!scope.wrote) {
          reject(caller, error);
          if (savepoints) this.#connection.release();
          continue;
        }
        if (!savepoints) {
          this.#connection.rollback();
          return null;
        }
        this.#connection.rollbackToSavepoint();
        this.#connection.release();
        reject(caller, error);
      }
    }
    if (!this.#connection.active) throw new StorageUnavailable("The database rolled back the transaction.");
    this.#connection.commit();
    return done;
  }

  /** Runs the work of one transaction. Rejects when the work fails, or stalls. */
  async #runOne(caller: Caller, scope: Scope): Promise<unknown> {
    this.#open = scope;
    try {
      return await new Promise((resolve, reject) => {
        this.#stall = reject;
        // `then` is called inside the scope, because a query that is returned rather than awaited runs only then.
        currentScope.run(scope, () => void caller.run(scope).then(resolve, reject));
      });
    } finally {
      scope.open = false;
      this.#open = null;
      this.#stall = null;
    }
  }

  /** Checks once per turn of the event loop whether the open transaction has stalled. */
  #watch(): { handle: NodeJS.Immediate } {
    const watch = { handle: setImmediate(() => check()) };
    const check = (): void => {
      watch.handle = setImmediate(check);
      if (this.#breathing === 0) this.#stall?.(new MisplacedQuery(STALLED));
    };
    return watch;
  }

  #rollback(): void {
    try {
      this.#connection.rollback();
    } catch {
      // SQLite has rolled back by itself (disk full, I/O error).
    }
  }

  #next(): void {
    if (this.#waiting.length > 0) {
      this.#waitingSince = performance.now();
      this.#schedule();
      return;
    }
    this.#running = false;
    this.#settleIdle();
  }

  #settleIdle(): void {
    if (this.#running || this.#undurable > 0) return;
    for (const done of this.#idle.splice(0)) done();
  }
}

function hasChanges(done: readonly Finished[]): boolean {
  return done.some(({ scope }) => scope.wrote);
}

function reject(caller: Caller, error: unknown): void {
  if (caller.rejected) return;
  caller.rejected = true;
  caller.reject(storageError(error));
}

function resolveAll(done: readonly Finished[]): void {
  for (const { caller, value, scope } of done) {
    caller.resolve(value);
    for (const hook of scope.afterCommit) runHook(hook);
  }
}
