// Writes everything that is generated and committed: openapi.json, docs/reference and the migrations.
// Run it after changing the contract or a table: npm run generate
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import "./sources.mjs";
import { dialects, generateMigrations, migrationsOf } from "./migrations.mjs";

// Imported only now, after sources.mjs has mapped the names of the packages to their sources.
const { generated } = await import("./generated.mjs");
const pages = new URL("../docs/reference/", import.meta.url);
const files = Object.entries(await generated());
// Deletes the pages of nouns that no longer exist.
rmSync(pages, { recursive: true, force: true });
mkdirSync(pages);
for (const [file, text] of files) {
  mkdirSync(new URL("./", new URL(`../${file}`, import.meta.url)), { recursive: true });
  writeFileSync(new URL(`../${file}`, import.meta.url), text);
  console.error(`Wrote ${file}`);
}
for (const kind of dialects) {
  await generateMigrations(kind, migrationsOf(kind.name));
  console.error(`Migrations of ${kind.name} are up to date`);
}
