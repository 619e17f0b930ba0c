import type { PostgresDb } from "../postgres/database.ts";
import { COPY_TABLE } from "../postgres/migrate.ts";
import type { PgTx } from "../postgres/transactions.ts";
import { readRows } from "./postgres-rows.ts";
import { list, quote, RowSum, type Shape, type Value } from "./shapes.ts";

/** The Postgres side of a copy. */
interface Target {
  /** The installation that is being copied here; null when none is. */
  begun(): Promise<string | null>;
  isEmpty(): Promise<boolean>;
  begin(source: string): Promise<void>;
  /** Number of rows of a table that have been copied. */
  progress(table: string): Promise<number>;
  /** Runs `write` and records how many rows have been copied, in one transaction. */
  chunk(table: string, rows: number, write: (tx: PgTx) => Promise<void>): Promise<void>;
  insert(tx: PgTx, shape: Shape, rows: readonly Value[][]): Promise<void>;
  /** Reads a whole table back. */
  sum(shape: Shape): Promise<RowSum>;
  setCounter(shape: Shape): Promise<void>;
  /** Opens the database to servers, and stores facts that the folder kept next to its database. */
  finish(facts: Readonly<Record<string, string>>): Promise<void>;
}

export function openTarget(db: PostgresDb): Target {
  const { raw } = db.read;
  return {
    begun: async () => {
      const [table] = await raw<{ there: boolean }>(`select to_regclass('${COPY_TABLE}') is not null as there`);
      if (!table?.there) return null;
      const [row] = await raw<{ source: string }>(`select source from ${COPY_TABLE} limit 1`);
      return row?.source ?? null;
    },
    isEmpty: async () => {
      const [row] = await raw<{ n: number }>("select count(*)::int as n from workspaces");
      return row?.n === 0;
    },
    begin: (source) =>
      db.tx(async (tx) => {
        await tx.raw(`create table ${COPY_TABLE} (name text primary key, rows bigint not null, source text not null)`);
        await tx.raw(`insert into ${COPY_TABLE} values ('', 0, $1)`, [source]);
      }),
    progress: async (table) => {
      const [row] = await raw<{ rows: number }>(`select rows::float8 as rows from ${COPY_TABLE} where name = $1`, [table]);
      return row?.rows ?? 0;
    },
    chunk: (table, rows, write) =>
      db.tx(async (tx) => {
        await write(tx);
        await tx.raw(
          `insert into ${COPY_TABLE} select $1, $2, source from ${COPY_TABLE} where name = ''
           on conflict (name) do update set rows = excluded.rows`,
          [table, rows],
        );
      }),
    insert: async (tx, { table, columns }, rows) => {
      const parameters = columns.map((c, i) => `$${i + 1}::${c.type === "json" ? "text" : c.type}[]`);
      const values = columns.map((c, i) => (c.type === "json" ? `v.c${i}::json` : `v.c${i}`));
      await tx.raw(
        `insert into ${quote(table)} (${list(columns.map((c) => c.name))}) select ${values.join(", ")}
         from unnest(${parameters.join(", ")}) as v (${columns.map((_, i) => `c${i}`).join(", ")})`,
        columns.map((_, i) => rows.map((row) => row[i])),
      );
    },
    sum: async (shape) => {
      const sum = new RowSum();
      for await (const rows of readRows(db.read, shape)) for (const row of rows) sum.add(row);
      return sum;
    },
    setCounter: async ({ table, counter }) => {
      if (counter === null) return;
      await raw(
        `select setval(pg_get_serial_sequence($1, $2), coalesce((select max(${quote(counter)}) from ${quote(table)}), 0) + 1, false)`,
        [quote(table), counter],
      );
    },
    finish: (facts) =>
      db.tx(async (tx) => {
        for (const [name, value] of Object.entries(facts))
          await tx.raw("insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value", [
            name,
            value,
          ]);
        await tx.raw(`drop table ${COPY_TABLE}`);
      }),
  };
}
