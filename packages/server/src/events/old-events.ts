import { and, inArray, lt, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { type DeleteOld, type ListRows, listByKey } from "../retention/retention.ts";
import { type DeletedEvent, deleteEvents } from "./events.ts";
import { isReadByReaders } from "./readers.ts";

/** Modules that follow events, and the events that they still need. */
export interface EventFollowers {
  /** The condition that an event was read. */
  isRead(tx: Tx): SQL;
  /** Deletes what was made of events that are deleted. */
  forget(tx: Tx, events: readonly DeletedEvent[]): Promise<void>;
  /** Lists the keys of events that must stay, out of these. */
  listNeeded(q: Tx | Reader, keys: readonly number[], before: number): Promise<ReadonlySet<number>>;
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
