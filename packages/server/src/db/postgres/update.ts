import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { encodeBytesArray, type NamedColumn, nameOf, quote, type Row, selectColumns, toArrayType, toElement, toValue } from "./arrays.ts";
import type { Raw } from "./query.ts";

/** `updateAll` and `deleteAll` on Postgres: one statement, which joins the table with an array per column. */
export function createUpdates(raw: Raw): Pick<Tx, "updateAll" | "deleteAll"> {
  const texts = new Map<string, string>();
  /** Changes the rows with these values to others; deletes them where there are none. */
  const changeAll = async (table: PgTable, rows: readonly Row[], changes: readonly Row[] | null): Promise<boolean[]> => {
    const [first] = rows;
    if (!first) return [];
    const where = selectColumns(table, first);
    const set = selectColumns(table, changes?.[0] ?? {});
    const verb = changes ? "update" : "delete";
    const name = `${verb}_all_${nameOf(table)}_${[where, set].map(nameSet).join("_")}`;
    let text = texts.get(name);
    if (text === undefined) {
      text = buildText(table, where, changes && set);
      texts.set(name, text);
    }
    const values = [...where.map((column) => toArray(rows, column)), ...set.map((column) => toArray(changes ?? [], column))];
    const changed = await raw<{ i: string }>(text, values, name);
    const positions = new Set(changed.map(({ i }) => Number(i)));
    return rows.map((_, i) => positions.has(i + 1));
  };
  return {
    updateAll: (table, changes) =>
      changeAll(
        table,
        changes.map(({ where }) => where as Row),
        changes.map(({ set }) => set as Row),
      ),
    deleteAll: (table, rows) => changeAll(table, rows as readonly Row[], null),
  };
}

function toArray(rows: readonly Row[], column: NamedColumn): unknown[] | Buffer {
  const values = rows.map((row) => toElement(row, column));
  return column.column.getSQLType() === "bytea" ? encodeBytesArray(values as (Uint8Array | null)[]) : values;
}

function buildText(table: PgTable, where: readonly NamedColumn[], set: readonly NamedColumn[] | null): string {
  const all = [...where, ...(set ?? [])];
  const conditions = where.map(({ column }, i) =>
    // Only `=` uses an index.
    column.notNull ? `t.${quote(column.name)} = v.c${i}` : `t.${quote(column.name)} is not distinct from v.c${i}`,
  );
  const assignments = set?.map((column, i) => `${quote(column.column.name)} = ${toValue(`v.c${where.length + i}`, column)}`);
  // Deleted rows are named by their key first. The list of it is found by the index even where Postgres would join the whole table.
  if (!set && where[0]) conditions.unshift(`t.${quote(where[0].column.name)} = any ($1)`);
  const name = quote(nameOf(table));
  return (
    `${assignments ? `update ${name} as t set ${assignments.join(", ")} from` : `delete from ${name} as t using`} ` +
    `unnest(${all.map((column, i) => `$${i + 1}::${toArrayType(column)}`).join(", ")}) ` +
    `with ordinality as v (${all.map((_, i) => `c${i}`).join(", ")}, i) where ${conditions.join(" and ")} returning v.i`
  );
}

/** A short name of a set of columns: Postgres takes 63 characters for that of a statement. */
function nameSet(columns: readonly { readonly position: number }[]): string {
  return columns.reduce((bits, { position }) => bits | (1n << BigInt(position)), 0n).toString(36);
}
