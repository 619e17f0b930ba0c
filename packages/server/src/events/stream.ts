import { desc, inArray, lte } from "drizzle-orm";
import type { Db, Tx } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import type { Timer } from "../lib/clock.ts";
import type { EventStreamDeps } from "./deps.ts";
import { Followers } from "./followers.ts";
import { type Advance, findStreamEnd, lockStreams, numberRuns } from "./runs.ts";

/*
 * Each workspace has one stream of events, numbered from 1 without gaps. On SQLite a transaction numbers what it records. On Postgres
 * transactions commit in another order than they insert, and a reader that has seen number 7 must not find a 6 later: there this loop
 * numbers what is committed, a few thousand events in one transaction (decision 14). On both it then calls the readers of the streams.
 *
 *   an event is   trigger                                       becomes
 *   (new)         recordEvents on SQLite                        numbered, once its transaction commits
 *   (new)         recordEvents on Postgres                      recorded, its run in `event_arrivals`
 *   recorded      its transaction commits; a tick of this loop  numbered: the next numbers of its workspace, in the order of the keys
 *   numbered      retention, erasure of a person                (deleted); its number is not given again
 *
 * Every process runs the loop. A tick locks the streams it extends and passes those that another process has locked.
 */

/** A stream that has got longer, and its last number. */
export interface LongerStream {
  readonly workspaceId: string;
  readonly last: number;
}

/** Follows the streams: keeps the number that it has reached, and goes on from there in transactions of its own, some events at a time. */
export interface StreamReader {
  /**
   * Gets the streams that have got longer; null for all, which may have got longer unseen. Somebody waits for what follows if `hurry`.
   * Returns true when there is more.
   */
  read(streams: readonly LongerStream[] | null, hurry: boolean): Promise<boolean>;
  /** The streams that it has seen get longer, and lets wait while nobody is in a hurry. */
  readonly resting?: readonly LongerStream[];
  /** True if it has not read the stream of a workspace up to a number, and can go on. */
  isBehind?(workspaceId: string, end: number): boolean;
  /** Forgets what it keeps in memory: the database may be another one. */
  forget?(): void;
  /** Stores what it keeps in memory. */
  storeNumbers?(): Promise<void>;
}

/** Public interface of the streams. */
export interface EventStream {
  /** There are new events: on SQLite in these streams. Call it after the commit that recorded them. */
  wake(streams: readonly LongerStream[]): void;
  /** There may be something to read that was there before. */
  wakeReaders(): void;
  /** Waits until everything that was committed before the call has its number. */
  catchUp(): Promise<void>;
  /** Lets the readers go on at once. Resolves when they have, to false if they failed or the loop has stopped. */
  readOn(): Promise<boolean>;
  /**
   * Waits until what follows from everything that was committed before the call in a workspace is stored. Readers that fail are not waited
   * for.
   */
  settle(workspaceId: string): Promise<void>;
  /** Stores how far readers have got that keep it in memory: events that all of them have read may be deleted. */
  storeNumbers(): Promise<void>;
  /** The connections that follow events. */
  readonly followers: Followers;
  /** Aborted when the loop stops: connections that follow events then end. */
  readonly stopping: AbortSignal;
}

/** The loop, for the code that starts and stops it. */
export interface EventStreamWorker extends EventStream {
  start(): void;
  stop(): Promise<void>;
  /** Waits until everything is numbered and read. Returns whether there was something to do. */
  idle(): Promise<boolean>;
}

// Arrivals whose events one transaction numbers.
const BATCH = 1000;
// Between two ticks, so that under load a tick numbers many events (real time).
const REST_MS = 25;
// While another process is numbering, or the database is unavailable, look again after this long (real time).
const BUSY_MS = 50;
const RETRY_MS = 1000;
// Another process may have died after its commit and before its tick (real time).
const POLL_MS = 1000;

interface EventStreamParts {
  /** Known once the product is put together. */
  readonly deps: () => EventStreamDeps;
  readonly readers: readonly StreamReader[];
}

