import type { PgTable } from "drizzle-orm/pg-core";
import { CHUNK_BYTES, yieldToEventLoop } from "../../lib/turn.ts";
import type { Schema } from "../db.ts";
import { MisplacedQuery } from "../errors.ts";
import { currentScope, type Scope } from "../scope.ts";
import type { Row } from "./arrays.ts";
import type { PgTx } from "./database.ts";
import { postgresDialect } from "./dialect.ts";
import { type BulkInsert, getCounter, toTableInsert } from "./insert.ts";
import { toLookup } from "./lookup.ts";
import { type SharedReads, toNumberQuery } from "./shared-reads.ts";

/** Thrown inside a light transaction by what only an ordinary one can do. */
class NotLight extends Error {
  override name = "NotLight";
}

/** The rows that a transaction inserts, by their inserts. */
export type CollectedRows = Map<BulkInsert, unknown[][]>;

/** A transaction that only collects the rows it inserts. */
export interface LightTx {
  readonly tx: PgTx;
  readonly rows: CollectedRows;
  /** How many rows it has numbered, by table. */
  readonly numbers: ReadonlyMap<PgTable, number>;
  /** The length of the texts in the rows, roughly. */
  readonly size: number;
  /** True once it was asked for something else: its work must run again in an ordinary transaction. */
  readonly failed: boolean;
}

// Characters of the rows of one transaction, roughly. Those of larger ones are sent one by one: 20 MB in one statement take 50 ms to send.
const MAX_SIZE = 2 * CHUNK_BYTES;

const ORDINARY_ONLY = ["select", "selectDistinct", "insert", "update", "delete", "$count", "prepared", "raw", "updateAll", "beforeCommit"];

/**
 * Opens a light transaction: inserts are collected, to be written together with those of other transactions, and lookups read
 * committed rows. `likely` tells how many rows it is likely to number, by table. Everything else needs an ordinary transaction, as does a lookup in a table it has inserted into.
 */
export function openLightTx(scope: Scope, t: Schema, reads: SharedReads, likely: ReadonlyMap<PgTable, number>): LightTx {
  const rows: CollectedRows = new Map();
  const taken = new Map<PgTable, number>();
  const written = new Set<PgTable>();
  let size = 0;
  let failed = false;

  const guard = (): void => {
    if (!scope.open || currentScope.getStore() !== scope)
      throw new MisplacedQuery("A query was made after its transaction had ended, or outside of it.");
  };
  const refuse = (): never => {
    guard();
    failed = true;
    throw new NotLight("This query needs an ordinary transaction.");
  };
  const collect = (insert: BulkInsert, values: unknown[]): void => {
    if (size > MAX_SIZE) refuse();
    for (const value of values) size += typeof value === "string" ? value.length : value instanceof Uint8Array ? 2 * value.length : 8;
    const list = rows.get(insert);
    if (list) list.push(values);
    else rows.set(insert, [values]);
  };
  const insertAll = (table: PgTable, list: readonly object[]): void => {
    const [first] = list;
    if (!first) return;
    written.add(table);
    const insert = toTableInsert(table, first as Row);
    for (const row of list) collect(insert, insert.toValues(row as Row));
  };

  // Taken together with what is looked up first, because rows usually need their numbers after that.
  const early = new Map([...likely].map(([table, n]) => [table, { n, numbers: reads.ask(toNumberQuery(table), n) }]));
  // Reported where they are used.
  for (const { numbers } of early.values()) numbers.catch(() => {});
  const takeNumbers = (table: PgTable, n: number): Promise<number[]> => {
    taken.set(table, (taken.get(table) ?? 0) + n);
    const ready = early.get(table);
    early.delete(table);
    return ready?.n === n ? ready.numbers : reads.ask(toNumberQuery(table), n);
  };

  const tx = {
    t,
    sqlDialect: postgresDialect,
    get searchIndex() {
      return refuse();
    },
    insertAll: async (table: PgTable, list: readonly object[]) => {
      guard();
      insertAll(table, list);
    },
    insertNumbered: async (table: PgTable, list: readonly object[]) => {
      guard();
      if (list.length === 0) return [];
      const numbers = await takeNumbers(table, list.length);
      const { key } = getCounter(table);
      insertAll(
        table,
        list.map((row, i) => ({ ...row, [key]: numbers[i] })),
      );
      return numbers;
    },
    nextNumbers: async (table: PgTable, n: number) => {
      guard();
      return reads.ask(toNumberQuery(table), n);
    },
    lookUp: async (table: PgTable, keys: readonly Row[]) => {
      guard();
      const [first] = keys;
      if (!first) return [];
      return written.has(table) ? refuse() : reads.ask(toLookup(table, first), keys);
    },
    defer: (insert: BulkInsert, values: unknown[]) => {
      guard();
      collect(insert, values);
    },
    breathe: yieldToEventLoop,
    afterCommit: (hook: () => void) => void scope.afterCommit.push(hook),
    ...Object.fromEntries(ORDINARY_ONLY.map((name) => [name, refuse])),
  } as unknown as PgTx;

  return {
    tx,
    rows,
    numbers: taken,
    get size() {
      return size;
    },
    get failed() {
      return failed;
    },
  };
}
