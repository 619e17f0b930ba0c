import { writeFact } from "../db/facts.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import type { PgTx } from "../db/postgres/transactions.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { CLOCK_FACT, type Snapshots, type StoredClock } from "./snapshots.ts";

interface Table {
  schema: string;
  name: string;
}

const PREFIX = "mailsvc_snapshot_";

// Without the registry of running processes.
const TABLES = `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname = current_schema() and c.relname <> 'workers' order by 2`;

const COLUMNS = `select string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns from information_schema.columns
  where table_schema = $1 and table_name = $2 and is_generated = 'NEVER'`;

/** Sequences continue after the largest number in their column. */
const COUNTERS = `select c.table_schema as schema, c.table_name as name, c.column_name as column,
    pg_get_serial_sequence(quote_ident(c.table_schema) || '.' || quote_ident(c.table_name), c.column_name) as sequence
  from information_schema.columns c where c.table_schema = current_schema()
    and pg_get_serial_sequence(quote_ident(c.table_schema) || '.' || quote_ident(c.table_name), c.column_name) is not null
    and (c.is_identity = 'YES' or c.column_default like 'nextval(%')`;

const STORED = `select n.nspname as schema, obj_description(n.oid) as taken,
    coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as size
  from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
  where n.nspname like '${PREFIX.replaceAll("_", "\\_")}%' group by n.oid, n.nspname order by n.nspname`;

/** Snapshots as schemas next to the tables, each with a copy of every table. */
export function postgresSnapshots(db: PostgresDb): Snapshots {
  const list: Snapshots["list"] = async () =>
    (await db.read.raw<{ schema: string; taken: string; size: number }>(STORED)).map(({ schema, taken, size }) => ({
      name: schema.slice(PREFIX.length),
      takenAt: taken,
      size,
    }));
  const find = async (name: string) => {
    const found = (await list()).find((s) => s.name === name);
    if (!found) throw notFound("snapshot", name);
    return found;
  };
  return {
    list,

    take: async (name, clock) => {
      const schema = PREFIX + name;
      await db.tx(async (tx) => {
        await writeFact(tx, CLOCK_FACT, JSON.stringify(clock));
        await tx.raw(`drop schema if exists ${quoteIdentifier(schema)} cascade`);
        await tx.raw(`create schema ${quoteIdentifier(schema)}`);
        const [now] = await tx.raw<{ ms: number }>("select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms");
        await tx.raw(`comment on schema ${quoteIdentifier(schema)} is '${iso(now?.ms ?? 0)}'`);
        for (const table of await tx.raw<Table>(TABLES))
          await tx.raw(
            `create table ${qualifiedName({ schema, name: table.name })} as select ${await listColumns(tx, table)} from ${qualifiedName(table)}`,
          );
      });
      return find(name);
    },

    restore: async (name) => {
      const snapshot = await find(name);
      const mark = await db.tx(async (tx) => {
        const tables = await tx.raw<Table>(TABLES);
        await tx.raw(`truncate ${tables.map(qualifiedName).join(", ")}`);
        for (const table of tables) {
          const columns = await listColumns(tx, table);
          const from = qualifiedName({ schema: PREFIX + name, name: table.name });
          await tx.raw(`insert into ${qualifiedName(table)} (${columns}) overriding system value select ${columns} from ${from}`);
        }
        await setCounters(tx);
        return (await tx.raw<{ value: string }>("select value from meta where name = $1", [CLOCK_FACT]))[0]?.value;
      });
      return { snapshot, clock: mark === undefined ? null : (JSON.parse(mark) as StoredClock) };
    },

    empty: () =>
      db.tx(async (tx) => {
        const tables = await tx.raw<Table>(TABLES);
        await tx.raw(`truncate ${tables.map(qualifiedName).join(", ")}`);
        await setCounters(tx);
      }),
  };
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function qualifiedName({ schema, name }: Table): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

async function listColumns(tx: PgTx, { schema, name }: Table): Promise<string> {
  return (await tx.raw<{ columns: string }>(COLUMNS, [schema, name]))[0]?.columns ?? "";
}

async function setCounters(tx: PgTx): Promise<void> {
  for (const { sequence, column, ...table } of await tx.raw<Table & { column: string; sequence: string }>(COUNTERS))
    await tx.raw(`select setval($1, coalesce((select max(${quoteIdentifier(column)}) from ${qualifiedName(table)}), 0) + 1, false)`, [
      sequence,
    ]);
}
