import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Reader, Schema, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { splitIntoChunks } from "../lib/parts.ts";

/*
 * The numbers of events. Events of one workspace whose keys follow one another also have numbers that follow one another: they are a
 * run, one row. So the number of an event is that of the first one of its run, and what their keys differ by.
 */

// Stretches of keys that a statement looks up: SQLite's expressions are at most a thousand levels deep.
const STRETCHES = 200;

/** Events of one workspace whose keys follow one another, without numbers. */
interface Run {
  readonly workspaceId: string;
  /** The key of its first event. */
  readonly key: number;
  readonly length: number;
}

/** The numbers that were given in one workspace. */
export interface Advance {
  readonly workspaceId: string;
  readonly first: number;
  readonly last: number;
}

/** The runs that rows with these keys are. Rows of other workspaces may lie between those of one. */
export function toRuns(rows: readonly { readonly workspaceId: string }[], keys: readonly number[]): Run[] {
  return joinRuns(rows.map(({ workspaceId }, i) => ({ workspaceId, key: keys[i] as number, length: 1 })));
}

/** Joins neighbours that follow one another. */
function joinRuns(runs: readonly Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const before = joined.at(-1);
    if (before && before.workspaceId === run.workspaceId && before.key + before.length === run.key)
      joined[joined.length - 1] = { ...before, length: before.length + run.length };
    else joined.push(run);
  }
  return joined;
}

