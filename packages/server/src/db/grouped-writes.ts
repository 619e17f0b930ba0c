import { MB } from "../lib/units.ts";
import type { Db, Tx } from "./db.ts";
import { StorageUnavailable, Unstorable } from "./errors.ts";
import { GroupHold } from "./group-hold.ts";

// 128 sends are about 4 ms of work: more would only make all of them wait longer.
const MAX_GROUP = 128;
// Bytes of one group: a transaction of more takes several milliseconds.
const MAX_BYTES = MB;

/** The two stages of writes of one kind. */
interface GroupedWork<Item, Checked, Result> {
  /** Reads what only the database knows of an item, and changes nothing. Throws if it is refused. */
  readonly check: (tx: Tx, item: Item) => Promise<Checked>;
  /** Stores the items that passed. The results are in their order. */
  readonly store: (tx: Tx, checked: readonly Checked[]) => Promise<readonly Result[]>;
}

/** An item that waits for its transaction. */
interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface Group<Item, Result> {
  readonly waiting: Waiting<Item, Result>[];
  readonly since: number;
  bytes: number;
}

/**
 * Runs writes of one kind that arrive together in one transaction, which checks each of them and stores those that passed with the same
 * statements: among fifty, a row costs SQLite a third of what it costs in its own statement. A group waits as one of the writer does
 * (`group-hold.ts`): a lone write is not held back. Large writes share no transaction, so that small ones do not wait for them.
 *
 * | in the transaction             | its writes                                     |
 * | ------------------------------ | ---------------------------------------------- |
 * | the check of one throws        | that one is refused, the others go on          |
 * | a query of a check fails       | each runs again, in its own transaction        |
 * | storing throws                 | each runs again, in its own transaction        |
 * | the database cannot store them | all are refused, since it may have stored them |
 */
export class GroupedWrites<Item, Checked, Result> {
  readonly #db: Db;
  readonly #work: GroupedWork<Item, Checked, Result>;
  readonly #hold = new GroupHold({ maxSize: MAX_GROUP });
  /** The group that further writes join. */
  #open: Group<Item, Result> | null = null;

  constructor(db: Db, work: GroupedWork<Item, Checked, Result>) {
    this.#db = db;
    this.#work = work;
  }

  /** Writes an item of so many bytes. Settles once its rows are durable, or it was refused. */
  run(item: Item, bytes = 0): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#open !== null && this.#open.bytes + bytes > MAX_BYTES) this.#open = null;
      if (this.#open === null) {
        this.#open = { waiting: [], since: performance.now(), bytes: 0 };
        this.#schedule(this.#open);
      }
      this.#open.waiting.push({ item, resolve, reject });
      this.#open.bytes += bytes;
      if (this.#open.waiting.length === MAX_GROUP) this.#open = null;
    });
  }

  #schedule(group: Group<Item, Result>): void {
    // At the end of the turn of the event loop: writes that arrive in this turn join the group.
    setImmediate(() => {
      if (this.#hold.waits(group.waiting.length, performance.now() - group.since)) {
        this.#schedule(group);
        return;
      }
      this.#hold.taken(0);
      if (this.#open === group) this.#open = null;
      void this.#commit(group.waiting);
    });
  }

  async #commit(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#db.tx((tx) => this.#runTogether(tx, group));
      for (const [i, { resolve, reject }] of group.entries()) {
        const result = results[i] as PromiseSettledResult<Result>;
        if (result.status === "fulfilled") resolve(result.value);
        else reject(result.reason);
      }
    } catch (error) {
      if (group.length === 1 || error instanceof StorageUnavailable) for (const { reject } of group) reject(error);
      else await Promise.all(group.map((one) => this.#commit([one])));
    }
  }

  async #runTogether(tx: Tx, group: readonly Waiting<Item, Result>[]): Promise<PromiseSettledResult<Result>[]> {
    // Together, so that their lookups share statements. All have ended before anything is stored.
    const checked = await Promise.allSettled(group.map(({ item }) => this.#work.check(tx, item)));
    // A query that fails ends the transaction on Postgres: the others run again without this one.
    for (const one of checked) if (one.status === "rejected" && (group.length === 1 || isStorageError(one.reason))) throw one.reason;
    const passed = checked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const results = passed.length === 0 ? [] : [...(await this.#work.store(tx, passed))];
    return checked.map((one) => (one.status === "fulfilled" ? { status: "fulfilled", value: results.shift() as Result } : one));
  }
}

function isStorageError(error: unknown): boolean {
  return error instanceof Unstorable || error instanceof StorageUnavailable;
}
