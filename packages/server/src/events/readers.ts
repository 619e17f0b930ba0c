import type { EventType } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, inArray, isNull, lt, lte, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Arg, Db, Reader, Schema, Tx } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { findRows } from "../db/find.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { MINUTE } from "../lib/units.ts";
import { byPosition, inRun, isAfter, positionIn, positionOf } from "./runs.ts";
import type { EventRow } from "./show.ts";
import type { EventStream, LongerStream, StreamReader } from "./stream.ts";

/*
 * Readers store the effects of events: each keeps the number of the last event of a workspace that it has read, and goes on from
 * there, in transactions of its own. The effects of some events and the new number are written together, so a crash repeats nothing.
 *
 *   a reader of a workspace is   trigger                                        becomes
 *   at the end                   an event gets its number                       behind; resting, for a reader that rests
 *   resting                      its rest is over, or somebody waits for it     behind
 *   behind                       nothing follows from the next events           at the end; the number is kept in memory, and stored now and then
 *   behind                       the effects of the next events are stored      at the end, or behind if there are more
 *   behind                       an error                                       failing; the other readers and workspaces go on
 *   failing                      its delay is over: 1 s, doubled up to 1 minute behind
 */

/** An event as readers see it. */
export interface ReadEvent extends EventRow {
  readonly type: EventType;
  /** Its number in the stream of its workspace. */
  readonly position: number;
}

/** Follows the events of workspaces, each once and in the order of their numbers. */
export interface EventReader {
  /** The name under which its numbers are stored. */
  readonly name: string;
  /** The types of events that something may follow from. */
  readonly types: readonly EventType[];
  /** The time (real, ms) that it lets events wait for more of them, so that it writes seldom; none unless given. */
  readonly restMs?: number;
  /**
   * Finds what follows from some events of a workspace, and returns how to write it; null if nothing does. Asked before a transaction is
   * begun for the events, and in it again.
   */
  plan(q: Reader | Tx, workspaceId: string, events: readonly ReadEvent[]): Promise<Effect | null>;
}

/** Writes what follows from events. A transaction that collides with another one runs again. */
type Effect = (tx: Tx) => Promise<void>;

/** A reader that cannot go on. */
export interface FailingReader {
  readonly reader: string;
  readonly workspaceId: string;
  /** The time of its first failure, ms. */
  readonly since: number;
  readonly error: string;
}

/** Dependencies of readers. */
interface ReaderDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly log: Log;
  readonly eventStream: Pick<EventStream, "wake" | "wakeReaders">;
}

// Events that one transaction reads.
const BATCH = 500;
// Events of readers that rest: these add up what many events come to, and each transaction has its price.
const LONG_BATCH = 4 * BATCH;
// A number in memory is stored once it is this much ahead: so many events are looked at again after a crash.
const AHEAD = 1000;
const FIRST_DELAY_MS = 1000;

/** The progress of a reader in a workspace. */
interface Place {
  readonly reader: EventReader;
  readonly workspaceId: string;
  /** The number of the last event that it has read, or from which nothing followed. */
  reached: number;
  /** The last number that is stored. */
  stored: number;
  failure: (FailingReader & { readonly delay: number; readonly timer: Timer }) | null;
  /** True until the delay after a failure is over. */
  waits: boolean;
  /** The rest that began with the first event behind `reached`; null without one. */
  rest: Rest | null;
}

interface Rest {
  readonly timer: Timer;
  /** The number of the last event that is known. */
  last: number;
  over: boolean;
}

/** The numbers between which events are read: above `after`, up to `last`. */
interface Stretch {
  readonly after: number;
  readonly last: number;
}

/** Lets all readers follow the streams. */
export class EventReaders implements StreamReader {
  readonly #deps: () => ReaderDeps;
  readonly #readers: readonly EventReader[];
  /** The types that any of them reads. */
  readonly #any: Pick<EventReader, "name" | "types">;
  /** By workspace, in the order of the readers. */
  readonly #places = new Map<string, readonly Place[]>();

  constructor(deps: () => ReaderDeps, readers: readonly EventReader[]) {
    this.#deps = deps;
    this.#readers = readers;
    this.#any = { name: "any", types: [...new Set(readers.flatMap(({ types }) => types))] };
  }

