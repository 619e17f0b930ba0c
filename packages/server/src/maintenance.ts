import type { BackupOptions, BackupReport, RestoreOptions, RestoreReport } from "./backup/report.ts";
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
