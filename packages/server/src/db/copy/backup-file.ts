import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { giveToOwnerOfFolder } from "../../lib/folder.ts";
import { storageError } from "../errors.ts";
import { openConnection } from "../sqlite/connection.ts";
import { openError } from "../sqlite/folder.ts";
import { migrateSqlite } from "../sqlite/migrate.ts";
import { list, quote, RowSum, type Shape, type Value } from "./shapes.ts";

/** The rows of one table of a backup and their checksum. */
export interface TableSum {
  readonly table: string;
  readonly rows: number;
  readonly checksum: string;
}

// In the backup file, next to the tables it backs up.
const MANIFEST = "__backup";

const TABLES = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' ORDER BY name`;

/**
 * Copies a SQLite database to an empty file while servers use it: one read transaction sees one state of all tables, and neither
 * waits for writers nor makes them wait. Throws StorageUnavailable when the database cannot be read.
 */
export function copyDatabase(from: string, to: string): void {
  try {
    const source = new Database(from, { readonly: true, fileMustExist: true });
    try {
      source.pragma("busy_timeout = 5000");
      source.prepare("VACUUM INTO ?").run(to);
    } finally {
      source.close();
    }
  } catch (error) {
    throw openError(error, from);
  }
  chmodSync(to, 0o600);
}

/** Creates an empty file for a backup. Throws the file system's error. */
export function createFile(file: string): void {
  closeSync(openSync(file, "wx", 0o600));
  giveToOwnerOfFolder(file);
}

/** The size that a database file should have by its header, in bytes; null when it has no such header. */
export function readDatabaseSize(file: string): number | null {
  const header = Buffer.alloc(100);
  const fd = openSync(file, "r");
  try {
    if (readSync(fd, header) < header.length || !header.toString("latin1").startsWith("SQLite format 3\0")) return null;
  } finally {
    closeSync(fd);
  }
  // A page size of 65,536 does not fit into its two bytes and is stored as 1.
  const pageSize = header.readUInt16BE(16);
  return header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize);
}

/** Creates a database in an empty file with the tables of this version, and returns what inserts rows into it. */
export function createDatabase(file: string, version: string): { insert(shape: Shape, rows: readonly Value[][]): void; close(): void } {
  const connection = openConnection(file, "OFF");
  migrateSqlite(connection, version);
  return {
    insert: ({ table, columns }, rows) => {
      const sql = `INSERT INTO ${quote(table)} (${list(columns.map((c) => c.name))}) VALUES (${columns.map(() => "?").join(", ")})`;
      const statement = connection.prepare(sql);
      connection.transaction(() => {
        for (const row of rows) statement.run(row.map((value) => (typeof value === "boolean" ? Number(value) : value)));
      })();
    },
    close: () => {
      connection.pragma("journal_mode = DELETE");
      connection.close();
    },
  };
}

/** Checks a database file and sums up its rows. Throws StorageUnavailable, which names the remedy, when it is damaged. */
export function checkDatabase(file: string, remedy?: string): TableSum[] {
  try {
    const connection = new Database(file, { readonly: true, fileMustExist: true });
    try {
      const result = connection.pragma("integrity_check", { simple: true });
      if (result !== "ok") throw Object.assign(new Error(String(result)), { code: "SQLITE_CORRUPT" });
      return (connection.prepare(TABLES).pluck().all() as string[]).map((table) => sumTable(connection, table));
    } finally {
      connection.close();
    }
  } catch (error) {
    throw openError(error, file, remedy);
  }
}

/** Stores facts about a backup in its file, and flushes it. */
export function writeManifest(file: string, facts: Readonly<Record<string, string>>): void {
  const connection = new Database(file, { fileMustExist: true });
  try {
    connection.exec(`CREATE TABLE ${MANIFEST} (name TEXT PRIMARY KEY, value TEXT NOT NULL)`);
    const insert = connection.prepare(`INSERT INTO ${MANIFEST} VALUES (?, ?)`);
    connection.transaction(() => {
      for (const [name, value] of Object.entries(facts)) insert.run(name, value);
    })();
  } catch (error) {
    throw storageError(error);
  } finally {
    connection.close();
  }
  flush(file);
}

/** Reads the facts of a backup; null when the file is a database but no backup. Throws StorageUnavailable when it is neither. */
export function readManifest(file: string, remedy: string): Readonly<Record<string, string>> | null {
  try {
    const connection = new Database(file, { readonly: true, fileMustExist: true });
    try {
      if (!connection.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(MANIFEST)) return null;
      const rows = connection.prepare(`SELECT name, value FROM ${MANIFEST}`).all() as { name: string; value: string }[];
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    } finally {
      connection.close();
    }
  } catch (error) {
    throw openError(error, file, remedy);
  }
}

/** Deletes the facts of a backup from a restored file, which then is a database like any other. */
export function deleteManifest(file: string): void {
  const connection = new Database(file, { fileMustExist: true });
  try {
    connection.pragma("secure_delete = ON");
    connection.exec(`DROP TABLE ${MANIFEST}`);
  } finally {
    connection.close();
  }
  flush(file);
}

/** Deletes one row of the table of facts about the installation, and returns its value; null when there is none. */
export function takeFact(file: string, name: string): string | null {
  const connection = new Database(file, { fileMustExist: true });
  try {
    connection.pragma("secure_delete = ON");
    const value = connection.prepare("DELETE FROM meta WHERE name = ? RETURNING value").pluck().get(name) as string | undefined;
    return value ?? null;
  } finally {
    connection.close();
  }
}

/** Changes the value of a fact about the installation, where there is one. */
export function changeFact(file: string, name: string, change: (value: string) => string): void {
  const connection = new Database(file, { fileMustExist: true });
  try {
    const value = connection.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(name) as string | undefined;
    if (value !== undefined) connection.prepare("UPDATE meta SET value = ? WHERE name = ?").run(change(value), name);
  } finally {
    connection.close();
  }
}

/** Reads a fact from a backup that is being written; null when there is none. */
export function readFact(file: string, name: string): string | null {
  const connection = new Database(file, { fileMustExist: true, readonly: true });
  try {
    const value = connection.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(name) as string | undefined;
    return value ?? null;
  } finally {
    connection.close();
  }
}

/** Deletes a file that was not finished, and what SQLite keeps next to it. */
export function discard(file: string): void {
  for (const suffix of ["", "-journal", "-wal", "-shm"]) if (existsSync(file + suffix)) rmSync(file + suffix);
}

function sumTable(connection: Database.Database, table: string): TableSum {
  const sum = new RowSum();
  for (const row of connection
    .prepare(`SELECT * FROM ${quote(table)}`)
    .raw()
    .iterate() as IterableIterator<Value[]>)
    sum.add(row);
  return { table, rows: sum.rows, checksum: sum.checksum };
}

function flush(file: string): void {
  const handle = openSync(file, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