  /** The readers that cannot go on. */
  get failing(): readonly FailingReader[] {
    return this.#all().flatMap(({ failure }) => failure ?? []);
  }

  /** The number of events that are still to be read, by reader. `ends` are the last numbers of the streams. */
  countUnread(ends: ReadonlyMap<string, number>): Map<string, number> {
    const unread = new Map(this.#readers.map(({ name }) => [name, 0]));
    for (const { reader, workspaceId, reached } of this.#all())
      unread.set(reader.name, (unread.get(reader.name) ?? 0) + Math.max(0, (ends.get(workspaceId) ?? 0) - reached));
    return unread;
  }

  /** The number of workspaces in which readers cannot go on, by reader. */
  countFailing(): Map<string, number> {
    const failing = new Map(this.#readers.map(({ name }) => [name, 0]));
    for (const { reader } of this.failing) failing.set(reader, (failing.get(reader) ?? 0) + 1);
    return failing;
  }

  get resting(): readonly LongerStream[] {
    return this.#all().flatMap(({ workspaceId, rest }) => (rest === null ? [] : { workspaceId, last: rest.last }));
  }

  forget(): void {
    for (const place of this.#all()) {
      place.failure?.timer.cancel();
      endRest(place);
    }
    this.#places.clear();
  }

  isBehind(workspaceId: string, end: number): boolean {
    const places = this.#places.get(workspaceId);
    return places === undefined ? end > 0 : places.some(({ reached, waits }) => reached < end && !waits);
  }

  async read(longer: readonly LongerStream[] | null, hurry: boolean): Promise<boolean> {
    const streams = longer ?? (await listStreams(this.#deps().db.read));
    await this.#loadPlaces(streams.map(({ workspaceId }) => workspaceId));
    let more = false;
    for (const { workspaceId, last } of streams)
      if (this.isBehind(workspaceId, last) && (await this.#readWorkspace(workspaceId, last, hurry))) more = true;
    return more;
  }

  async storeNumbers(): Promise<void> {
    const { db } = this.#deps();
    const streams = new Set((await listStreams(db.read)).map(({ workspaceId }) => workspaceId));
    // Workspaces that were deleted since.
    for (const [workspaceId, places] of this.#places) {
      if (streams.has(workspaceId)) continue;
      for (const place of places) endRest(place);
      this.#places.delete(workspaceId);
    }
    const ahead = this.#all().filter(({ reached, stored }) => stored < reached);
    if (ahead.length > 0) await db.tx((tx) => this.#storeAll(tx, ahead));
  }

  #all(): Place[] {
    return [...this.#places.values()].flat();
  }

  /** Loads the numbers of workspaces that this process does not know yet. */
  async #loadPlaces(workspaceIds: readonly string[]): Promise<void> {
    const { read } = this.#deps().db;
    const unknown = workspaceIds.filter((id) => !this.#places.has(id));
    if (unknown.length === 0) return;
    const { eventReaders: t } = read.t;
    const rows: EventReaderRow[] = [];
    for (const chunk of splitIntoChunks(unknown)) rows.push(...(await read.select().from(t).where(inArray(t.workspaceId, chunk))));
    for (const workspaceId of unknown)
      this.#places.set(
        workspaceId,
        this.#readers.map((reader): Place => {
          const row = rows.find((one) => one.workspaceId === workspaceId && one.reader === reader.name);
          const stored = row?.position ?? 0;
          return { reader, workspaceId, reached: stored, stored, failure: null, waits: false, rest: null };
        }),
      );
  }

  /** Lets the readers of a workspace go on by some events. Returns true if there are more. */
  async #readWorkspace(workspaceId: string, end: number, hurry: boolean): Promise<boolean> {
    const { read } = this.#deps().db;
    const behind = (this.#places.get(workspaceId) ?? []).filter(({ reached, waits }) => reached < end && !waits);
    const going = behind.filter((place) => hurry || !this.#rests(place, end));
    let more = false;
    for (const [after, group] of Map.groupBy(going, ({ reached }) => reached)) {
      const most = group.every(({ reader }) => reader.restMs !== undefined) ? LONG_BATCH : BATCH;
      const events = await listLog(read, workspaceId, { after, last: end }, this.#any, most);
      const last = events.length < most ? end : (events.at(-1)?.position ?? end);
      for (const place of group) await this.#readOrExplain(place, { after, last }, events);
      if (last < end) more = true;
    }
    return more;
  }

  /** True while a reader lets events up to `end` wait for more. */
  #rests(place: Place, end: number): boolean {
    const { restMs } = place.reader;
    if (restMs === undefined) return false;
    if (place.rest !== null) {
      place.rest.last = Math.max(place.rest.last, end);
      return !place.rest.over;
    }
    const { clock, eventStream } = this.#deps();
    const { workspaceId } = place;
    const rest: Rest = {
      last: end,
      over: false,
      timer: clock.real.after(restMs, () => {
        rest.over = true;
        eventStream.wake([{ workspaceId, last: rest.last }]);
      }),
    };
    place.rest = rest;
    return true;
  }

  async #readOrExplain(place: Place, stretch: Stretch, events: readonly ReadEvent[]): Promise<void> {
    try {
      await this.#readOn(place, stretch, events);
      place.failure = null;
      if (place.rest !== null && place.reached >= place.rest.last) endRest(place);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      this.#fail(place, error);
    }
  }

  async #readOn(place: Place, { after, last }: Stretch, events: readonly ReadEvent[]): Promise<void> {
    const { db } = this.#deps();
    const { reader, workspaceId } = place;
    const own = events.filter(({ type }) => reader.types.includes(type));
    if (own.length > 0 && (await reader.plan(db.read, workspaceId, own)) !== null) {
      await db.tx((tx) => this.#follow(tx, place, { after, last }, own));
      place.stored = last;
    } else if (last - place.stored >= AHEAD) {
      await db.tx((tx) => this.#storeAll(tx, [{ ...place, reached: last }]));
      place.stored = last;
    }
    place.reached = last;
  }

  async #follow(tx: Tx, { reader, workspaceId }: Place, { after, last }: Stretch, loaded: readonly ReadEvent[]): Promise<void> {
    const [stored = 0] = await lockNumbers(tx, [{ reader: reader.name, workspaceId }]);
    // Another process may have read on meanwhile.
    const from = Math.max(stored, after);
    if (from >= last) return;
    const events = await listExisting(
      tx,
      workspaceId,
      { after: from, last },
      reader,
      loaded.filter(({ position }) => position > from),
    );
    const effect = events.length > 0 ? await reader.plan(tx, workspaceId, events) : null;
    await effect?.(tx);
    await storeNumbers(tx, [{ reader: reader.name, workspaceId, position: last }]);
  }

  async #storeAll(tx: Tx, places: readonly Place[]): Promise<void> {
    const rows = places.map(({ reader, workspaceId, reached }) => ({ reader: reader.name, workspaceId, position: reached }));
    const stored = await lockNumbers(tx, rows);
    await storeNumbers(
      tx,
      rows.filter(({ position }, i) => position > (stored[i] ?? 0)),
    );
  }

  #fail(place: Place, cause: unknown): void {
    const { clock, log, eventStream } = this.#deps();
    const { reader, workspaceId, failure: before } = place;
    const delay = Math.min(before === null ? FIRST_DELAY_MS : before.delay * 2, MINUTE);
    const error = cause instanceof Error ? cause.message : String(cause);
    const timer = clock.after(delay, "events.reader", () => {
      place.waits = false;
      eventStream.wakeReaders();
    });
    place.failure = { reader: reader.name, workspaceId, since: before?.since ?? clock.now(), error, delay, timer };
    place.waits = true;
    endRest(place);
    log.error("a reader of events fails, and is tried again", { reader: reader.name, workspaceId, error, delayMs: delay });
  }
}

function endRest(place: Place): void {
  place.rest?.timer.cancel();
  place.rest = null;
}

type EventReaderRow = Tx["t"]["eventReaders"]["$inferSelect"];

function listStreams(read: Reader): Promise<LongerStream[]> {
  const { eventStreams: s } = read.t;
  return Promise.resolve(read.select().from(s));
}

/** Events of a workspace by number, of the types of a reader; `most` at most. */
export async function listLog(
  q: Reader | Tx,
  workspaceId: string,
  { after, last }: Stretch,
  { name, types }: Pick<EventReader, "name" | "types">,
  most = BATCH,
): Promise<ReadEvent[]> {
  const rows = await q
    .prepared(`list_log_of_${name}`, (query, t, arg) =>
      query
        .select({ ...getTableColumns(t.events), position: positionIn(t) })
        .from(t.eventRuns)
        .innerJoin(t.events, inRun(t))
        .where(inStretch(t, arg, types))
        .orderBy(...byPosition(t))
        .limit(arg("most")),
    )
    .execute({ workspaceId, after, last, most });
  return rows as ReadEvent[];
}

/**
 * The events of a stretch, which were loaded before the transaction, without those that were deleted since: a person may have been erased.
 * Counting tells: events are never changed, and no number is given twice. Reading them again costs six times as much.
 */
async function listExisting(
  tx: Tx,
  workspaceId: string,
  stretch: Stretch,
  { name, types }: EventReader,
  loaded: readonly ReadEvent[],
): Promise<readonly ReadEvent[]> {
  const [row] = await tx
    .prepared(`count_log_of_${name}`, (query, t, arg) =>
      query
        .select({ n: sql<number>`count(*)`.mapWith(Number) })
        .from(t.eventRuns)
        .innerJoin(t.events, inRun(t))
        .where(inStretch(t, arg, types)),
    )
    .execute({ workspaceId, ...stretch });
  return row?.n === loaded.length ? loaded : listLog(tx, workspaceId, stretch, { name, types }, LONG_BATCH);
}

/** The condition that an event that is joined with its run is one of a stretch of a workspace, and of these types. */
function inStretch(t: Schema, arg: Arg, types: readonly EventType[]): SQL | undefined {
  return and(
    isAfter(t, arg("workspaceId"), arg("after")),
    lte(t.eventRuns.position, arg("last")),
    lte(positionIn(t), arg("last")),
    inArray(t.events.type, [...types]),
  );
}

type ReaderKey = Pick<EventReaderRow, "reader" | "workspaceId">;

/** The stored numbers of readers, whose rows are made where there are none: of two transactions that change one, the later runs again. */
async function lockNumbers(tx: Tx, keys: readonly ReaderKey[]): Promise<number[]> {
  const { eventReaders: t } = tx.t;
  const found = await tx.lookUp(
    t,
    keys.map(({ reader, workspaceId }) => ({ reader, workspaceId })),
  );
  const unknown = keys.filter((_, i) => (found[i] ?? []).length === 0);
  const streams = await findRows(tx, tx.t.eventStreams, { workspaceId: unknown.map(({ workspaceId }) => workspaceId) });
  // None for a workspace that was deleted meanwhile.
  const missing = unknown.filter((key) => streams.some(({ workspaceId }) => workspaceId === key.workspaceId));
  await tx.insertAll(
    t,
    missing.map(({ reader, workspaceId }) => ({ reader, workspaceId, position: 0 })),
  );
  return found.map((rows) => rows[0]?.position ?? 0);
}

async function storeNumbers(tx: Tx, rows: readonly EventReaderRow[]): Promise<void> {
  await tx.updateAll(
    tx.t.eventReaders,
    rows.map(({ reader, workspaceId, position }) => ({ where: { reader, workspaceId }, set: { position } })),
  );
}

/**
 * Returns the number up to which a reader has stored the effects of a workspace's events. A transaction of the reader at the same time
 * collides with this one, and the later one runs again.
 */
export async function holdReader(tx: Tx, reader: string, workspaceId: string): Promise<number> {
  const [position = 0] = await lockNumbers(tx, [{ reader, workspaceId }]);
  if (!tx.sqlDialect.singleWriter) await storeNumbers(tx, [{ reader, workspaceId, position }]);
  return position;
}

/** Returns the number up to which a reader has stored the effects of a workspace's events; 0 before it began. */
export async function findReaderPosition(read: Reader, reader: string, workspaceId: string): Promise<number> {
  const { eventReaders: t } = read.t;
  const [row] = await read
    .select({ position: t.position })
    .from(t)
    .where(and(eq(t.reader, reader), eq(t.workspaceId, workspaceId)));
  return row?.position ?? 0;
}

/** The condition that all readers have read an event: only then it may be deleted. Their numbers are stored before. */
export function isReadByReaders(q: Tx): SQL {
  const { events: e, eventReaders: r } = q.t;
  const unread = q
    .select({ reader: r.reader })
    .from(r)
    .where(and(eq(r.workspaceId, e.workspaceId), or(isNull(positionOf(q.t)), lt(r.position, sql`${positionOf(q.t)}`))));
  return notExists(unread);
}
