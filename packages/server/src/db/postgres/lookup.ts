import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { listColumns, nameOf, quote, type Row, selectColumns, toArrayType, toElement } from "./arrays.ts";
import type { Raw } from "./session.ts";
import type { SharedQuery } from "./shared-reads.ts";

/** Lookups of one kind: in the same table, by the same columns. */
export type Lookup = SharedQuery<readonly Row[], Row[][]>;

const lookups = new WeakMap<PgTable, Map<string, Lookup>>();

/** The lookup in a table by the columns that `first` names. */
export function toLookup(table: PgTable, first: Row): Lookup {
  const known = lookups.get(table) ?? new Map<string, Lookup>();
  lookups.set(table, known);
  const names = Object.keys(first).join();
  const lookup = known.get(names) ?? makeLookup(table, first);
  known.set(names, lookup);
  return lookup;
}

/** `lookUp` of an ordinary transaction. */
export function createLookups(raw: Raw): Pick<Tx, "lookUp"> {
  return {
    lookUp: async (table, keys) => {
      const [first] = keys;
      if (!first) return [];
      const lookup = toLookup(table, first as Row);
      const rows = await raw<Record<string, unknown>>(lookup.text, lookup.values([keys as readonly Row[]]), lookup.name);
      const [found] = lookup.split(rows, [keys as readonly Row[]]);
      return found as never;
    },
  };
}

function makeLookup(table: PgTable, first: Row): Lookup {
  const by = selectColumns(table, first);
  const columns = listColumns(table);
  return {
    name: `look_up_${nameOf(table)}_${by.map(({ position }) => position).join("_")}`,
    text:
      `select v.i, ${columns.map(({ column }, i) => `t.${quote(column.name)} as c${i}`).join(", ")} ` +
      `from unnest(${by.map((column, i) => `$${i + 1}::${toArrayType(column)}`).join(", ")}) ` +
      `with ordinality as v (${by.map((_, i) => `k${i}`).join(", ")}, i) ` +
      `join ${quote(nameOf(table))} as t on ${by.map(({ column }, i) => `t.${quote(column.name)} = v.k${i}`).join(" and ")}`,
    values: (requests) => {
      const keys = requests.flat();
      return by.map((column) => keys.map((key) => toElement(key, column)));
    },
    split: (rows, requests) => {
      const answers = requests.map((keys) => keys.map((): Row[] => []));
      const flat = answers.flat();
      for (const row of rows)
        flat[Number(row["i"]) - 1]?.push(
          Object.fromEntries(
            columns.map(({ key, column }, i) => {
              const value = row[`c${i}`];
              return [key, value === null ? null : column.mapFromDriverValue(value)];
            }),
          ),
        );
      return answers;
    },
  };
}
