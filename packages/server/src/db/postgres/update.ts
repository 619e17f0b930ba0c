import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { type NamedColumn, nameOf, quote, type Row, selectColumns, toArrayType, toElement, toValue } from "./arrays.ts";
import type { Raw } from "./query.ts";

/** `updateAll` on Postgres: one statement, which joins the table with an array per column. */
export function createUpdates(raw: Raw): Pick<Tx, "updateAll"> {
  const texts = new Map<string, string>();
  return {
    updateAll: async (table, changes) => {
      const [first] = changes;
      if (!first) return [];
      const where = selectColumns(table, first.where);
      const set = selectColumns(table, first.set);
      const name = `update_all_${nameOf(table)}_${[where, set].map((list) => list.map(({ position }) => position).join("_")).join("__")}`;
      let text = texts.get(name);
      if (text === undefined) {
        text = buildUpdate(table, where, set);
        texts.set(name, text);
      }
      const values = [
        ...where.map((column) => changes.map((change) => toElement(change.where as Row, column))),
        ...set.map((column) => changes.map((change) => toElement(change.set as Row, column))),
      ];
      const changed = await raw<{ i: string }>(text, values, name);
      const positions = new Set(changed.map(({ i }) => Number(i)));
      return changes.map((_, i) => positions.has(i + 1));
    },
  };
}

function buildUpdate(table: PgTable, where: readonly NamedColumn[], set: readonly NamedColumn[]): string {
  const all = [...where, ...set];
  const conditions = where.map(({ column }, i) =>
    // Only `=` uses an index.
    column.notNull ? `t.${quote(column.name)} = v.c${i}` : `t.${quote(column.name)} is not distinct from v.c${i}`,
  );
  const assignments = set.map((column, i) => `${quote(column.column.name)} = ${toValue(`v.c${where.length + i}`, column)}`);
  return (
    `update ${quote(nameOf(table))} as t set ${assignments.join(", ")} ` +
    `from unnest(${all.map((column, i) => `$${i + 1}::${toArrayType(column)}`).join(", ")}) ` +
    `with ordinality as v (${all.map((_, i) => `c${i}`).join(", ")}, i) where ${conditions.join(" and ")} returning v.i`
  );
}
