// Generates migrations for both databases from the tables in packages/server/src, with drizzle-kit.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../", import.meta.url));
const server = join(root, "packages/server");
const cache = join(root, "node_modules/.cache");
const kit = join(root, "node_modules/drizzle-kit/bin.cjs");

export const dialects = [
  { name: "sqlite", dialect: "sqlite" },
  { name: "pg", dialect: "postgresql" },
];

// Tables of SQLite that are only looked up by their primary key: WITHOUT ROWID they are one b-tree instead of two. Drizzle cannot
// declare that.
const WITHOUT_ROWID = [
  "campaign_link_clicks",
  "campaign_links",
  "campaign_reactions",
  "email_labels",
  "emails",
  "engagements",
  "event_runs",
  "held_domains",
  "held_emails",
  "held_requests",
  "inbound_reports",
  "list_members",
  "segment_members",
  "tallies",
  "webhook_deliveries",
  "webhook_streams",
];

const withoutRowid = (sql) =>
  WITHOUT_ROWID.reduce((text, table) => text.replace(new RegExp(`(CREATE TABLE \`${table}\` \\([^;]*\\));`), "$1 WITHOUT ROWID;"), sql);

/** Texts of Postgres are compared by their bytes, as on SQLite: ids sort by time in every language, and an index finds a prefix. */
const byBytes = (sql) => sql.replace(/^(\t"\w+"|ALTER TABLE "\w+" ADD COLUMN "\w+") text\b/gm, '$1 text COLLATE "C"');

/** Changes to SQL that drizzle-kit cannot declare. */
const amended = { sqlite: withoutRowid, pg: byBytes };

const sqlFiles = (folder) => (existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".sql")) : []);

/** Writes a module with a named export for each table, the only form in which drizzle-kit finds them. */
const writeSchema = async (name) => {
  const source = join(server, `src/schema.${name}.ts`);
  const { tables } = await import(source);
  const file = join(cache, `schema.${name}.ts`);
  mkdirSync(cache, { recursive: true });
  writeFileSync(file, `import { tables } from ${JSON.stringify(source)};\nexport const { ${Object.keys(tables).join(", ")} } = tables;\n`);
  return file;
};

/** Writes the missing migration of a database into `out`, if its tables have changed. A question of drizzle-kit fails it: answer it by hand. */
export const generateMigrations = async ({ name, dialect }, out, options = []) => {
  const before = new Set(sqlFiles(out));
  const schema = await writeSchema(name);
  const child = promisify(execFile)(
    process.execPath,
    [kit, "generate", `--dialect=${dialect}`, `--schema=${relative(server, schema)}`, `--out=${relative(server, out)}`, ...options],
    { cwd: server, timeout: 60_000 },
  );
  child.child.stdin?.end();
  const { stdout, stderr } = await child;
  if (!/No schema changes|migration file/.test(stdout)) throw new Error(`drizzle-kit, ${name}:\n${stdout}${stderr}`);
  for (const file of sqlFiles(out).filter((one) => !before.has(one)))
    writeFileSync(join(out, file), amended[name](readFileSync(join(out, file), "utf8")));
};

export const migrationsOf = (name) => join(server, "migrations", name);

/** Files, with their texts, that a run would change or add; empty when nothing is stale. */
export const staleMigrations = async (kind) => {
  // Inside the package: drizzle-kit takes relative paths only.
  mkdirSync(cache, { recursive: true });
  const copy = mkdtempSync(join(cache, "migrations-"));
  try {
    const committed = migrationsOf(kind.name);
    cpSync(committed, copy, { recursive: true });
    await generateMigrations(kind, copy);
    const same = (file) => {
      try {
        return readFileSync(join(copy, file), "utf8") === readFileSync(join(committed, file), "utf8");
      } catch {
        return false;
      }
    };
    const files = readdirSync(copy, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.map((entry) => relative(copy, join(entry.parentPath, entry.name))).filter((file) => !same(file));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};
