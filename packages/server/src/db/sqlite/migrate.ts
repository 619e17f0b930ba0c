import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { lastMigration, migrationsFolder } from "../migrations.ts";

/**
 * Brings a database up to date. Each migration is one transaction, so a kill in the middle leaves nothing half done. Of one that
 * is up to date no migration is read: a twentieth of a start.
 */
export function migrateSqlite(connection: Database.Database): void {
  const folder = migrationsFolder("sqlite");
  if ((reached(connection) ?? -1) < lastMigration(folder)) migrate(drizzle(connection), { migrationsFolder: folder });
}

/** Brings a database file up to date that nobody has opened, then runs `also` on it, as one transaction. */
export function migrateFile(file: string, also: string): void {
  const connection = new Database(file, { fileMustExist: true });
  try {
    migrateSqlite(connection);
    connection.transaction(() => void connection.exec(also))();
  } finally {
    connection.close();
  }
}

/** When the last migration that has been run was made; null for an empty database. */
function reached(connection: Database.Database): number | null {
  const table = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'").get();
  return table ? (connection.prepare("SELECT max(created_at) FROM __drizzle_migrations").pluck().get() as number | null) : null;
}
