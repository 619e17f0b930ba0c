import type { BackupOptions, BackupReport, RestoreOptions, RestoreReport } from "./backup/report.ts";
import type { Db } from "./db/db.ts";
import type { WorkspaceAccess } from "./installation/access.ts";
import type { CopyOptions, CopyReport } from "./migrate/report.ts";

/** Copies an installation from a folder to a Postgres database; see `migrate/copy.ts`. Only this loads Postgres. */
export async function migrateToPostgres(options: CopyOptions): Promise<CopyReport> {
  const [{ copyToPostgres }, { postgresSchema }] = await Promise.all([import("./migrate/migrate.ts"), import("./schema.pg.ts")]);
  return copyToPostgres(postgresSchema, options);
}

/** Backs an installation up while its servers run; see `backup/backup.ts`. */
export async function createBackup(options: BackupOptions): Promise<BackupReport> {
  const [backup, { postgresSchema }] = await Promise.all([import("./backup/backup.ts"), import("./schema.pg.ts")]);
  return backup.createBackup(postgresSchema, options);
}

/** Restores a backup into an empty folder or database; see `backup/restore.ts`. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const [restore, { postgresSchema }] = await Promise.all([import("./backup/restore.ts"), import("./schema.pg.ts")]);
  return restore.restoreBackup(postgresSchema, options);
}

/** Where an installation keeps its data. */
interface DataLocation {
  /** The data folder, whose server must be stopped; ignored with `databaseUrl`. */
  data: string;
  databaseUrl: string | null;
}

export interface RecoveryOptions extends DataLocation {
  /** The workspace that gets the key; null for the first one. */
  workspaceId: string | null;
}

/** Creates another owner key, for people who have lost theirs; see `installation/recovery.ts`. Throws StorageUnavailable, ApiError not_found. */
export async function recoverOwnerKey({ workspaceId, ...location }: RecoveryOptions): Promise<WorkspaceAccess> {
  const [{ createRecoveryKey }, { secureRandom }, { systemClock }] = await Promise.all([
    import("./installation/recovery.ts"),
    import("./lib/random.ts"),
    import("./lib/clock.ts"),
  ]);
  return withDatabase(location, (db) => createRecoveryKey(db, { clock: systemClock, random: secureRandom(), workspaceId }));
}

/** Replaces the operator key, for people who have lost theirs; the lost one is refused from now on. Throws StorageUnavailable. */
export async function recoverOperatorKey(location: DataLocation): Promise<string> {
  const [{ replaceOperatorKey }, { secureRandom }] = await Promise.all([import("./installation/recovery.ts"), import("./lib/random.ts")]);
  return withDatabase(location, (db) => replaceOperatorKey(db, secureRandom()));
}

async function withDatabase<T>({ data, databaseUrl }: DataLocation, work: (db: Db) => Promise<T>): Promise<T> {
  if (databaseUrl === null) (await import("./installation/recovery.ts")).assertInstalled(data);
  const { db } = await (databaseUrl === null
    ? (await import("./backend.sqlite.ts")).sqliteBackend(data)
    : (await import("./backend.pg.ts")).postgresBackend(databaseUrl));
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