/** Locks the streams of workspaces, and creates missing ones. Gives their last numbers, without streams that another process has locked. */
export async function lockStreams(tx: Tx, workspaceIds: readonly string[]): Promise<Map<string, number>> {
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

/** Gives runs the next numbers of their streams, in the order of their keys. `streams` are the last numbers of those that are locked. */
export async function numberRuns(tx: Tx, runs: readonly Run[], streams: ReadonlyMap<string, number>): Promise<Advance[]> {
  const { advances, numbered } = number(runs, streams);
  const { eventStreams } = tx.t;
  await Promise.all([
    storeRuns(tx, numbered),
    tx.updateAll(
      eventStreams,
      advances.map(({ workspaceId, last }) => ({ where: { workspaceId }, set: { last } })),
    ),
  ]);
  return advances;
}

// Streams that one statement extends. There is a prepared one for each number of them up to this.
const STREAMS = 16;

/** Does the same where transactions commit in their order: the streams need not be locked before. */
export async function numberAtOnce(tx: Tx, runs: readonly Run[]): Promise<Advance[]> {
  const lengths = new Map<string, number>();
  for (const { workspaceId, length } of runs) lengths.set(workspaceId, (lengths.get(workspaceId) ?? 0) + length);
  const streams = new Map<string, number>();
  for (const some of splitIntoChunks([...lengths], STREAMS))
    for (const { workspaceId, last } of await extendStreams(tx, some)) streams.set(workspaceId, last - (lengths.get(workspaceId) ?? 0));
  const { advances, numbered } = number(runs, streams);
  await storeRuns(tx, numbered);
  return advances;
}

/** Extends streams by numbers, and creates missing ones. Gives their last numbers. */
function extendStreams(tx: Tx, lengths: readonly (readonly [string, number])[]): Promise<{ workspaceId: string; last: number }[]> {
  return tx
    .prepared(`extend_${lengths.length}_streams`, (q, { eventStreams: t }, arg) =>
      q
        .insert(t)
        .values(lengths.map((_, i) => ({ workspaceId: arg(`workspace${i}`), last: arg(`length${i}`) })))
        .onConflictDoUpdate({ target: t.workspaceId, set: { last: sql`${t.last} + excluded.last` } })
        .returning({ workspaceId: t.workspaceId, last: t.last }),
    )
    .execute(
      Object.fromEntries(
        lengths.flatMap(([id, length], i) => [
          [`workspace${i}`, id],
          [`length${i}`, length],
        ]),
      ),
    );
}

interface NumberedRun extends Run {
  /** The number of its first event. */
  readonly position: number;
}

function number(runs: readonly Run[], streams: ReadonlyMap<string, number>): { advances: Advance[]; numbered: NumberedRun[] } {
  const ofWorkspace = Map.groupBy(runs, ({ workspaceId }) => workspaceId);
  const advances: Advance[] = [];
  const numbered: NumberedRun[] = [];
  for (const [workspaceId, before] of streams) {
    let last = before;
    for (const run of joinRuns((ofWorkspace.get(workspaceId) ?? []).sort((one, other) => one.key - other.key))) {
      numbered.push({ ...run, position: last + 1 });
      last += run.length;
    }
    advances.push({ workspaceId, first: before + 1, last });
  }
  return { advances, numbered };
}

/** Stores runs, which are new ones. */
function storeRuns(tx: Tx, numbered: readonly NumberedRun[]): Promise<void> {
  return tx.insertAll(tx.t.eventRuns, numbered, { newKeys: true });
}

/** Shortens runs by deleted events at their ends, and deletes those with no event left. */
export async function shortenRuns(tx: Tx, deleted: readonly number[]): Promise<void> {
  const { events: e, eventRuns, eventArrivals } = tx.t;
  for (const r of tx.sqlDialect.singleWriter ? [eventRuns] : [eventRuns, eventArrivals])
    for (const stretches of splitIntoChunks(listStretches(deleted), STRETCHES)) {
      const affected = areOf(r, stretches);
      const left = sql`(select max(${e.sequence}) from ${e} where ${e.sequence} >= ${r.key} and ${e.sequence} < ${r.key} + ${r.length})`;
      await tx
        .update(r)
        .set({ length: sql`coalesce(${left} - ${r.key} + 1, 0)` })
        .where(affected);
      await tx.delete(r).where(and(affected, eq(r.length, 0)));
    }
}

/** Keys that follow one another. */
interface Stretch {
  readonly first: number;
  readonly last: number;
}

function listStretches(keys: readonly number[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const key of [...keys].sort((one, other) => one - other)) {
    const before = stretches.at(-1);
    if (before?.last === key - 1) stretches[stretches.length - 1] = { first: before.first, last: key };
    else stretches.push({ first: key, last: key });
  }
  return stretches;
}

/** The condition that a run has one of these keys: it begins with the last key up to the first one, or between the two. */
function areOf(r: Schema["eventRuns"] | Schema["eventArrivals"], stretches: readonly Stretch[]): SQL | undefined {
  return or(
    ...stretches.map(({ first, last }) =>
      or(
        eq(r.key, sql`(select max("own"."key") from ${r} as "own" where "own"."key" <= ${first})`),
        last === first ? undefined : and(gt(r.key, first), lte(r.key, last)),
      ),
    ),
  );
}

type EventSchema = Pick<Schema, "events" | "eventRuns">;

/** The number of an event, for a query of events; null before it has one. */
export function positionOf({ events: e, eventRuns: r }: EventSchema): SQL<number | null> {
  return sql<
    number | null
  >`(select case when ${e.sequence} < ${r.key} + ${r.length} then ${r.position} + ${e.sequence} - ${r.key} end from ${r} where ${r.key} <= ${e.sequence} order by ${r.key} desc limit 1)`.mapWith(
    Number,
  );
}

/** The condition by which events are joined with their runs. */
export function inRun({ events: e, eventRuns: r }: EventSchema): SQL | undefined {
  return and(gte(e.sequence, r.key), lt(e.sequence, sql`${r.key} + ${r.length}`));
}

/** The number of an event that is joined with its run. */
export function positionIn({ events: e, eventRuns: r }: EventSchema): SQL<number> {
  return sql<number>`${r.position} + ${e.sequence} - ${r.key}`.mapWith(Number);
}

/** The condition that an event that is joined with its run is one of a workspace, with a number above `after`. */
export function isAfter(t: EventSchema, workspaceId: unknown, after: unknown): SQL | undefined {
  const { eventRuns: r } = t;
  // The run that has this number, whose later events are meant as well.
  const from = sql`select max("own"."position") from ${r} as "own" where "own"."workspace_id" = ${workspaceId} and "own"."position" <= ${after}`;
  return and(eq(r.workspaceId, workspaceId as string), gte(r.position, sql`coalesce((${from}), 0)`), gt(positionIn(t), after as number));
}

/** The order of the numbers. */
export function byPosition({ events: e, eventRuns: r }: EventSchema): SQL[] {
  return [asc(r.position), asc(r.key), asc(e.sequence)];
}

/** The opposite of `byPosition`. */
export function byPositionDown({ events: e, eventRuns: r }: EventSchema): SQL[] {
  return [desc(r.position), desc(r.key), desc(e.sequence)];
}

/** The newest number of the stream of a workspace; 0 before the first one. */
export async function findStreamEnd(q: Tx | Reader, workspaceId: string): Promise<number> {
  const [stream] = await findRows(q, q.t.eventStreams, { workspaceId });
  return stream?.last ?? 0;
}

/**
 * Marks the present in the log of a workspace: events that this transaction has recorded lie before it, those of later ones behind it. A
 * number on SQLite; on Postgres, where events have none yet, a key.
 */
export async function findMark(tx: Tx, workspaceId: string): Promise<number> {
  if (tx.sqlDialect.singleWriter) return findStreamEnd(tx, workspaceId);
  const { events: e } = tx.t;
  const [newest] = await tx.select({ key: e.sequence }).from(e).orderBy(desc(e.sequence)).limit(1);
  return newest?.key ?? 0;
}

/** The mark of an event: it lies behind all smaller ones. */
export function markOf(
  q: Pick<Tx, "sqlDialect">,
  { position, sequence }: { readonly position: number; readonly sequence: number },
): number {
  return q.sqlDialect.singleWriter ? position : sequence;
}

/** The newest number of each stream of events, by workspace. */
export async function loadStreamEnds(read: Reader): Promise<ReadonlyMap<string, number>> {
  const { eventStreams: s } = read.t;
  const rows = await read.select({ workspaceId: s.workspaceId, last: s.last }).from(s);
  return new Map(rows.map(({ workspaceId, last }) => [workspaceId, last]));
}

/**
 * Lets the streams of workspaces go on behind these numbers, after their events were replaced: programs that follow a stream wait for
 * numbers above those they have seen.
 */
export async function continueStreams(tx: Tx, workspaceIds: readonly string[], ends: ReadonlyMap<string, number>): Promise<void> {
  const { eventStreams } = tx.t;
  const now = await loadStreamEnds(tx);
  for (const workspaceId of workspaceIds) {
    const [last = 0, before] = [ends.get(workspaceId), now.get(workspaceId)];
    if (last <= (before ?? 0)) continue;
    if (before === undefined) await tx.insert(eventStreams).values({ workspaceId, last });
    else await tx.update(eventStreams).set({ last }).where(eq(eventStreams.workspaceId, workspaceId));
  }
}
