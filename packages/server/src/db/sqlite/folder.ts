import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { StorageUnavailable } from "../errors.ts";

/**
 * Takes a data folder for this process, and returns how to give it back. The lock is an SQLite lock on a file of its
 * own: the kernel drops it when the process dies, however it dies, so there is no stale lock to clean up.
 * Throws StorageUnavailable when another process has it.
 */
export function lockFolder(folder: string): () => void {
  const pidFile = join(folder, "server.pid");
  const lock = new Database(join(folder, "server.lock"));
  try {
    lock.pragma("busy_timeout = 0");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
    throw new StorageUnavailable(
      `Another mailsvc server${ownerOf(pidFile)} is using ${folder}. Stop it, or give this one a folder of its own with --data.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return () => lock.close();
}

function ownerOf(file: string): string {
  try {
    return ` (process ${readFileSync(file, "utf8").trim()})`;
  } catch {
    return "";
  }
}
