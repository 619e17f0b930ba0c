import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { migrationsFolder } from "./migrations.ts";

/** Brings a database up to date. Each migration is one transaction, so a kill in the middle leaves nothing half done. */
export const migrateSqlite = (connection: Database.Database): void => {
  migrate(drizzle(connection), { migrationsFolder: migrationsFolder("sqlite") });
};

/** Brings a database file up to date that nobody has opened, then runs `also` on it, as one transaction. */
export const migrateFile = (file: string, also: string): void => {
  const connection = new Database(file, { fileMustExist: true });
  try {
    migrateSqlite(connection);
    connection.transaction(() => void connection.exec(also))();
  } finally {
    connection.close();
  }
};
