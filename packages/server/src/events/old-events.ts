import { and, desc, inArray, lt, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { firstNumberOfMonth, type MonthKey } from "../db/months.ts";
import { type DeleteOld, type ListRows, listByKey, type MonthsOf, type RetentionDeps, type StayingRow } from "../retention/retention.ts";
import { type DeletedEvent, deleteEvents } from "./events.ts";
import { isReadByReaders, isSomeUnreadBelow } from "./readers.ts";
import { listRunKeys } from "./runs.ts";
import { forgetTrackedIdsBelow } from "./tracked-ids.ts";

/** Modules that follow events, and the events that they still need. */
export interface EventFollowers {
  /** The condition that an event was read. */
  isRead(tx: Tx): SQL;
  isSomeUnread(read: Reader): Promise<boolean>;
  /** Deletes what was made of events that are deleted. */
  forget(tx: Tx, events: readonly DeletedEvent[]): Promise<void>;
  /** Deletes some of what was made of events below a key. Returns how many: none when there is no more. */
  forgetBelow(tx: Tx, to: number): Promise<number>;
  /** Lists the keys of events that must stay, out of these. */
  listNeeded(q: Tx | Reader, keys: readonly number[], before: number): Promise<ReadonlySet<number>>;
  /** The same of all events below a key; null if there are too many. */
  listNeededBelow(read: Reader, to: number, before: number): Promise<readonly number[] | null>;
}

/** Old events, row by row. */
export function oldEvents(others: EventFollowers): { readonly list: ListRows; readonly delete: DeleteOld } {
  return {
    list: listByKey(({ events: e }) => ({ table: e, key: e.sequence, age: e.at })),
    delete: async (tx, found, before) => {
      const { events: e } = tx.t;
      const keys = found.map(Number);
      const needed = await others.listNeeded(tx, keys, before);
      const over = keys.filter((key) => !needed.has(key));
      const isOver = and(inArray(e.sequence, over), lt(e.at, before), others.isRead(tx), isReadByReaders(tx));
      await others.forget(tx, await deleteEvents(tx, isOver));
      return undefined;
    },
  };
}

/** Months of events. */
export function monthsOfEvents(others: EventFollowers): MonthsOf<"sequence"> {
  return {
    key: "sequence",
    firstKey: firstNumberOfMonth,
    apart: null,
    counted: true,
    listStaying: (deps, end, before) => listStaying(deps, others, end, before),
  };
}

/** Finds the rows of the numbers of events that stay. */
export function listStayingRuns(read: Reader, rows: readonly StayingRow[]): Promise<readonly StayingRow[]> {
  return listRunKeys(
    read,
    rows.map(({ sequence }) => Number(sequence)),
  );
}

async function listStaying(
  { db }: RetentionDeps,
  others: EventFollowers,
  end: MonthKey,
  before: number,
): Promise<StayingRow[] | "more" | null> {
  const to = Number(end);
  const { events: e, eventArrivals: a } = db.read.t;
  const [newest] = await db.read.select({ at: e.at }).from(e).where(lt(e.sequence, to)).orderBy(desc(e.sequence)).limit(1);
  // Events that have no numbers yet, or that were not read, are still to be followed up.
  const [arrival] = await db.read.select({ key: a.key }).from(a).where(lt(a.key, to)).limit(1);
  const isUnread = arrival !== undefined || (await others.isSomeUnread(db.read)) || (await isSomeUnreadBelow(db.read, to));
  if ((newest && newest.at >= before) || isUnread) return null;
  const staying = await others.listNeededBelow(db.read, to, before);
  if (staying === null) return null;
  // Some at a time: there may be millions.
  if ((await db.tx((tx) => others.forgetBelow(tx, to))) > 0) return "more";
  if ((await db.tx((tx) => forgetTrackedIdsBelow(tx, to))) > 0) return "more";
  return staying.map((sequence) => ({ sequence }));
}
