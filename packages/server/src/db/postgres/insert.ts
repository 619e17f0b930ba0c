import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { findCounter, listColumns, nameOf, quote, type Row, toArrayType, toElement, toValue } from "./arrays.ts";
import type { Raw } from "./session.ts";

interface Statement {
  readonly text: string;
  readonly name: string;
  values(rows: readonly Row[]): unknown[];
}

/** `insertAll` and `nextNumbers` on Postgres: one statement with an array per column as parameters, so that its text never changes. */
export function createInserts(raw: Raw): Pick<Tx, "insertAll" | "nextNumbers"> {
  const statements = new Map<string, Statement>();
  const build = (table: PgTable, counted: boolean): Statement => {
    const columns = listColumns(table).filter(({ column }) => !counted || column.getSQLType() !== "bigserial");
    return {
      name: `insert_all_${nameOf(table)}_${columns.length}`,
      // When two transactions insert the same key, the later one would fail for good without ON CONFLICT; with it, it runs again.
      text:
        `insert into ${quote(nameOf(table))} (${columns.map(({ column }) => quote(column.name)).join(", ")}) ` +
        `select ${columns.map((column, i) => toValue(`v.c${i}`, column)).join(", ")} ` +
        `from unnest(${columns.map((column, i) => `$${i + 1}::${toArrayType(column)}`).join(", ")}) ` +
        `as v (${columns.map((_, i) => `c${i}`).join(", ")}) on conflict do nothing`,
      values: (rows) => columns.map((column) => rows.map((row) => toElement(row, column))),
    };
  };
  return {
    insertAll: async (table, rows) => {
      const first = rows[0] as Row | undefined;
      if (!first) return;
      const counter = findCounter(table);
      const counted = counter !== undefined && first[counter.key] === undefined;
      const key = `${nameOf(table)} ${counted}`;
      let statement = statements.get(key);
      if (!statement) {
        statement = build(table, counted);
        statements.set(key, statement);
      }
      await raw(statement.text, statement.values(rows as readonly Row[]), statement.name);
    },
    nextNumbers: async (table, n) => {
      const counter = findCounter(table);
      if (!counter) throw new Error(`${nameOf(table)} has no counter.`);
      const rows = await raw<{ n: string }>(
        `select nextval(pg_get_serial_sequence($1, $2)) as n from generate_series(1, $3::int)`,
        [quote(nameOf(table)), counter.column.name, n],
        "next_numbers",
      );
      return rows.map((row) => Number(row.n)).sort((a, b) => a - b);
    },
  };
}
