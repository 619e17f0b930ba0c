import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Next to the bundle, next to the folder of its chunks, and in the source at the package's root.
const LOCATIONS = ["./migrations", "../migrations", "../../migrations"];

/** The folder with the migrations of a database. */
export function migrationsFolder(dialect: "sqlite" | "pg"): string {
  const folders = LOCATIONS.map((location) => fileURLToPath(new URL(`${location}/${dialect}`, import.meta.url)));
  const found = folders.find((folder) => existsSync(folder));
  if (!found) throw new Error(`The migrations of this build are missing: ${folders[0]}.`);
  return found;
}

/** The SQL that makes a new database, which the build writes; null in the sources, where all migrations make it. */
export function readFreshSchema(folder: string): string | null {
  const file = join(folder, "fresh.sql");
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** Returns the creation time of each migration in a folder, ms, oldest first. */
export function listMigrations(folder: string): number[] {
  const { entries } = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8")) as { entries: { when: number }[] };
  return entries.map(({ when }) => when);
}
