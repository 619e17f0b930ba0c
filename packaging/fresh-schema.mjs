// Schema after all migrations of SQLite, as one script for new databases: running the migrations would alter their empty tables one by
// one, which takes a third of the first start.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";

const folder = join(fileURLToPath(new URL("../", import.meta.url)), "packages/server/migrations/sqlite");

/** The SQL for an empty database. Throws when the migrations put rows into one: those would be missing. */
export function freshSchema() {
  const db = new Database(":memory:");
  try {
    migrate(drizzle(db), { migrationsFolder: folder });
    const tables = db.prepare("SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'").all();
    const made = tables.filter(({ type }) => type === "table").map(({ name }) => name);
    // Shadow tables of the full-text search come with its virtual tables.
    const shadows = new Set(tables.filter(({ type }) => type === "shadow").map(({ name }) => name));
    const filled = made.filter((name) => name !== "__drizzle_migrations" && db.prepare(`SELECT 1 FROM "${name}"`).get());
    if (filled.length > 0) throw new Error(`The migrations fill tables of an empty database: ${filled.join(", ")}.`);
    const schema = db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
      .all()
      .filter(({ name }) => !shadows.has(name))
      .map(({ sql }) => `${sql};`);
    const done = db
      .prepare("SELECT hash, created_at FROM __drizzle_migrations ORDER BY created_at")
      .all()
      .map(({ hash, created_at }) => `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('${hash}', ${created_at});`);
    return [...schema, ...done, ""].join("\n");
  } finally {
    db.close();
  }
}
