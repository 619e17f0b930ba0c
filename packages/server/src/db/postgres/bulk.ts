import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { StorageUnavailable, UniqueViolation } from "../errors.ts";
import { cutIntoStretches } from "../stretches.ts";
import { encodeBytesArray, type NamedColumn, nameOf, quote, type Row, selectColumns, toArrayType, toElement, toValue } from "./arrays.ts";
import { listArrays, toArrays } from "./insert.ts";
import type { Lookup } from "./lookup.ts";
import type { Raw, Run } from "./pool.ts";
import type { TableStatements } from "./table-statements.ts";

/** `insertAll`, `insertNumbered` and `nextNumbers`: one statement for all rows, or for a megabyte of them. */
export function createInserts(run: Run, raw: Raw, statements: TableStatements): Pick<Tx, "insertAll" | "insertNumbered" | "nextNumbers"> {
  const insertRows = async (
    table: PgTable,
    rows: readonly object[],
    { newKeys = false, returning }: { newKeys?: boolean | undefined; returning?: string },
  ): Promise<{ n: string }[]> => {
    const [first] = rows;
    if (!first) return [];
    const insert = statements.toInsert(table, first as Row);
    const values = rows.map((row) => insert.toValues(row as Row));
    // If two transactions insert the same key at once, the later one would fail for good without ON CONFLICT; with it, it runs again.
    const conflict = newKeys ? "" : " on conflict do nothing";
    const text = `${insert.build(listArrays(insert))}${conflict}${returning === undefined ? "" : ` returning ${quote(returning)} as n`}`;
    const name = `${returning === undefined ? (newKeys ? "new" : "all") : "numbered"}_${insert.name}`;
    const inserted = await run<{ n: string }>(text, toArrays(insert, values), name);
    if (inserted.rowCount !== rows.length) throw new UniqueViolation("A row with this unique key exists already.");
    return inserted.rows;
  };
  return {
    insertAll: async (table, rows, options) => {
      const [first] = rows;
      if (!first) return;
      const { byteKeys } = statements.toInsert(table, first as Row);
      for (const stretch of cutIntoStretches<object>(rows, byteKeys, Number.POSITIVE_INFINITY))
        await insertRows(table, stretch.rows, { newKeys: options?.newKeys });
    },
    insertNumbered: async (table, rows) => {
      const inserted = await insertRows(table, rows, { newKeys: true, returning: statements.getCounter(table).column.name });
      return inserted.map(({ n }) => Number(n));
    },
    nextNumbers: async (table, n) => {
      const { name, text, values } = statements.toNumberQuery(table);
      const rows = await raw<{ n: string }>(text, values(n), name);
      return rows.map((row) => Number(row.n)).sort((a, b) => a - b);
    },
  };
}

/** Keys that a caller looks up. */
interface Asked {
  readonly keys: readonly Row[];
  resolve(rows: Row[][]): void;
  reject(error: unknown): void;
}

/**
 * `lookUp`: what is asked together, before the event loop goes on, is one statement. A connection answers one at a time, so the checks
 * of a hundred sends would wait for a hundred round trips. `guard` runs for each caller. When a statement fails, each caller asks again
 * alone, so that a text which the database refuses hurts only the one who asks for it; in a transaction nothing works after it.
 */
export function createLookups(raw: Raw, statements: TableStatements, guard: () => void): Pick<Tx, "lookUp"> {
  const waiting = new Map<Lookup, Asked[]>();
  const find = async (lookup: Lookup, keys: readonly Row[]): Promise<Row[][]> =>
    lookup.split(await raw<Record<string, unknown>>(lookup.text, lookup.values(keys), lookup.name), keys);
  const answer = async (lookup: Lookup): Promise<void> => {
    const asked = waiting.get(lookup) ?? [];
    waiting.delete(lookup);
    try {
      const keys = asked.flatMap((one) => one.keys);
      const found = await find(lookup, keys);
      for (const one of asked) one.resolve(found.splice(0, one.keys.length));
    } catch (error) {
      const isTheirs = asked.length === 1 || error instanceof StorageUnavailable;
      for (const { keys, resolve, reject } of asked) {
        if (isTheirs) reject(error);
        else await find(lookup, keys).then(resolve, () => reject(error));
      }
    }
  };
  const ask = (lookup: Lookup, keys: readonly Row[]): Promise<Row[][]> =>
    new Promise((resolve, reject) => {
      const asked = waiting.get(lookup);
      if (asked) asked.push({ keys, resolve, reject });
      else {
        waiting.set(lookup, [{ keys, resolve, reject }]);
        // After all that runs before the event loop goes on.
        process.nextTick(() => void answer(lookup));
      }
    });
  return {
    lookUp: async (table, keys) => {
      guard();
      const [first] = keys;
      return (first ? await ask(statements.toLookup(table, first as Row), keys as readonly Row[]) : []) as never;
    },
  };
}

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
