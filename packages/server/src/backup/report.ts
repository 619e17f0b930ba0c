/** Location of an installation: a folder or a Postgres database. */
interface Location {
  /** The data folder; not used with `databaseUrl`. */
  readonly data: string;
  readonly databaseUrl: string | null;
}

export interface BackupOptions extends Location {
  /** A file to create, or an existing folder in which one is created. */
  readonly target: string;
  /** With a folder: the backups that stay in it, the latest ones. Older ones are deleted after this one was made. */
  readonly keep?: number | undefined;
  /** Leaves the key that encrypts secrets out of the backup, to keep the two apart. */
  readonly withoutKey?: boolean | undefined;
}

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  /** Older backups that were deleted. */
  readonly deleted: readonly string[];
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** The version of mailsvc whose database this is. */
  readonly version: string;
  readonly tables: number;
  readonly rows: number;
  /** Tells if the backup contains the key; `none` when the installation gets its key from --secret-key. */
  readonly key: "included" | "left out" | "none";
  readonly createdAt: string;
}

export interface RestoreOptions extends Location {
  readonly file: string;
}

export interface RestoreReport extends Omit<BackupReport, "bytes" | "sha256" | "deleted"> {
  readonly restoredTo: string;
}

/** Nothing was written: the target exists already, or there is nothing to back up or to restore. The message says what to do. */
export class BackupRefused extends Error {
  override name = "BackupRefused";
}

/** The backup is not what was backed up: do not use it. */
export class BackupDamaged extends Error {
  override name = "BackupDamaged";
}
