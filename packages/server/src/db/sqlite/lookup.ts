import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { type Convert, convertValue, findDecoder, findEncoder } from "./bind.ts";

type Row = Readonly<Record<string, unknown>>;
type All = (...params: unknown[]) => unknown;

/** A column of a result, or of a key. */
interface Field {
  /** The name of its property. */
  readonly key: string;
  readonly convert: Convert;
}

// So many keys come as JSON; fewer are parameters of a statement for their number, which costs less than reading JSON.
const MANY = 4;

/**
 * `lookUp` on SQLite: one statement for many keys, which come as JSON. With 32 keys that takes half the time of a statement for each.
 * `compile` gives the function that returns the rows of a statement, each as the values of its columns.
 */
export function createLookups(compile: (sql: string) => All): Pick<Tx, "lookUp"> {
  const lookups = new Map<PgTable, Map<string, Lookup>>();
  const findLookup = (table: PgTable, by: readonly string[]): Lookup => {
    const ofTable = lookups.get(table) ?? new Map<string, Lookup>();
    lookups.set(table, ofTable);
    const name = by.join();
    const lookup = ofTable.get(name) ?? new Lookup(table, by, compile);
    ofTable.set(name, lookup);
    return lookup;
  };
  return {
    lookUp: async (table, keys) => {
      const [first] = keys;
      return (first ? findLookup(table, Object.keys(first)).find(keys as readonly Row[]) : []) as never;
    },
  };
}

/** Finds rows of one table by the same columns. */
class Lookup {
  readonly #by: readonly Field[];
  readonly #fields: readonly Field[];
  /** Finds the rows of one key, two and three, with the position of each row's key before its values. */
  readonly #few: readonly All[];
  /** Finds those of many, with the position of each row's key before its values. */
  readonly #many: All;

  constructor(table: PgTable, by: readonly string[], compile: (sql: string) => All) {
    const columns = getTableColumns(table) as Record<string, PgColumn>;
    const of = (key: string): string => `t."${(columns[key] as PgColumn).name}"`;
    const selected = Object.keys(columns).map(of).join(", ");
    const from = `"${getTableName(table)}" t`;
    this.#by = by.map((key) => ({ key, convert: findEncoder(columns[key] as PgColumn) }));
    this.#fields = Object.entries(columns).map(([key, column]) => ({ key, convert: findDecoder(column) }));
    const matchesOf = (value: (i: number) => string): string => by.map((key, i) => `${of(key)} = ${value(i)}`).join(" and ");
    this.#few = Array.from({ length: MANY - 1 }, (_, more) => {
      const keys = Array.from({ length: more + 1 }, (_, i) => `(${i}${", ?".repeat(by.length)})`).join(", ");
      return compile(
        `select k.column1, ${selected} from (values ${keys}) k cross join ${from} where ${matchesOf((i) => `k.column${i + 2}`)}`,
      );
    });
    this.#many = compile(`select k.key, ${selected} from json_each(?) k cross join ${from} where ${matchesOf((i) => `k.value ->> ${i}`)}`);
  }

  /** The rows of each key, in the order of the keys. */
  find(keys: readonly Row[]): Row[][] {
    const values = keys.map((key) => this.#by.map((field) => convertValue(field.convert, key[field.key])));
    const find = this.#few[values.length - 1];
    const found: Row[][] = keys.map(() => []);
    const rows = (find ? find(...values.flat()) : this.#many(JSON.stringify(values))) as unknown[][];
    for (const row of rows) found[Number(row[0])]?.push(this.#toRow(row));
    return found;
  }

  #toRow(values: readonly unknown[]): Row {
    const row: Record<string, unknown> = {};
    let at = 1;
    for (const { key, convert } of this.#fields) row[key] = convertValue(convert, values[at++]);
    return row;
  }
}