interface Tick {
  readonly didSomething: boolean;
  /** True when another process numbers some events. */
  readonly busy: boolean;
  readonly more: boolean;
}

/** A caller that waits until no arrival is left up to the newest one that it has seen. */
interface CatchUp {
  readonly last: number;
  readonly resolve: () => void;
}

/**
 * Numbers the events of all workspaces where their transactions do not, and calls the readers of the streams.
 *
 * | it is     | what holds                                              | left by → to                                |
 * | --------- | ------------------------------------------------------- | ------------------------------------------- |
 * | stopped   | nothing is numbered or read, connections that follow have ended | `start` → ticking                   |
 * | idle      | all that was committed before the last tick is numbered and read | `wake`, the poll → ticking         |
 * | ticking   | a tick runs; a wake-up makes it look once more          | nothing to do → idle, else → resting        |
 * | resting   | the loop waits 25 ms, 50 if another process numbers, a second after an error, not at all while readers have more | time, `drain`, `catchUp`, `stop` → ticking |
 *
 * A caller of `catchUp` waits for the arrivals that it has seen, or until numbering fails. More may arrive all the time: the loop need not
 * become idle.
 */
export class EventStreamLoop implements EventStreamWorker {
  readonly #deps: () => EventStreamDeps;
  readonly #readers: readonly StreamReader[];
  readonly followers: Followers;
  #stopping = new AbortController();
  #started = false;
  #lookAgain = false;
  #running: Promise<void> | null = null;
  #endRest = (): void => {};
  #poll: Timer | null = null;
  /** The last numbers of streams that have got longer since the last tick, by workspace. */
  #longer = new Map<string, number>();
  /** True when others may have got longer, too. */
  #anyLonger = false;
  /** Number of callers of `drain`, which want no rest between two ticks. */
  #draining = 0;
  readonly #catchingUp = new Set<CatchUp>();
  /** Callers that wait for the end of the next tick. */
  #readingOn: ((done: boolean) => void)[] = [];
  /** Ticks that had something to do. */
  #busyTicks = 0;

