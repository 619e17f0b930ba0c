import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { changeFact, deleteManifest, discard } from "../db/copy/backup-file.ts";
import type { DatabaseSchema } from "../db/db.ts";
import { createDataFolder, DATABASE_FILE, lockFolder } from "../db/sqlite/folder.ts";
import { assertNotNewer, migrateFile } from "../db/sqlite/migrate.ts";
import { forgetPast } from "../db/sqlite/place.ts";
import { HOLDER, markRestored } from "../installation/installation.ts";
import { giveToOwnerOfFolder } from "../lib/folder.ts";
import { KEY_FILE, writeKey } from "../lib/key-file.ts";
import { CopyRefused, copyToPostgres } from "../migrate/migrate.ts";
import { type Manifest, readBackup, verifyBackup } from "./backup.ts";
import { BackupRefused, type RestoreOptions, type RestoreReport } from "./report.ts";

/**
 * Restores a backup into an empty folder or an empty Postgres database, wherever it was made. The backup is verified first.
 * Throws BackupRefused (the target holds an installation, or the file is no backup), BackupDamaged, or StorageUnavailable when
 * the backup is of a newer version or the target cannot be used.
 */
export async function restoreBackup(schema: DatabaseSchema, { file, data, databaseUrl }: RestoreOptions): Promise<RestoreReport> {
  const manifest = readBackup(file);
  verifyBackup(file, manifest);
  assertNotNewer(file, schema.version);
  if (databaseUrl === null) restoreFolder(schema, file, manifest, { folder: data, held: markAsRestored(manifest) });
  else await restorePostgres(schema, file, manifest, databaseUrl);
  const { version, createdAt, keyState, tables } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { file, version, tables: tables.length, rows, key: keyState, createdAt, restoredTo: databaseUrl === null ? data : "postgres" };
}

interface Target {
  readonly folder: string;
  /** The new holder of the installation, by the one in the backup and the file that becomes its database. */
  readonly held: (value: string, unfinished: string) => string;
}

const markAsRestored =
  ({ createdAt }: Manifest): Target["held"] =>
  (value) =>
    markRestored(value, createdAt);

/** Puts database and key into a folder. The database gets its name last, so an interrupted restore can simply be repeated. */
export function restoreFolder(schema: DatabaseSchema, file: string, { key }: Manifest, { folder, held }: Target): void {
  createDataFolder(folder);
  const unlock = lockFolder(folder);
  try {
    const database = join(folder, DATABASE_FILE);
    if (existsSync(database) && statSync(database).size > 0)
      throw new BackupRefused(`${folder} holds an installation already. Restore into another folder, or move ${database} away first.`);
    assertSameKey(join(folder, KEY_FILE), key);
    const unfinished = `${database}.restoring`;
    discard(unfinished);
    copyFileSync(file, unfinished);
    chmodSync(unfinished, 0o600);
    giveToOwnerOfFolder(unfinished);
    deleteManifest(unfinished);
    migrateFile(unfinished, schema.version);
    changeFact(unfinished, HOLDER, (value) => held(value, unfinished));
    if (key !== null) writeKey(join(folder, KEY_FILE), `${key}\n`);
    // The log of a lost database must not be applied to this one.
    discard(database);
    forgetPast(folder);
    renameSync(unfinished, database);
  } finally {
    unlock();
  }
}

/** Restores into a folder next to the backup, and copies that to Postgres. */
async function restorePostgres(schema: DatabaseSchema, file: string, manifest: Manifest, url: string): Promise<void> {
  const folder = mkdtempSync(join(dirname(resolve(file)), ".mailsvc-restore-"));
  try {
    restoreFolder(schema, file, manifest, { folder, held: markAsRestored(manifest) });
    await copyToPostgres(schema, { from: folder, to: url, moves: false });
  } catch (error) {
    throw error instanceof CopyRefused ? new BackupRefused(error.message) : error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function assertSameKey(file: string, key: string | null): void {
  if (key === null || !existsSync(file) || readFileSync(file, "utf8").trim() === key) return;
  throw new BackupRefused(
    `${file} is another key than the one in the backup. Move it away first; without it, secrets sealed by it cannot be read.`,
  );
}
