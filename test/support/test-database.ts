import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { createDatabase } from "../../packages/server/test/postgres.ts";
import { quickFolder } from "../../packages/server/test/quick-folder.ts";

type Row = Record<string, unknown>;

/** The database of a server under test, which tests can query whether or not the server runs. */
export interface TestDatabase {
  /** Folder for crash points, ready files and data. */
  readonly folder: string;
  readonly flags: readonly string[];
  /** All that is stored: the bytes of the files, or every row of every table as text. */
  bytes(): Promise<Buffer>;
  /** SQL that both databases understand; without parameters. */
  query<R = Row>(sql: string): Promise<R[]>;
  clear(): Promise<void>;
}

const TABLES = `select format('%I.%I', schemaname, tablename) as name from pg_tables
  where schemaname not in ('pg_catalog', 'information_schema')`;

/** The databases by the name of their database. */
export const testDatabases = { sqlite: onSqlite, postgres: onPostgres };

/** True if bytes hold a text as it is, in hexadecimal digits or in base 64. */
export function containsText(bytes: Buffer, text: string): boolean {
  const plain = Buffer.from(text);
  // In base 64 a text looks different at each of three places; what its neighbours share in is cut off.
  const coded = [0, 1, 2].map((shift) => {
    const code = Buffer.concat([Buffer.alloc(shift), plain]).toString("base64");
    return code.slice(shift === 0 ? 0 : 4, -4);
  });
  return [text, plain.toString("hex"), ...coded].some((form) => bytes.includes(form));
}

/** SQL that copies an activation `n` times, each copy for its own brand: no endpoint makes so many brands. */
export function copiesOf(columns: readonly string[], activationId: string, n: number): string[] {
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${n})`;
  const changed: Record<string, string> = {
    id: "substr(a.id, 1, 24) || (100000 + n)",
    workspace_id: "substr(a.id, 1, 24) || (100000 + n)",
    key_hash: "a.id || n",
    sequence: "0",
  };
  const picked = columns.map((name) => changed[name] ?? `a.${name}`).join(", ");
  return [
    `${numbers} INSERT INTO workspaces (id, name, replies, created_at) SELECT ${changed.workspace_id}, 'brand', false, 0 FROM activations a, numbers
      WHERE a.id = '${activationId}'`,
    `${numbers} INSERT INTO activations (${columns.join(", ")}) SELECT ${picked} FROM activations a, numbers WHERE a.id = '${activationId}'`,
  ];
}

async function onSqlite(): Promise<TestDatabase> {
  // Uses memory if possible: a killed process leaves its writes there as well as on a disk, which takes milliseconds for each COMMIT.
  const folder = mkdtempSync(join(quickFolder(), "mailsvc-database-"));
  const data = join(folder, "data");
  return {
    folder,
    flags: [],
    bytes: async () =>
      Buffer.concat(
        readdirSync(data)
          .filter((name) => name.startsWith("mailsvc.db"))
          .map((name) => readFileSync(join(data, name))),
      ),
    query: async <R>(sql: string) => {
      const db = new Database(join(data, "mailsvc.db"), { timeout: 5000 });
      try {
        const statement = db.prepare(sql);
        if (statement.reader) return statement.all() as R[];
        statement.run();
        return [];
      } finally {
        db.close();
      }
    },
    clear: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function onPostgres(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-database-"));
  const { url, drop } = await createDatabase();
  // One connection for all that is looked up: to open one costs more than most queries.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    folder,
    flags: ["--database-url", url],
    bytes: async () => {
      const { rows: tables } = await client.query<{ name: string }>(TABLES);
      const texts: string[] = [];
      for (const { name } of tables) {
        const { rows } = await client.query<{ all: string | null }>(`select string_agg(t::text, '\n') as all from ${name} t`);
        texts.push(rows[0]?.all ?? "");
      }
      return Buffer.from(texts.join("\n"));
    },
    query: async <R>(sql: string) => (await client.query(sql)).rows as R[],
    clear: async () => {
      await client.end();
      rmSync(folder, { recursive: true, force: true });
      await drop();
    },
  };
}
