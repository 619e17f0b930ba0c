import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Database from "better-sqlite3";
import { createFolder, giveToOwnerOfFolder, keepOutOfGit } from "../../lib/folder.ts";
import { KEY_FILE } from "../../lib/key-file.ts";
import { errorCode, StorageUnavailable } from "../errors.ts";

/** The name of the database file in a data folder. */
export const DATABASE_FILE = "mailsvc.db";

/** Creates a data folder with its parents, for its owner only and kept out of git. Throws StorageUnavailable when that is impossible. */
export function createDataFolder(folder: string): void {
  if (existsSync(folder)) return;
  try {
    createFolder(resolve(folder));
    keepOutOfGit(resolve(folder));
  } catch (error) {
    throw new StorageUnavailable(`The data folder ${folder} cannot be created (${errorCode(error)}).`);
  }
}

/**
 * Locks a data folder for this process, and returns how to unlock it. The lock is an SQLite lock on a separate file: the
 * kernel releases it when the process dies, so there is no stale lock to clean up. Throws StorageUnavailable when another
 * process has it, or when the folder cannot be written.
 */
export function lockFolder(folder: string): () => void {
  const pidFile = join(folder, "server.pid");
  const lockFile = join(folder, "server.lock");
  let lock: Database.Database | null = null;
  try {
    lock = new Database(lockFile);
    makePrivate(lockFile);
    lock.pragma("busy_timeout = 0");
    lock.exec("BEGIN EXCLUSIVE");
    writeFileSync(pidFile, `${process.pid}\n`);
    makePrivate(pidFile);
  } catch (error) {
    lock?.close();
    const code = errorCode(error);
    // Other errors, such as a driver that cannot be loaded, explain themselves.
    if (code === null || !/^(?:SQLITE_|E[A-Z]+$)/.test(code)) throw error;
    throw new StorageUnavailable(
      code === "SQLITE_BUSY"
        ? `Another mailsvc server${readPid(pidFile)} is using ${folder}. Stop it, or give this one its own folder with --data.`
        : `The data folder ${folder} cannot be written (${code}). Check its permissions and the disk, or name another one with --data.`,
    );
  }
  const locked = lock;
  return () => locked.close();
}

/**
 * Checks that a folder holds either a whole installation or none. Throws StorageUnavailable when the key that encrypts secrets is
 * there without its database: starting would create a new, empty installation in place of the lost one.
 */
export function assertNotEmptied(folder: string): void {
  const file = join(folder, DATABASE_FILE);
  const isEmpty = !existsSync(file) || statSync(file).size === 0;
  if (!isEmpty || !existsSync(join(folder, KEY_FILE)) || hasLog(file)) return;
  throw new StorageUnavailable(
    `${file} is ${existsSync(file) ? "empty" : "missing"}, but ${KEY_FILE} next to it belongs to an installation. ` +
      `Restore a backup (mailsvc restore), or delete ${KEY_FILE} to start with an empty database.`,
  );
}

/** Translates what opening a database file throws; names the file and what to do when it is damaged. */
export function openError(error: unknown, file: string, remedy = "Restore a backup: mailsvc restore"): unknown {
  const code = errorCode(error);
  if (code === "SQLITE_NOTADB" || code?.startsWith("SQLITE_CORRUPT"))
    return new StorageUnavailable(`${file} is damaged or not a database (${code}). ${remedy}`, { isDamaged: true });
  if (code !== null && /^(?:SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_IOERR|SQLITE_PERM|EACCES|EPERM|EROFS)/.test(code))
    return new StorageUnavailable(
      `${file} cannot be opened (${code}). The user of the server must be able to write to it and its folder; check their owner and mode, and the disk.`,
    );
  return error;
}

// A first start that was killed may have written only the log so far.
function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0;
}

/** Makes a file of the lock one of the owner of the folder, for the owner only. */
function makePrivate(file: string): void {
  // Another user, who may write to the folder, may have made it.
  if (process.getuid === undefined || ![0, statSync(file).uid].includes(process.getuid())) return;
  chmodSync(file, 0o600);
  giveToOwnerOfFolder(file);
}

function readPid(file: string): string {
  try {
    return ` (process ${readFileSync(file, "utf8").trim()})`;
  } catch {
    return "";
  }
}
