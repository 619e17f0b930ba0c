import type { PgTable } from "drizzle-orm/pg-core";
import { type NamedColumn, nameOf, quote } from "./arrays.ts";
import type { SharedQuery } from "./lookup.ts";

/** Takes numbers from a table's counter; the request is how many. */
export type NumberQuery = SharedQuery<number, number[]>;

// The table, quoted; the column; how many.
const NEXT_NUMBERS = "select nextval(pg_get_serial_sequence($1, $2)) as n from generate_series(1, $3::int)";

export function makeNumberQuery(table: PgTable, { column }: NamedColumn): NumberQuery {
  const name = quote(nameOf(table));
  return {
    name: "next_numbers",
    text: NEXT_NUMBERS,
    values: (requests) => [name, column.name, requests.reduce((sum, n) => sum + n, 0)],
    split: (rows, requests) => {
      const numbers = rows.map((row) => Number(row["n"])).sort((a, b) => a - b);
      return requests.map((n) => numbers.splice(0, n));
    },
  };
}
