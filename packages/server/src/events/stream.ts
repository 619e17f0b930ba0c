import { desc, inArray, lte } from "drizzle-orm";
import type { Db, Tx } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import type { Timer } from "../lib/clock.ts";
import type { EventStreamDeps } from "./deps.ts";
import { Followers } from "./followers.ts";
import type { EventTables } from "./tables.ts";

/*
 * Each workspace has one stream of events, numbered from 1 without gaps. Transactions that record events do not number them: on
 * Postgres they commit in another order than they insert, and a reader that has seen number 7 must not find a 6 later. Instead this
 * loop numbers what is committed, a few thousand events in one transaction (decision 14).
 *
 *   an event is   trigger                                       becomes
 *   (new)         recordEvents                                  recorded, its key in `event_arrivals`
 *   recorded      its transaction commits; a tick of this loop  numbered: the next numbers of its workspace, in the order of the keys
 *   numbered      retention, erasure of a person                (deleted); its number is not given again
 *
 * Every process runs the loop. A tick locks the streams it extends and passes those that another process has locked.
 */

/** The numbers that a tick has given in one workspace. */
export interface Advance {
  readonly workspaceId: string;
  readonly first: number;
  readonly last: number;
}

/** Reacts to events that have got their numbers, in the transaction that gives them. */
export type StreamListener = (tx: Tx, advances: readonly Advance[]) => Promise<void>;

/** What other rooms ask of the streams. */
export interface EventStream {
  /** There are new events. Call it after the commit that recorded them. */
  wake(): void;
  /** Waits until everything that was committed before the call has its number. */
  catchUp(): Promise<void>;
  /** The connections that follow events. */
  readonly followers: Followers;
  /** Aborted when the loop stops: connections that follow events then end. */
  readonly stopping: AbortSignal;
}

/** The loop, for the code that starts and stops it. */
export interface EventStreamWorker extends EventStream {
  start(): void;
  stop(): Promise<void>;
  /** Waits until everything is numbered. Returns whether there was something to number. */
  idle(): Promise<boolean>;
}

// Arrivals whose events one transaction numbers, up to 16 events each: some ten ms of work, during which other writers wait.
const BATCH = 256;
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
  readonly listeners: readonly StreamListener[];
}

/** A caller that waits until no arrival is left up to the newest one that it has seen. */
interface CatchUp {
  readonly last: number;
  readonly resolve: () => void;
}

/**
 * Numbers the events of all workspaces.
 *
 * | it is     | what holds                                            | left by → to                                |
 * | --------- | ----------------------------------------------------- | ------------------------------------------- |
 * | stopped   | nothing is numbered, connections that follow have ended | `start` → numbering                       |
 * | idle      | all that was committed before the last tick is numbered | `wake`, the poll → numbering              |
 * | numbering | a tick runs; a wake-up makes it look once more        | nothing to number → idle, else → resting    |
 * | resting   | the loop waits 25 ms, 50 if another process numbers, a second after an error | time, `drain`, `catchUp`, `stop` → numbering |
 *
 * A caller of `catchUp` waits for the arrivals that it has seen, or until numbering fails. More may arrive all the time: the loop need not
 * become idle.
 */
export class EventStreamLoop implements EventStreamWorker {
  readonly #deps: () => EventStreamDeps;
  readonly #listeners: readonly StreamListener[];
  readonly followers: Followers;
  #stopping = new AbortController();
  #started = false;
  #lookAgain = false;
  #running: Promise<void> | null = null;
  #endRest = (): void => {};
  #poll: Timer | null = null;
  /** How many callers of `drain` want no rest between two ticks. */
  #draining = 0;
  readonly #catchingUp = new Set<CatchUp>();
  #numbered = 0;

  constructor({ deps, listeners }: EventStreamParts) {
    this.#deps = deps;
    this.#listeners = listeners;
    this.followers = new Followers(deps);
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#started = true;
    if (this.#stopping.signal.aborted) this.#stopping = new AbortController();
    this.wake();
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
  }

  async idle(): Promise<boolean> {
    if (!this.#started) return false;
    const before = this.#numbered;
    await this.#drain();
    return this.#numbered > before;
  }

  wake(): void {
    this.#lookAgain = true;
    if (this.#running || !this.#started) return;
    this.#running = this.#loop().finally(() => {
      this.#running = null;
      if (this.#lookAgain && this.#started) this.wake();
    });
  }

  async catchUp(): Promise<void> {
    const last = this.#started ? await findNewestArrival(this.#deps().db) : null;
    if (last === null || !this.#started) return;
    await new Promise<void>((resolve) => {
      this.#catchingUp.add({ last, resolve });
      this.wake();
      this.#endRest();
    });
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

  /** Numbers events; gives the rest before the next tick, null if there is nothing more to number. */
  async #tickOrExplain(): Promise<number | null> {
    try {
      const { count, busy } = await this.#tick();
      this.#numbered += count;
      if (count > 0) return REST_MS;
      if (busy) return BUSY_MS;
      return this.#lookAgain ? REST_MS : null;
    } catch (error) {
      this.#deps().log.error("cannot number events; retrying in a second", {
        error: error instanceof StorageUnavailable ? error.message : String(error),
      });
      // Reads go on while nothing can be written: they show what has a number.
      this.#letGo([...this.#catchingUp]);
      return RETRY_MS;
    }
  }

  async #tick(): Promise<{ count: number; busy: boolean }> {
    // What they have seen is committed, so this tick sees it too.
    const catchingUp = [...this.#catchingUp];
    const { advances, busy, done } = await this.#deps().db.tx(async (tx) => {
      const result = await numberEvents(tx);
      if (result.advances.length > 0) for (const listener of this.#listeners) await listener(tx, result.advances);
      return result;
    });
    for (const { workspaceId } of advances) this.followers.wake(workspaceId);
    this.#letGo(catchingUp.filter(({ last }) => last <= done));
    return { count: advances.reduce((sum, { first, last }) => sum + last - first + 1, 0), busy };
  }

