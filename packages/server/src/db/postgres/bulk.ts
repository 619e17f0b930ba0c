import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { UniqueViolation } from "../errors.ts";
import { cutIntoStretches } from "../stretches.ts";
import { quote, type Row } from "./arrays.ts";
import { listArrays, toArrays } from "./insert.ts";
import type { SharedQuery } from "./lookup.ts";
import type { Raw, Run } from "./query.ts";
import type { TableStatements } from "./table-statements.ts";

/** `insertAll`, `insertNumbered` and `nextNumbers` of an ordinary transaction: one statement for all rows, or for a megabyte of them. */
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
    nextNumbers: (table, n) => ask(raw, statements.toNumberQuery(table), n),
  };
}

/** `lookUp` of an ordinary transaction. */
export function createLookups(raw: Raw, statements: TableStatements): Pick<Tx, "lookUp"> {
  return {
    lookUp: async (table, keys) => {
      const [first] = keys;
      return (first ? await ask(raw, statements.toLookup(table, first as Row), keys as readonly Row[]) : []) as never;
    },
  };
}

/** Asks a shared query for one caller. */
async function ask<Request, Answer>(raw: Raw, query: SharedQuery<Request, Answer>, request: Request): Promise<Answer> {
  const rows = await raw<Record<string, unknown>>(query.text, query.values([request]), query.name);
  const [answer] = query.split(rows, [request]);
  return answer as Answer;
}
