// Writes everything that is generated and committed: openapi.json, docs/reference and the migrations.
// Run it after changing the contract or a table: npm run generate
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import "./sources.mjs";
import { dialects, generateMigrations, migrationsOf } from "./migrations.mjs";

// Imported only now, after sources.mjs has mapped the names of the packages to their sources.
const { generated } = await import("./generated.mjs");
const pages = new URL("../docs/reference/", import.meta.url);
const files = Object.entries(await generated());
const written = files.filter(([file, text]) => replaceText(file, text));
for (const [file] of written) console.error(`Wrote ${file}`);
console.error(`${files.length - written.length} files are up to date`);
// Pages of nouns that no longer exist.
for (const page of readdirSync(pages)) if (!files.some(([file]) => file === `docs/reference/${page}`)) rmSync(new URL(page, pages));
for (const kind of dialects) {
  await generateMigrations(kind, migrationsOf(kind.name));
  console.error(`Migrations of ${kind.name} are up to date`);
}

/** Replaces the text of a file at once, so that who reads it meanwhile sees the old or the new one. False if it has that text already. */
function replaceText(file, text) {
  const path = new URL(`../${file}`, import.meta.url);
  try {
    if (readFileSync(path, "utf8") === text) return false;
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  mkdirSync(new URL("./", path), { recursive: true });
  const written = new URL(`${path.href}.${process.pid}`);
  writeFileSync(written, text);
  renameSync(written, path);
  return true;
}
