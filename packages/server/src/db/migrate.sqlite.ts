import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";

/** The folder of a dialect's migrations: beside the bundle once built, at the package's root in the source. */
export const migrationsFolder = (dialect: "sqlite" | "pg"): string => {
  const built = fileURLToPath(new URL(`./migrations/${dialect}`, import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL(`../../migrations/${dialect}`, import.meta.url));
};

/** Brings a database up to date. Each migration is one transaction, so a kill in the middle leaves nothing half done. */
export const migrateSqlite = (connection: Database.Database): void => {
  migrate(drizzle(connection), { migrationsFolder: migrationsFolder("sqlite") });
};