  constructor({ deps, readers }: EventStreamParts) {
    this.#deps = deps;
    this.#readers = readers;
    this.followers = new Followers(deps);
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#started = true;
    for (const reader of this.#readers) reader.forget?.();
    if (this.#stopping.signal.aborted) this.#stopping = new AbortController();
    this.#lookAtAll();
    if (!this.#deps().queue.workers) return;
    this.#schedulePoll();
    this.followers.startPolling();
  }

  async stop(): Promise<void> {
    this.#started = false;
    this.#stopping.abort();
    this.#poll?.cancel();
    this.followers.stopPolling();
    this.#endRest();
    await this.#running;
    this.#letGo([...this.#catchingUp]);
    for (const resolve of this.#readingOn.splice(0)) resolve(false);
  }

  async idle(): Promise<boolean> {
    if (!this.#started) return false;
    const before = this.#busyTicks;
    await this.#drain();
    return this.#busyTicks > before;
  }

  wake(streams: readonly LongerStream[]): void {
    for (const stream of streams) this.#lengthen(stream);
    this.#look();
  }

  wakeReaders(): void {
    this.#lookAtAll();
  }

  #lengthen({ workspaceId, last }: LongerStream): void {
    this.#longer.set(workspaceId, Math.max(last, this.#longer.get(workspaceId) ?? 0));
  }

  #lookAtAll(): void {
    this.#anyLonger = true;
    this.#look();
  }

  #look(): void {
    this.#lookAgain = true;
    if (this.#running || !this.#started) return;
    this.#running = this.#loop().finally(() => {
      this.#running = null;
      if (this.#lookAgain && this.#started) this.#look();
    });
  }

  async catchUp(): Promise<void> {
    const last = this.#started ? await findNewestArrival(this.#deps().db) : null;
    if (last === null || !this.#started) return;
    await new Promise<void>((resolve) => {
      this.#catchingUp.add({ last, resolve });
      this.#look();
      this.#endRest();
    });
  }

  readOn(): Promise<boolean> {
    return this.#readOn(() => this.#lookAtAll());
  }

  async #readOn(look: () => void): Promise<boolean> {
    if (!this.#started) return false;
    return new Promise((resolve) => {
      this.#readingOn.push(resolve);
      look();
      this.#endRest();
    });
  }

  async settle(workspaceId: string): Promise<void> {
    await this.catchUp();
    if (!this.#started) return;
    const end = await findStreamEnd(this.#deps().db.read, workspaceId);
    const isBehind = (): boolean => this.#readers.some((reader) => reader.isBehind?.(workspaceId, end) === true);
    while (isBehind() && (await this.#readOn(() => this.wake([{ workspaceId, last: end }]))));
  }

  async storeNumbers(): Promise<void> {
    for (const reader of this.#readers) await reader.storeNumbers?.();
  }

  async #loop(): Promise<void> {
    while (this.#lookAgain && this.#started) {
      this.#lookAgain = false;
      const rest = await this.#tickOrExplain();
      if (rest === null) continue;
      this.#lookAgain = true;
      if (this.#started) await this.#rest(rest);
    }
  }

  /** Numbers events and calls readers; gives the rest before the next tick, null if there is nothing more to do. */
  async #tickOrExplain(): Promise<number | null> {
    const [longer, all] = [this.#longer, this.#anyLonger];
    [this.#longer, this.#anyLonger] = [new Map(), false];
    const readingOn = this.#readingOn.splice(0);
    try {
      const { didSomething, busy, more } = await this.#tick(longer, all, this.#draining + readingOn.length > 0);
      for (const resolve of readingOn) resolve(true);
      if (didSomething) {
        this.#busyTicks += 1;
        return more ? 0 : REST_MS;
      }
      if (busy) return BUSY_MS;
      return this.#lookAgain ? REST_MS : null;
    } catch (error) {
      for (const [workspaceId, last] of longer) this.#lengthen({ workspaceId, last });
      this.#anyLonger = true;
      this.#deps().log.error("cannot number or read events; retrying in a second", {
        error: error instanceof StorageUnavailable ? error.message : String(error),
      });
      // Reads go on while nothing can be written: they show what has a number.
      this.#letGo([...this.#catchingUp]);
      for (const resolve of readingOn) resolve(false);
      return RETRY_MS;
    }
  }

  async #tick(longer: ReadonlyMap<string, number>, all: boolean, hurry: boolean): Promise<Tick> {
    // Their events are committed, so this tick sees them too.
    const catchingUp = [...this.#catchingUp];
    const { db } = this.#deps();
    // On SQLite there are arrivals only after a move from Postgres: the first tick numbers them.
    const { singleWriter } = db.read.sqlDialect;
    const { advances, busy, done } = singleWriter && !all ? NOTHING : await db.tx(numberArrivals);
    const ends = new Map([...longer, ...advances.map(({ workspaceId, last }) => [workspaceId, last] as const)]);
    const streams = [...ends].map(([workspaceId, last]): LongerStream => ({ workspaceId, last }));
    for (const { workspaceId } of streams) this.followers.wake(workspaceId);
    this.#letGo(catchingUp.filter(({ last }) => last <= done));
    const unread = hurry ? [...streams, ...this.#readers.flatMap(({ resting }) => resting ?? [])] : streams;
    const more = await this.#callReaders(all ? null : unread, hurry);
    if (more && all) this.#anyLonger = true;
    else if (more) for (const stream of unread) this.#lengthen(stream);
    return { didSomething: unread.length > 0 || more, busy, more };
  }

  /** Lets each reader go on. Returns true when one of them has more to read. Throws the first error once all others have gone on. */
  async #callReaders(streams: readonly LongerStream[] | null, hurry: boolean): Promise<boolean> {
    if (streams?.length === 0) return false;
    let more = false;
    const errors: unknown[] = [];
    for (const reader of this.#readers)
      try {
        if (await reader.read(streams, hurry)) more = true;
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
    return more;
  }

  #letGo(callers: readonly CatchUp[]): void {
    for (const caller of callers) {
      this.#catchingUp.delete(caller);
      caller.resolve();
    }
  }

  async #rest(ms: number): Promise<void> {
    if (ms === 0) return;
    if (this.#draining + this.#catchingUp.size + this.#readingOn.length > 0 && ms === REST_MS) return;
    await new Promise<void>((resolve) => {
      const timer = this.#deps().clock.real.after(ms, resolve);
      this.#endRest = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #schedulePoll(): void {
    this.#poll = this.#deps().clock.real.after(POLL_MS, () => {
      this.#lookAtAll();
      this.#schedulePoll();
    });
  }

  /** Lets the loop run without rests until it has nothing to do. */
  async #drain(): Promise<void> {
    this.#draining += 1;
    try {
      this.#look();
      this.#endRest();
      while (this.#running) await this.#running;
    } finally {
      this.#draining -= 1;
    }
  }
}

/** The newest arrival whose events may have no number; null without one. */
async function findNewestArrival({ read }: Db): Promise<number | null> {
  if (read.sqlDialect.singleWriter) return null;
  const [row] = await read
    .prepared("newest_arrival", (q, { eventArrivals: a }) => q.select({ id: a.id }).from(a).orderBy(desc(a.id)).limit(1))
    .execute();
  return row?.id ?? null;
}

interface Numbered {
  readonly advances: Advance[];
  /** True when another process numbers some of the events. */
  readonly busy: boolean;
  /** No arrival that the transaction sees is left up to this one. */
  readonly done: number;
}

const NOTHING: Numbered = { advances: [], busy: false, done: Number.POSITIVE_INFINITY };

/** Gives numbers to events that have none, those of `BATCH` arrivals at most. */
async function numberArrivals(tx: Tx): Promise<Numbered> {
  const arrivals = await listArrivals(tx);
  if (arrivals.length === 0) return NOTHING;
  const workspaceIds = [...new Set(arrivals.map(({ workspaceId }) => workspaceId))];
  const streams = await lockStreams(tx, workspaceIds);
  const left = arrivals.find(({ workspaceId }) => !streams.has(workspaceId));
  const done = left ? left.id - 1 : arrivals.length < BATCH ? Number.POSITIVE_INFINITY : (arrivals.at(-1)?.id ?? 0);
  if (streams.size === 0) return { advances: [], busy: true, done };
  const busy = streams.size < workspaceIds.length;
  const locked = busy ? arrivals.filter(({ workspaceId }) => streams.has(workspaceId)) : arrivals;
  const [advances] = await Promise.all([
    numberRuns(
      tx,
      locked.map(({ id: _, ...run }) => run),
      streams,
    ),
    busy
      ? deleteArrivals(
          tx,
          locked.map(({ id }) => id),
        )
      : deleteArrivalsUpTo(tx, arrivals.at(-1)?.id ?? 0),
  ]);
  return { advances, busy, done };
}

/** The oldest arrivals. */
function listArrivals(tx: Tx) {
  return tx.prepared("list_arrivals", (q, { eventArrivals: a }) => q.select().from(a).orderBy(a.id).limit(BATCH)).execute();
}

async function deleteArrivals(tx: Tx, ids: readonly number[]): Promise<void> {
  const { eventArrivals: a } = tx.t;
  await tx.delete(a).where(inArray(a.id, [...ids]));
}

/** Deletes the oldest arrivals, as this transaction sees them: those that another one commits meanwhile stay, whatever their ids. */
async function deleteArrivalsUpTo(tx: Tx, last: number): Promise<void> {
  await tx.prepared("delete_arrivals", (q, { eventArrivals: a }, arg) => q.delete(a).where(lte(a.id, arg("last")))).execute({ last });
}
