import { and, asc, gt, inArray, lt } from "drizzle-orm";
import type { Db, Reader, Schema, Tx } from "../db/db.ts";
import type { KeyedTable } from "../db/table-key.ts";
import type { Log } from "../lib/log.ts";
import type { SegmentDeps } from "../segments/deps.ts";
import type { RetentionPolicy } from "./policy.ts";

export interface RetentionDeps extends SegmentDeps {
  readonly db: Db;
  readonly log: Log;
  readonly config: { readonly keepDays: RetentionPolicy };
}

/** The key of a row. */
export type Key = string | number;

/** Lists the next rows after a key, oldest first; those that were created before an instant (ms) at least. */
export type ListRows = (
  read: Reader,
  after: Key | null,
  limit: number,
  before: number,
) => Promise<readonly { readonly key: Key; readonly createdAt: number }[]>;

/**
 * Deletes the rows with these keys that ended before an instant (ms), with what goes with them. Returns "more" when it did not delete all
 * of them; the same keys come again then. The conditions avoid the state columns: the planner would take their index, which leads to
 * nearly all rows.
 */
export type DeleteOld = (tx: Tx, keys: readonly Key[], before: number, deps: RetentionDeps) => Promise<"more" | undefined>;

/** Time for which rows are kept: by an option of `--keep`, or of days that nobody has to choose. */
export type Term = keyof RetentionPolicy | { readonly days: number };

/** Rows that expire. */
export interface Expiring {
  readonly policy: Term;
  readonly list: ListRows;
  readonly delete: DeleteOld;
  /** True if sweeping once a day is never too often: the next row to expire cannot be told. */
  readonly daily?: boolean;
}

/** Rows that go with those of another table. */
interface Following {
  readonly with: keyof Schema;
}

/**
 * Declares how long a table keeps its rows.
 *
 * | declared | the rows                                                                |
 * | -------- | ----------------------------------------------------------------------- |
 * | `kept`   | stay until people delete them, or what they belong to                   |
 * | `ends`   | are deleted by their module: when, or why there are never many          |
 * | `policy` | expire by an option of `--keep` or after some days, once a day          |
 * | `with`   | go with the rows of another table                                       |
 */
export type Retention = "kept" | { readonly ends: string } | Expiring | Following;

/** Retention of each table; a missing table does not compile. A sweep goes through the tables in the order of the record. */
export type RetentionByTable = Readonly<Record<keyof Schema, Retention>>;

/** The table to walk. Its keys rise with the creation time of the rows, so the walk needs no further index. */
interface Source extends KeyedTable {
  /** The column with the time (ms) that makes a row old. */
  readonly age: KeyedTable["key"];
}

/** Lists the rows of a table by their keys. */
export function listByKey(source: (t: Reader["t"]) => Source): ListRows {
  return async (read, after, limit) => {
    const { table, key, age } = source(read.t);
    const above = after === null ? undefined : gt(key, after);
    const rows = await read.select({ key, createdAt: age }).from(table).where(above).orderBy(asc(key)).limit(limit);
    return rows as { key: Key; createdAt: number }[];
  };
}

/** Rows that go by their age alone. */
export function byAge(source: (t: Reader["t"]) => Source): Pick<Expiring, "list" | "delete"> {
  return {
    list: listByKey(source),
    delete: async (tx, keys, before) => {
      const { table, key, age } = source(tx.t);
      await tx.delete(table).where(and(inArray(key, [...keys]), lt(age, before)));
      return undefined;
    },
  };
}
