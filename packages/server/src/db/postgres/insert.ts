import { getTableColumns } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

type Row = Readonly<Record<string, unknown>>;
type Raw = <R extends Record<string, unknown>>(text: string, values: unknown[], name: string) => Promise<R[]>;

/** `insertAll` and `nextNumbers` on Postgres: one statement with an array per column as parameters, so that its text never changes. */
export function createInserts(raw: Raw): Pick<Tx, "insertAll" | "nextNumbers"> {
  const statements = new Map<string, { text: string; name: string; values(rows: readonly Row[]): unknown[] }>();
  const build = (table: PgTable, counted: boolean) => {
    const { name } = getTableConfig(table);
    const columns = Object.entries(getTableColumns(table)).filter(([, c]) => !counted || c.getSQLType() !== "bigserial");
    const type = (sqlType: string): string => (sqlType === "json" ? "text" : sqlType === "bigserial" ? "bigint" : sqlType);
    const parameters = columns.map(([, c], i) => `$${i + 1}::${type(c.getSQLType())}[]`);
    const values = columns.map(([, c], i) => (c.getSQLType() === "json" ? `v.c${i}::json` : `v.c${i}`));
    return {
      name: `insert_all_${name}_${columns.length}`,
      // When two transactions insert the same key, the later one would fail for good without ON CONFLICT; with it, it runs again.
      text:
        `insert into ${quote(name)} (${columns.map(([, c]) => quote(c.name)).join(", ")}) select ${values.join(", ")} ` +
        `from unnest(${parameters.join(", ")}) as v (${columns.map((_, i) => `c${i}`).join(", ")}) on conflict do nothing`,
      values: (rows: readonly Row[]) =>
        columns.map(([key, c]) => rows.map((row) => (row[key] === undefined || row[key] === null ? null : c.mapToDriverValue(row[key])))),
    };
  };
  return {
    insertAll: async (table, rows) => {
      const first = rows[0] as Row | undefined;
      if (!first) return;
      const { name, columns } = getTableConfig(table);
      const counter = Object.entries(getTableColumns(table)).find(([, c]) => c.getSQLType() === "bigserial")?.[0];
      const counted = counter !== undefined && first[counter] === undefined;
      const key = `${name} ${counted} ${columns.length}`;
      let statement = statements.get(key);
      if (!statement) {
        statement = build(table, counted);
        statements.set(key, statement);
      }
      await raw(statement.text, statement.values(rows as readonly Row[]), statement.name);
    },
    nextNumbers: async (table, n) => {
      const { name, columns } = getTableConfig(table);
      const counter = columns.find((c) => c.getSQLType() === "bigserial");
      if (!counter) throw new Error(`${name} has no counter.`);
      const rows = await raw<{ n: string }>(
        `select nextval(pg_get_serial_sequence($1, $2)) as n from generate_series(1, $3::int)`,
        [quote(name), counter.name, n],
        "next_numbers",
      );
      return rows.map((row) => Number(row.n)).sort((a, b) => a - b);
    },
  };
}

function quote(name: string): string {
  return `"${name}"`;
}
