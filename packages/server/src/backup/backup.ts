import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  checkDatabase,
  copyDatabase,
  createDatabase,
  createFile,
  discard,
  readDatabaseSize,
  readFact,
  readManifest,
  type TableSum,
  takeFact,
  writeManifest,
} from "../db/copy/backup-file.ts";
import { readRows } from "../db/copy/postgres-rows.ts";
import { listShapes, RowSum, type Shape, type Value } from "../db/copy/shapes.ts";
import type { DatabaseSchema } from "../db/db.ts";
import { errorCode, StorageUnavailable } from "../db/errors.ts";
import { DATABASE_FILE } from "../db/sqlite/folder.ts";
import { assertNotNewer } from "../db/sqlite/migrate.ts";
import { isSealedWith, MASTER_KEY, SEAL_CHECK } from "../installation/installation.ts";
import { iso, systemClock } from "../lib/clock.ts";
import { KEY_FILE } from "../lib/key-file.ts";
import { parseKeys } from "../lib/master-keys.ts";
import { BackupDamaged, type BackupOptions, BackupRefused, type BackupReport } from "./report.ts";

/** Description of a backup, stored in it. */
export interface Manifest {
  readonly version: string;
  readonly createdAt: string;
  readonly key: string | null;
  readonly keyState: BackupReport["key"];
  readonly tables: readonly TableSum[];
}

const FORMAT = "1";
const REMEDY = "Use another backup.";

/**
 * Backs an installation up while its servers run: one consistent state of all tables, as a SQLite file, from a folder or from Postgres.
 * Before the file gets its name, it is checked for damage, its rows are read back and compared, and their checksums and the key are stored
 * in it. Throws BackupRefused, BackupDamaged, or StorageUnavailable when the database cannot be read or is of a newer version.
 */
export async function createBackup(schema: DatabaseSchema, options: BackupOptions): Promise<BackupReport> {
  const createdAt = iso(systemClock.now());
  const file = nameFile(options.target, createdAt);
  if (options.keep !== undefined && file === options.target)
    throw new BackupRefused(`--keep is for a folder of backups, and ${file} is a file. Name an existing folder.`);
  if (existsSync(file)) throw new BackupRefused(`${file} exists already. Choose another name, or delete it first.`);
  const unfinished = `${file}.part`;
  discard(unfinished);
  try {
    createFile(unfinished);
  } catch (error) {
    throw new BackupRefused(
      `${file} cannot be created (${errorCode(error)}). Name a file in a folder that exists and that you may write to.`,
    );
  }
  try {
    const { key, keyState } = await copyTo(unfinished, schema, options);
    if (key !== null) assertKeyFits(unfinished, key, options);
    const tables = checkDatabase(unfinished);
    writeManifest(unfinished, {
      format: FORMAT,
      version: schema.version,
      createdAt,
      keyState,
      tables: JSON.stringify(tables),
      ...(key !== null && { key }),
    });
    renameSync(unfinished, file);
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    const { size: bytes } = statSync(file);
    const sha256 = await hashFile(file);
    const deleted = options.keep === undefined ? [] : deleteOldBackups(dirname(file), options.keep);
    return { file, bytes, sha256, version: schema.version, tables: tables.length, rows, key: keyState, createdAt, deleted };
  } catch (error) {
    discard(unfinished);
    throw explainFullDisk(error, file);
  }
}

/** Throws BackupRefused when a key is not the one of the data: no server would start on what is restored. */
function assertKeyFits(file: string, text: string, { databaseUrl, data }: BackupOptions): void {
  const check = readFact(file, SEAL_CHECK);
  const keys = parseKeys(text);
  if (check === null || (keys !== null && isSealedWith(check, keys))) return;
  const place = databaseUrl === null ? join(data, KEY_FILE) : "The database";
  throw new BackupRefused(
    `${place} holds another key than the one that the data was encrypted with. Put the right one there; if servers get it from --secret-key, back up with --without-key.`,
  );
}

/** Replaces the error of a full disk by one for people; returns any other error as it is. */
export function explainFullDisk(error: unknown, file: string): unknown {
  // SQLite says FULL; the file system says that there is no space, or that the quota or the limit of a file is reached.
  if (!["SQLITE_FULL", "ENOSPC", "EDQUOT", "EFBIG"].includes(errorCode(error) ?? "")) return error;
  return new BackupRefused(
    `There is not enough space for ${file}. What was written of it is deleted. Free some space, or name a target on another disk.`,
  );
}

