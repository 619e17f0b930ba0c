// Writes people with bare prepared statements, in transactions of some size, into the tables the server has, and prints how
// many a second that were. Nothing is looked up and nothing is checked: it is the ceiling of an import.
//
//   node insert.ts <folder | postgres url> <people in a transaction> <people>
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { migratePostgres } from "../../packages/server/src/db/postgres/migrate.ts";
import { migrateSqlite } from "../../packages/server/src/db/sqlite/migrate.ts";
import { personAt } from "../load/persons.ts";

const [target = "", group = "1000", count = "0"] = process.argv.slice(2);
const GROUP = Number(group);
const COUNT = Number(count);
const WORKSPACE = "ws_01kdvdna00bktj2mqmcfs0rmrb";
const AT = 1_790_000_000_000;

const COLUMNS = {
  contacts:
    "seq, id, workspace_id, email, email_key, first_name, last_name, phone, status, tags, custom_fields, search_text, created_at, updated_at",
  contact_tags: "workspace_id, tag_key, contact_seq, status",
  events: "workspace_id, type, email_id, contact_id, at, data",
  contact_counts: "workspace_id, tag_key, status, block, delta",
};
type Table = keyof typeof COLUMNS;
type Value = string | number | null;

const tables = Object.keys(COLUMNS) as Table[];

const TYPES: Readonly<Record<string, string>> = {
  seq: "bigint",
  contact_seq: "bigint",
  created_at: "bigint",
  updated_at: "bigint",
  at: "bigint",
  block: "int",
  delta: "int",
};
const JSON_COLUMNS = new Set(["tags", "custom_fields", "data"]);

process.stdout.write(`${await (/^postgres/.test(target) ? onPostgres() : onSqlite())}`);

/** The rows of people from number `from` on, by table. */
function rowsOf(from: number, n: number): Record<Table, Value[][]> {
  const rows: Record<Table, Value[][]> = { contacts: [], contact_tags: [], events: [], contact_counts: [] };
  const counts = new Map<string, number>();
  for (let i = from; i < from + n; i += 1) {
    const { email, firstName, lastName, tags, customFields } = personAt(i);
    const id = `con_01kdvdna00${i.toString(32).padStart(16, "0")}`;
    const search = `${email}\n${firstName}\n${lastName}\n\n`.toUpperCase();
    rows.contacts.push([
      i + 1,
      id,
      WORKSPACE,
      email,
      email,
      firstName,
      lastName,
      null,
      "SUBSCRIBED",
      JSON.stringify(tags),
      JSON.stringify(customFields),
      search,
      AT,
      AT,
    ]);
    for (const tag of ["", ...tags]) {
      const key = tag.toUpperCase();
      if (key !== "") rows.contact_tags.push([WORKSPACE, key, i + 1, "SUBSCRIBED"]);
      const counted = `${key}\n${Math.floor(i / 8192)}`;
      counts.set(counted, (counts.get(counted) ?? 0) + 1);
    }
    rows.events.push([WORKSPACE, "contact.created", null, id, AT, JSON.stringify({ source: "import", tagsAdded: tags })]);
  }
  for (const [counted, delta] of counts) {
    const [key = "", block] = counted.split("\n");
    rows.contact_counts.push([WORKSPACE, key, "SUBSCRIBED", Number(block), delta]);
  }
  return rows;
}

async function perSecond(write: (rows: Record<Table, Value[][]>) => Promise<void> | void): Promise<number> {
  // Built beforehand, so that building them is not measured.
  const groups = Array.from({ length: Math.ceil(COUNT / GROUP) }, (_, i) => rowsOf(i * GROUP, Math.min(GROUP, COUNT - i * GROUP)));
  const from = performance.now();
  for (const rows of groups) await write(rows);
  return (COUNT / (performance.now() - from)) * 1000;
}

async function onSqlite(): Promise<number> {
  mkdirSync(target, { recursive: true });
  const db = new Database(join(target, "mailsvc.db"));
  for (const pragma of [
    "journal_mode = WAL",
    "synchronous = FULL",
    "wal_autocheckpoint = 4000",
    "cache_size = -32000",
    "temp_store = MEMORY",
  ])
    db.pragma(pragma);
  migrateSqlite(db, "bench");
  const statements = new Map(
    tables.map((table) => [table, db.prepare(`INSERT INTO ${table} (${COLUMNS[table]}) VALUES (${COLUMNS[table].replace(/\w+/g, "?")})`)]),
  );
  const write = db.transaction((rows: Record<Table, Value[][]>) => {
    for (const table of tables) for (const row of rows[table]) statements.get(table)?.run(...row);
  });
  try {
    return await perSecond((rows) => write(rows));
  } finally {
    db.close();
  }
}

async function onPostgres(): Promise<number> {
  await migratePostgres({ connectionString: target }, { version: "bench" });
  const client = new pg.Client({ connectionString: target });
  await client.connect();
  try {
    await client.query(`TRUNCATE ${tables.join(", ")}`);
    const texts = new Map(
      tables.map((table) => {
        const columns = COLUMNS[table].split(", ");
        const values = columns.map((c) => (JSON_COLUMNS.has(c) ? `${c}::json` : c)).join(", ");
        const arrays = columns.map((c, i) => `$${i + 1}::${TYPES[c] ?? "text"}[]`).join(", ");
        return [
          table,
          `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values} FROM unnest(${arrays}) AS v (${columns.join(", ")})`,
        ] as const;
      }),
    );
    return await perSecond(async (rows) => {
      await client.query("BEGIN");
      for (const table of tables)
        await client.query({
          name: table,
          text: texts.get(table) ?? "",
          values: COLUMNS[table].split(", ").map((_, i) => rows[table].map((row) => row[i])),
        });
      await client.query("COMMIT");
    });
  } finally {
    await client.end();
  }
}
