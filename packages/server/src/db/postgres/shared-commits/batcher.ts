import { StorageUnavailable } from "../../errors.ts";
import { GroupHold } from "../../group-hold.ts";
import { currentScope } from "../../scope.ts";

/** An item that waits for its batch. */
export interface Waiting {
  /** Its share of `maxSize`. */
  readonly size: number;
  reject(error: unknown): void;
}

interface BatcherOptions {
  /** Items in one batch, at most. */
  maxItems: number;
  /** The sum of their sizes, at most, unless one alone is larger. */
  maxSize: number;
  /** Batches that run at the same time, at most. */
  concurrency: number;
  /** Items that make a batch worth running at the same time as another one. */
  full: number;
}

// As long as a caller waits for a connection.
const MAX_WAIT_MS = 5000;
// Interval of the check on the items that have waited longest.
const CHECK_MS = 1000;
const MAX_WAITING = 20_000;

/**
 * Collects items while earlier batches are running, and runs them as one batch. A batch begins at the end of a turn of the event
 * loop, and later only while many items come in (`GroupHold`), so a lone caller never waits for others. Items that have waited for
 * five seconds are rejected: the database does not answer.
 *
 * | batcher is | trigger                                             | becomes                          |
 * | ---------- | --------------------------------------------------- | -------------------------------- |
 * | idle       | an item is added                                    | scheduled                        |
 * | scheduled  | end of the turn                                     | running, with all waiting items  |
 * | scheduled  | end of the turn, the group is to wait               | scheduled                        |
 * | running    | items are added                                     | running; they wait               |
 * | running    | as many wait as make a full batch, and one may run  | running, one batch more          |
 * | running    | a batch ends and items wait                         | running, with those              |
 * | running    | the last batch ends and none wait                   | idle                             |
 */
export class Batcher<Item extends Waiting> {
  readonly #run: (items: Item[]) => Promise<void>;
  readonly #options: BatcherOptions;
  readonly #hold: GroupHold;
  #waiting: { item: Item; since: number }[] = [];
  #running = 0;
  #scheduled = false;
  #watch: NodeJS.Timeout | null = null;

  /** `run` settles the items of a batch; it does not throw. */
  constructor(run: (items: Item[]) => Promise<void>, options: BatcherOptions) {
    this.#run = run;
    this.#options = options;
    this.#hold = new GroupHold({ maxSize: options.maxItems });
  }

  add(item: Item): void {
    if (this.#waiting.length >= MAX_WAITING) {
      item.reject(new StorageUnavailable("Too many writes are waiting."));
      return;
    }
    this.#waiting.push({ item, since: performance.now() });
    if (!this.#scheduled && this.#mayStart()) this.#schedule();
    // Nothing waits for long unless a batch hangs.
    this.#watch ??= this.#running > 0 ? setTimeout(() => this.#rejectOldest(), CHECK_MS).unref() : null;
  }

  #schedule(): void {
    this.#scheduled = true;
    // Outside the transaction of the first item, to which the others do not belong.
    currentScope.exit(() =>
      setImmediate(() => {
        const [first] = this.#waiting;
        const waitedMs = first ? performance.now() - first.since : 0;
        if (this.#hold.waits(this.#waiting.length, waitedMs)) this.#schedule();
        else this.#start();
      }),
    );
  }

  #mayStart(): boolean {
    const { concurrency, full } = this.#options;
    return this.#running === 0 || (this.#running < concurrency && this.#waiting.length >= full);
  }

  #start(): void {
    this.#scheduled = false;
    while (this.#waiting.length > 0 && this.#mayStart()) {
      this.#running += 1;
      void this.#run(this.#take()).finally(() => {
        this.#running -= 1;
        // Callers whose batch has ended may be about to ask again.
        if (!this.#scheduled && this.#waiting.length > 0) this.#schedule();
      });
    }
    this.#hold.taken(this.#waiting.length);
  }

  #take(): Item[] {
    const { maxItems, maxSize } = this.#options;
    let size = 0;
    let n = 0;
    for (const { item } of this.#waiting) {
      size += item.size;
      if (n > 0 && (n >= maxItems || size > maxSize)) break;
      n += 1;
    }
    return this.#waiting.splice(0, n).map(({ item }) => item);
  }

  #rejectOldest(): void {
    this.#watch = null;
    const before = performance.now() - MAX_WAIT_MS;
    const late = this.#waiting.findIndex(({ since }) => since > before);
    for (const { item } of this.#waiting.splice(0, late < 0 ? this.#waiting.length : late))
      item.reject(new StorageUnavailable("The database does not answer."));
    if (this.#waiting.length > 0) this.#watch = setTimeout(() => this.#rejectOldest(), CHECK_MS).unref();
  }
}
