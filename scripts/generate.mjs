// Writes everything that is generated and committed: openapi.json, docs/reference.md and the migrations.
// Run it after changing the contract or a table: npm run generate
import { writeFileSync } from "node:fs";
import "./sources.mjs";
import { dialects, generateMigrations, migrationsOf } from "./migrations.mjs";

// Loaded only now, when the packages' names lead to their sources.
const { generated } = await import("./generated.mjs");
for (const [file, text] of Object.entries(generated())) {
  writeFileSync(new URL(`../${file}`, import.meta.url), text);
  console.error(`Wrote ${file}`);
}
for (const kind of dialects) {
  await generateMigrations(kind, migrationsOf(kind.name));
  console.error(`Migrations of ${kind.name} are up to date`);
}
