import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { migrationsFolder, readFreshSchema } from "../migration-files.ts";
import { type CheckBefore, needsMigration, type SchemaState } from "../migrations.ts";

/**
 * Migrates a database in one transaction, so a kill in the middle leaves nothing half done. A new database is made at once, because
 * altering its empty tables takes as long as the rest of a start. The migrations of a database that is up to date are not read.
 * Throws StorageUnavailable when a newer version of mailsvc has migrated it, and what `check` throws.
 */
export function migrateSqlite(connection: Database.Database, version: string, check?: CheckBefore): void {
  const folder = migrationsFolder("sqlite");
  const state = readState(connection);
  if (!needsMigration(state, folder, version, connection.name)) return;
  if (state.migration !== null && check) check(new Set(connection.prepare("SELECT name FROM meta").pluck().all() as string[]));
  const fresh = isEmpty(connection) ? readFreshSchema(folder) : null;
  if (fresh === null) migrate(drizzle(connection), { migrationsFolder: folder });
  else connection.transaction(() => void connection.exec(fresh))();
  connection.transaction(() => {
    connection.exec("CREATE TABLE IF NOT EXISTS __mailsvc (version TEXT NOT NULL); DELETE FROM __mailsvc");
    connection.prepare("INSERT INTO __mailsvc VALUES (?)").run(version);
  })();
}

/** Migrates a database file that no process has open. */
export function migrateFile(file: string, version: string): void {
  const connection = new Database(file, { fileMustExist: true });
  try {
    migrateSqlite(connection, version);
  } finally {
    connection.close();
  }
}

/** Throws StorageUnavailable when a newer version of mailsvc has migrated a database file. The file is only read. */
export function assertNotNewer(file: string, version: string, name = file): void {
  const connection = new Database(file, { readonly: true, fileMustExist: true });
  try {
    needsMigration(readState(connection), migrationsFolder("sqlite"), version, name);
  } finally {
    connection.close();
  }
}

function isEmpty(connection: Database.Database): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
}

function readState(connection: Database.Database): SchemaState {
  const exists = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").pluck();
  const migration = exists.get("__drizzle_migrations")
    ? (connection.prepare("SELECT max(created_at) FROM __drizzle_migrations").pluck().get() as number | null)
    : null;
  const version = exists.get("__mailsvc")
    ? (connection.prepare("SELECT version FROM __mailsvc").pluck().get() as string | undefined)
    : null;
  return { migration, version: version ?? null };
}
