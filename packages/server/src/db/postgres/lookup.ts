import type { PgTable } from "drizzle-orm/pg-core";
import { listColumns, nameOf, quote, type Row, selectColumns, toArrayType, toElement } from "./arrays.ts";

/** A prepared statement that finds rows of a table by their keys, for any number of callers. All keys name the same columns. */
export interface Lookup {
  readonly name: string;
  readonly text: string;
  values(keys: readonly Row[]): unknown[];
  /** The rows of each key. */
  split(rows: readonly Record<string, unknown>[], keys: readonly Row[]): Row[][];
}

/** The lookup in a table by the columns that `first` names. */
export function makeLookup(table: PgTable, first: Row): Lookup {
  const by = selectColumns(table, first);
  const columns = listColumns(table);
  return {
    name: `look_up_${nameOf(table)}_${by.map(({ position }) => position).join("_")}`,
    text:
      `select v.i, ${columns.map(({ column }, i) => `t.${quote(column.name)} as c${i}`).join(", ")} ` +
      `from unnest(${by.map((column, i) => `$${i + 1}::${toArrayType(column)}`).join(", ")}) ` +
      `with ordinality as v (${by.map((_, i) => `k${i}`).join(", ")}, i) ` +
      `join ${quote(nameOf(table))} as t on ${by.map(({ column }, i) => `t.${quote(column.name)} = v.k${i}`).join(" and ")}`,
    values: (keys) => by.map((column) => keys.map((key) => toElement(key, column))),
    split: (rows, keys) => {
      const found = keys.map((): Row[] => []);
      for (const row of rows)
        found[Number(row["i"]) - 1]?.push(
          Object.fromEntries(
            columns.map(({ key, column }, i) => {
              const value = row[`c${i}`];
              return [key, value === null ? null : column.mapFromDriverValue(value)];
            }),
          ),
        );
      return found;
    },
  };
}