/** Reads what a backup says about itself. Throws BackupRefused when the file is no backup, and BackupDamaged when it is damaged. */
export function readBackup(file: string): Manifest {
  if (!existsSync(file)) throw new BackupRefused(`There is no file ${file}.`);
  // SQLite takes an empty file for an empty database.
  const { size } = statSync(file);
  if (size === 0) throw new BackupDamaged(`${file} is empty. ${REMEDY}`);
  const whole = readDatabaseSize(file);
  if (whole !== null && size < whole) throw new BackupDamaged(`${file} is truncated: ${size} of its ${whole} bytes are there. ${REMEDY}`);
  const facts = checkForDamage(() => readManifest(file, REMEDY));
  if (facts === null)
    throw new BackupRefused(
      `${file} is a database, but not a backup made with mailsvc backup. Put it into a data folder as ${DATABASE_FILE}.`,
    );
  if (facts["format"] !== FORMAT)
    throw new BackupRefused(`${file} was made by mailsvc ${facts["version"]}, whose backups this version cannot read. Use that version.`);
  return {
    version: String(facts["version"]),
    createdAt: String(facts["createdAt"]),
    key: facts["key"] ?? null,
    keyState: facts["keyState"] as BackupReport["key"],
    tables: JSON.parse(String(facts["tables"])) as TableSum[],
  };
}

/** Compares the rows of a backup with what it says about them. Throws BackupDamaged where they differ. */
export function verifyBackup(file: string, { tables }: Manifest): void {
  const found = new Map(checkForDamage(() => checkDatabase(file, REMEDY)).map((table) => [table.table, table]));
  for (const { table, rows, checksum } of tables) {
    const now = found.get(table);
    if (now?.rows !== rows || now.checksum !== checksum)
      throw new BackupDamaged(
        `${file} was altered: table ${table} differs from what was backed up (${now?.rows === rows ? `other contents in its ${rows} rows` : `${now?.rows ?? 0} rows instead of ${rows}`}). ${REMEDY}`,
      );
  }
}

/** Runs a check, and throws BackupDamaged where it finds the file damaged. */
function checkForDamage<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof StorageUnavailable && error.isDamaged ? new BackupDamaged(error.message) : error;
  }
}

type KeyFacts = Pick<Manifest, "key" | "keyState">;

async function copyTo(file: string, schema: DatabaseSchema, options: BackupOptions): Promise<KeyFacts> {
  if (options.databaseUrl === null) return copyFolder(file, schema.version, options);
  const key = await exportPostgres(file, schema, options.databaseUrl);
  return describeKey(key, options);
}

function copyFolder(file: string, version: string, { data, withoutKey }: BackupOptions): KeyFacts {
  const database = join(data, DATABASE_FILE);
  if (!existsSync(database)) throw new BackupRefused(`There is no mailsvc database in ${data}. Name the folder with --data.`);
  copyDatabase(database, file);
  // The copy is checked and not the database, which a newer server may migrate at any time.
  assertNotNewer(file, version, database);
  const keyFile = join(data, KEY_FILE);
  return describeKey(existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : null, { withoutKey });
}

function describeKey(key: string | null, { withoutKey = false }: Pick<BackupOptions, "withoutKey">): KeyFacts {
  if (key === null) return { key: null, keyState: "none" };
  return withoutKey ? { key: null, keyState: "left out" } : { key, keyState: "included" };
}

/** Copies all tables in one read-only transaction, and returns the key that encrypts secrets, which stays out of the tables. */
async function exportPostgres(file: string, schema: DatabaseSchema, url: string): Promise<string | null> {
  const { openPostgres } = await import("../db/postgres/database.ts");
  const source = await openPostgres(url, schema, { migrate: false, connections: 1 });
  try {
    await source.assertMigrated();
    const target = createDatabase(file, schema.version);
    const sums = new Map<string, RowSum>();
    try {
      await source.tx(async (tx) => {
        for (const shape of listShapes(schema.tables)) sums.set(shape.table, await copyRows(readRows(tx, shape), shape, target.insert));
      });
    } finally {
      target.close();
    }
    assertCopied(file, sums);
    return takeFact(file, MASTER_KEY);
  } finally {
    await source.close();
  }
}

async function copyRows(
  chunks: AsyncIterable<Value[][]>,
  shape: Shape,
  insert: (shape: Shape, rows: readonly Value[][]) => void,
): Promise<RowSum> {
  const sum = new RowSum();
  for await (const rows of chunks) {
    insert(shape, rows);
    for (const row of rows) sum.add(row);
  }
  return sum;
}

/** Reads the number of rows back. Their contents are summed up afterwards, for the restore. */
function assertCopied(file: string, sums: ReadonlyMap<string, RowSum>): void {
  const found = new Map(checkDatabase(file).map((table) => [table.table, table]));
  for (const [table, { rows }] of sums)
    if (found.get(table)?.rows !== rows)
      throw new BackupDamaged(`Table ${table} has ${rows} rows in Postgres, but ${found.get(table)?.rows ?? 0} in the backup.`);
}

function nameFile(target: string, createdAt: string): string {
  const isFolder = existsSync(target) && statSync(target).isDirectory();
  return isFolder ? join(target, `mailsvc-${createdAt.replaceAll(/[-:]|\.\d+/g, "")}.backup`) : target;
}

/** Deletes all but the latest backups of a folder, by the instants in their names. Answers which. */
function deleteOldBackups(folder: string, keep: number): string[] {
  const names = readdirSync(folder).filter((name) => /^mailsvc-\d{8}T\d{6}Z\.backup$/.test(name));
  const old = names.toSorted().slice(0, -keep);
  for (const name of old) rmSync(join(folder, name));
  return old.map((name) => join(folder, name));
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}
