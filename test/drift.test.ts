import { readdirSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { expect, test } from "vitest";
import { freshSchema } from "../packaging/fresh-schema.mjs";
import { generated } from "../scripts/generated.mjs";
import { dialects, staleMigrations } from "../scripts/migrations.mjs";
import { sources } from "./support/sources.ts";

const committed = (file: string): string => {
  try {
    return readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
  } catch {
    return "";
  }
};

const files = await generated();

test.each(Object.entries(files))("%s says what the contract says (else: npm run generate)", (file, text) => {
  expect(committed(file) === text, `${file} is stale. Run npm run generate and commit it.`).toBe(true);
});

test("no script reads what was generated before, so that generating once is enough", () => {
  const readers = [...sources].filter(([path, source]) => path.startsWith("scripts/") && /^import .*\.generated\.ts"/m.test(source));
  expect(readers.map(([path]) => path)).toEqual([]);
});

test.each(dialects)("the $name migrations make the tables of the code (else: npm run generate)", async (kind) => {
  expect(await staleMigrations(kind)).toEqual([]);
});

test.each(dialects)("the $name migrations are those of the journal, and no others lie next to them", ({ name }) => {
  const folder = `packages/server/migrations/${name}`;
  const { entries } = JSON.parse(committed(`${folder}/meta/_journal.json`)) as { entries: { tag: string }[] };
  const files = readdirSync(new URL(`../${folder}/`, import.meta.url)).filter((file) => file.endsWith(".sql"));
  expect(files.sort()).toEqual(entries.map(({ tag }) => `${tag}.sql`).sort());
});

test("a new database of SQLite has the tables, and the record, of one that went through all migrations", () => {
  const fresh = new Database(":memory:");
  fresh.exec(freshSchema());
  const migrated = new Database(":memory:");
  migrate(drizzle(migrated), { migrationsFolder: "packages/server/migrations/sqlite" });
  const facts = (db: Database.Database) => ({
    schema: db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all(),
    done: db.prepare("SELECT hash, created_at FROM __drizzle_migrations ORDER BY created_at").all(),
  });
  expect(facts(fresh).schema.length).toBeGreaterThan(200);
  expect(facts(fresh)).toEqual(facts(migrated));
});

test("docs/reference has no page of a noun that is gone (else: npm run generate)", () => {
  const pages = readdirSync(new URL("../docs/reference/", import.meta.url)).map((name) => `docs/reference/${name}`);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(pages));
});
