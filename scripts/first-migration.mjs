// Replaces all migrations of both databases by one, `0000_init`: the tables of the code, and the statements that drizzle-kit cannot
// generate (scripts/by-hand). Only before the first release: data of a release needs its migrations.
//
// A migration whose statements stay as they are keeps its time too, by which servers know data of another build.
//
//   node scripts/first-migration.mjs
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "./sources.mjs";
import { dialects, generateMigrations, migrationsOf } from "./migrations.mjs";

for (const kind of dialects) {
  const folder = migrationsOf(kind.name);
  const file = join(folder, "0000_init.sql");
  const kept = mkdtempSync(join(tmpdir(), "mailsvc-migration-"));
  const before = existsSync(file) ? readMigration(folder) : null;
  if (before !== null) cpSync(folder, kept, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  await generateMigrations(kind, folder, ["--name=init"]);
  const byHand = readFileSync(new URL(`by-hand/${kind.name}.sql`, import.meta.url), "utf8");
  appendFileSync(file, `\n--> statement-breakpoint\n${byHand}`);
  if (readMigration(folder) === before) {
    rmSync(folder, { recursive: true });
    cpSync(kept, folder, { recursive: true });
  }
  rmSync(kept, { recursive: true });
  console.error(`${kind.name}: one migration`);
}

/** The statements and the tables of a migration. Its snapshot has another id each time; after a merge it may be older than the statements. */
function readMigration(folder) {
  const { id: _, ...tables } = JSON.parse(readFileSync(join(folder, "meta/0000_snapshot.json"), "utf8"));
  return JSON.stringify([readFileSync(join(folder, "0000_init.sql"), "utf8"), tables]);
}
