import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { startPostgres } from "../packages/server/test/postgres-server.ts";
import { type MailsvcContender, mailsvc } from "./contenders.ts";

export type Dialect = "sqlite" | "postgres";

/** A database on which servers start, and which is filled while none of them runs: through the API a million rows take minutes. */
export interface Store {
  readonly dialect: Dialect;
  start(flags?: readonly string[]): Promise<MailsvcContender>;
  fill(statements: readonly string[]): Promise<void>;
  dispose(): Promise<void>;
}

export async function openSqlite(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const data = join(folder, "data");
  return {
    dialect: "sqlite",
    start: (flags = []) => mailsvc({ data, flags }),
    fill: async (statements) => {
      const db = new Database(join(data, "mailsvc.db"));
      // Indexes of ten million rows in no order: with the usual cache of 16 MB each entry reads its page again.
      db.exec("pragma cache_size = -3000000; pragma synchronous = off");
      for (const statement of statements) db.exec(statement);
      db.close();
    },
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function openPostgres(): Promise<Store> {
  const database = await startPostgres({ durable: true });
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  return {
    dialect: "postgres",
    start: (flags = []) => mailsvc({ data: join(folder, "data"), flags: ["--database-url", database.url, ...flags] }),
    fill: async (statements) => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query("set maintenance_work_mem = '1GB'");
      // Entries of an index in no order take most of an hour; made at once, they are sorted.
      const indexes = await dropIndexes(client, statements);
      // The server would learn after a while what the tables hold now.
      for (const statement of [...statements, ...indexes, "vacuum analyze"]) await client.query(statement);
      await client.end();
    },
    dispose: async () => {
      await database.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Drops the indexes of tables that get many rows, and returns the statements that make them again. */
async function dropIndexes(client: pg.Client, statements: readonly string[]): Promise<string[]> {
  const tables = statements.filter((text) => text.includes("generate_series")).map((text) => /^insert into (\w+)/.exec(text)?.[1]);
  const { rows } = await client.query<{ table: string; index: string; definition: string; key: string | null }>(
    `select t.relname as table, x.relname as index, pg_get_indexdef(x.oid) as definition, pg_get_constraintdef(k.oid) as key
     from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class t on t.oid = i.indrelid left join pg_constraint k on k.conindid = x.oid
     where t.relname = any ($1) and t.relnamespace = 'public'::regnamespace`,
    [tables],
  );
  for (const { table, index, key } of rows)
    await client.query(key === null ? `drop index ${index}` : `alter table ${table} drop constraint ${index}`);
  return rows.map(({ table, index, definition, key }) =>
    key === null ? definition : `alter table ${table} add constraint ${index} ${key}`,
  );
}

/** The words of a database for statements that make many rows. */
interface ManyRows {
  /** The source of rows whose numbers `i` are 1 to `n`. */
  rows(n: number): string;
  /** An id by the number of its row. */
  toId(prefix: string, number?: string): string;
  /** A JSON text. */
  json(text: string): string;
  /** Numbers that do not fit into 32 bits on Postgres otherwise. */
  big(number: string): string;
  readonly no: string;
}

export function speak(dialect: Dialect): ManyRows {
  return dialect === "postgres"
    ? {
        rows: (n) => `generate_series(1, ${n}) as i`,
        toId: (prefix, number = "i") => `'${prefix}_' || lpad((${number})::text, 26, '0')`,
        json: (text) => `(${text})::json`,
        big: (number) => `(${number})::bigint`,
        no: "false",
      }
    : {
        rows: (n) => `(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${n}) select i from c)`,
        toId: (prefix, number = "i") => `printf('${prefix}_%026d', ${number})`,
        json: (text) => text,
        big: (number) => number,
        no: "0",
      };
}

// Events of a run: those of one commit.
const RUN = 500;

/** Numbers the newest events of a workspace, `n` of them, as read by all readers but some. */
export function numberEvents(dialect: Dialect, workspaceId: string, n: number, unread: readonly string[] = []): string[] {
  const { rows } = speak(dialect);
  const last = n % RUN === 0 ? RUN : n % RUN;
  const readers = ["engagement", "campaigns", "automations", "metrics", "soft_bounces"];
  return [
    `insert into event_runs (workspace_id, position, key, length)
     select '${workspaceId}', 100001 + (i - 1) * ${RUN}, newest - ${n} + 1 + (i - 1) * ${RUN}, case when i = ${Math.ceil(n / RUN)} then ${last} else ${RUN} end
     from ${rows(Math.ceil(n / RUN))}, (select max(sequence) as newest from events) e`,
    `insert into event_streams (workspace_id, last) values ('${workspaceId}', ${100_000 + n}) on conflict (workspace_id) do update set last = excluded.last`,
    ...readers.map((reader) => {
      const position = unread.includes(reader) ? 100_000 : 100_000 + n;
      return `insert into event_readers (reader, workspace_id, position) values ('${reader}', '${workspaceId}', ${position})
       on conflict (workspace_id, reader) do update set position = excluded.position`;
    }),
  ];
}