  #letGo(callers: readonly CatchUp[]): void {
    for (const caller of callers) {
      this.#catchingUp.delete(caller);
      caller.resolve();
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#draining + this.#catchingUp.size > 0 && ms === REST_MS) return;
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
      this.wake();
      this.#schedulePoll();
    });
  }

  /** Lets the loop run without rests until it has nothing to do. */
  async #drain(): Promise<void> {
    this.#draining += 1;
    try {
      this.wake();
      this.#endRest();
      while (this.#running) await this.#running;
    } finally {
      this.#draining -= 1;
    }
  }
}

/** The newest arrival whose events may have no number; null without one. */
async function findNewestArrival({ read }: Db): Promise<number | null> {
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

/** Gives numbers to events that have none, those of `BATCH` arrivals at most. */
async function numberEvents(tx: Tx): Promise<Numbered> {
  const arrivals = await listArrivals(tx);
  if (arrivals.length === 0) return { advances: [], busy: false, done: Number.POSITIVE_INFINITY };
  const byWorkspace = Map.groupBy(arrivals, ({ workspaceId }) => workspaceId);
  const streams = await lockStreams(tx, [...byWorkspace.keys()]);
  const left = arrivals.find(({ workspaceId }) => !streams.has(workspaceId));
  const done = left ? left.id - 1 : arrivals.length < BATCH ? Number.POSITIVE_INFINITY : (arrivals.at(-1)?.id ?? 0);
  if (streams.size === 0) return { advances: [], busy: true, done };
  const advances: Advance[] = [];
  const numbers: EventTables["eventNumbers"]["$inferInsert"][] = [];
  for (const [workspaceId, before] of streams) {
    const keys = (byWorkspace.get(workspaceId) ?? []).flatMap(({ eventKeys }) => eventKeys).sort((one, other) => one - other);
    for (const [i, eventKey] of keys.entries()) numbers.push({ workspaceId, position: before + i + 1, eventKey });
    advances.push({ workspaceId, first: before + 1, last: before + keys.length });
  }
  const { eventStreams, eventNumbers } = tx.t;
  const busy = streams.size < byWorkspace.size;
  await Promise.all([
    // New ones, because the streams are locked.
    tx.insertAll(eventNumbers, numbers, { newKeys: true }),
    tx.updateAll(
      eventStreams,
      advances.map(({ workspaceId, last }) => ({ where: { workspaceId }, set: { last } })),
    ),
    busy
      ? deleteArrivals(
          tx,
          arrivals.filter(({ workspaceId }) => streams.has(workspaceId)).map(({ id }) => id),
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

/** Locks streams until the end of the transaction, creating those that are missing, and gives their newest numbers. */
async function lockStreams(tx: Tx, workspaceIds: readonly string[]): Promise<Map<string, number>> {
  const { eventStreams: s } = tx.t;
  const rows = await tx
    .prepared("lock_streams", (q, { eventStreams: t }, arg) =>
      tx.sqlDialect.passingLocked(
        q
          .select({ workspaceId: t.workspaceId, last: t.last })
          .from(t)
          .where(tx.sqlDialect.among(t.workspaceId, arg("ids"))),
      ),
    )
    .execute({ ids: JSON.stringify(workspaceIds) });
  const locked = new Map(rows.map(({ workspaceId, last }) => [workspaceId, last]));
  const missing = workspaceIds.filter((id) => !locked.has(id));
  if (missing.length === 0) return locked;
  const created = await tx
    .insert(s)
    .values(missing.map((workspaceId) => ({ workspaceId, last: 0 })))
    .onConflictDoNothing()
    .returning({ workspaceId: s.workspaceId });
  for (const { workspaceId } of created) locked.set(workspaceId, 0);
  return locked;
}
