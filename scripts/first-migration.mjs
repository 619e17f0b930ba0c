// Replaces all migrations of both databases by one, `0000_init`: the tables of the code, and the statements that drizzle-kit cannot
// generate (scripts/by-hand). Only before the first release: data of a release needs its migrations.
//
//   node scripts/first-migration.mjs
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import "./sources.mjs";
import { dialects, generateMigrations, migrationsOf } from "./migrations.mjs";

for (const kind of dialects) {
  const folder = migrationsOf(kind.name);
  rmSync(folder, { recursive: true, force: true });
  await generateMigrations(kind, folder, ["--name=init"]);
  const byHand = readFileSync(new URL(`by-hand/${kind.name}.sql`, import.meta.url), "utf8");
  appendFileSync(join(folder, "0000_init.sql"), `\n--> statement-breakpoint\n${byHand}`);
  console.error(`${kind.name}: one migration`);
}
