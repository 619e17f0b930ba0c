// Writes everything that is generated and committed: openapi.json, docs/reference and the migrations.
// Run it after changing the contract or a table: npm run generate
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import "./sources.mjs";
import { dialects, generateMigrations, migrationsOf } from "./migrations.mjs";

// Loaded only now, when the packages' names lead to their sources.
const { generated } = await import("./generated.mjs");
const pages = new URL("../docs/reference/", import.meta.url);
// Pages of nouns that are gone.
rmSync(pages, { recursive: true, force: true });
mkdirSync(pages);
for (const [file, text] of Object.entries(generated())) {
  writeFileSync(new URL(`../${file}`, import.meta.url), text);
  console.error(`Wrote ${file}`);
}
for (const kind of dialects) {
  await generateMigrations(kind, migrationsOf(kind.name));
  console.error(`Migrations of ${kind.name} are up to date`);
}
