import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { type Convert, convertValue, findEncoder } from "./values.ts";

type Row = Readonly<Record<string, unknown>>;
/** Runs a statement, and tells how many rows it changed. */
type Run = (...params: unknown[]) => { readonly changes: number };

/** A statement that changes a row, with the columns of its parameters in order. */
interface Update {
  readonly run: Run;
  readonly set: readonly Field[];
  readonly where: readonly Field[];
}

interface Field {
  readonly key: string;
  readonly convert: Convert;
}

/**
 * `updateAll` on SQLite: a prepared statement for each row, all of which run at once, in order. The count of
 * changed rows costs half of what returning a column does.
 */
export function createUpdates(compile: (sql: string) => Run): Pick<Tx, "updateAll"> {
  const updates = new Map<string, Update>();
  return {
    updateAll: async (table, changes) => {
      const [first] = changes;
      if (!first) return [];
      const name = `${getTableName(table)} ${Object.keys(first.where)} ${Object.keys(first.set)}`;
      let update = updates.get(name);
      if (!update) {
        update = toUpdate(table, Object.keys(first.where), Object.keys(first.set), compile);
        updates.set(name, update);
      }
      const { run, set, where } = update;
      return changes.map((change) => {
        const params: unknown[] = [];
        for (const { key, convert } of set) params.push(convertValue(convert, (change.set as Row)[key]));
        for (const { key, convert } of where) params.push(convertValue(convert, (change.where as Row)[key]));
        return run(...params).changes > 0;
      });
    },
  };
}

function toUpdate(table: PgTable, where: readonly string[], set: readonly string[], compile: (sql: string) => Run): Update {
  const columns = getTableColumns(table) as Record<string, PgColumn>;
  const toField = (key: string): Field => ({ key, convert: findEncoder(columns[key] as PgColumn) });
  const quote = (key: string): string => `"${(columns[key] as PgColumn).name}"`;
  const assignments = set.map((key) => `${quote(key)} = ?`);
  const conditions = where.map((key) => `${quote(key)} ${(columns[key] as PgColumn).notNull ? "=" : "is"} ?`);
  return {
    run: compile(`update "${getTableName(table)}" set ${assignments.join(", ")} where ${conditions.join(" and ")}`),
    set: set.map(toField),
    where: where.map(toField),
  };
}
