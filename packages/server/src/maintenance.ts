import type { BackupOptions, BackupReport, RestoreOptions, RestoreReport } from "./backup/report.ts";
import type { Db } from "./db/db.ts";
import type { WorkspaceAccess } from "./installation/access.ts";
import type { KeyStore } from "./installation/key-rotation.ts";
import type { CopyOptions, CopyReport } from "./migrate/report.ts";

/** Copies an installation from a folder to a Postgres database; see `migrate/migrate.ts`. Only this loads Postgres. */
export async function migrateToPostgres(options: CopyOptions): Promise<CopyReport> {
  const [{ copyToPostgres }, { postgresSchema }] = await Promise.all([import("./migrate/migrate.ts"), import("./schema.pg.ts")]);
  return copyToPostgres(postgresSchema, options);
}

/** Moves an installation from a Postgres database to a folder or to another database; see `backup/move.ts`. */
export async function moveFromPostgres(options: { from: string; to: string }): Promise<CopyReport> {
  const [move, { postgresSchema }] = await Promise.all([import("./backup/move.ts"), import("./schema.pg.ts")]);
  return move.moveFromPostgres(postgresSchema, options);
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

/** Location of an installation's data. */
interface DataLocation {
  /** The data folder, whose server must be stopped; ignored with `databaseUrl`. */
  data: string;
  databaseUrl: string | null;
}

export interface RecoveryOptions extends DataLocation {
  /** The workspace that gets the key; null for the first one. */
  workspaceId: string | null;
}

/**
 * Creates another owner key, for people who have lost theirs; see `installation/recovery.ts`. Throws StorageUnavailable, ApiError
 * not_found.
 */
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

/**
 * Asks for a rotation of the master key, or for an end of the old keys. A running server carries it out within seconds; otherwise the next
 * start does; `isKeyRotated` tells. Throws RotationRefused or StorageUnavailable.
 */
export async function rotateMasterKey({ forget, ...location }: DataLocation & { forget: boolean }): Promise<void> {
  const [{ beginForgetting, beginRotation, RotationRefused }, { secureRandom }, { systemClock }] = await Promise.all([
    import("./installation/key-rotation.ts"),
    import("./lib/random.ts"),
    import("./lib/clock.ts"),
  ]);
  await withKeyStore(location, async (store) => {
    const text = await store.read();
    if (text === null)
      throw new RotationRefused(
        "The master key is not kept with the data. Where servers get it from --secret-key, give them OLD,NEW first, and NEW,OLD once all of them have both.",
      );
    const now = systemClock.now();
    const next = forget ? beginForgetting(text, now) : beginRotation(text, secureRandom().bytes(32), now);
    if (!(await store.replace(text, next))) throw new RotationRefused("The keys were changed at the same time. Try again.");
  });
}

/** True if no rotation of the master key is under way. */
export async function isKeyRotated(location: DataLocation): Promise<boolean> {
  const { isRotating } = await import("./installation/key-rotation.ts");
  return withKeyStore(location, async (store) => {
    const text = await store.read();
    return text === null || !isRotating(text);
  });
}

/** Opens the place of the master keys, which servers may use at the same time. */
async function withKeyStore<T>({ data, databaseUrl }: DataLocation, work: (store: KeyStore) => Promise<T>): Promise<T> {
  if (databaseUrl === null) {
    const [{ assertInstalled }, { keyFileStore }] = await Promise.all([import("./installation/recovery.ts"), import("./lib/key-file.ts")]);
    assertInstalled(data);
    return work(keyFileStore(data));
  }
  const [{ openPostgres }, { postgresSchema }, { factKeyStore }] = await Promise.all([
    import("./db/postgres/database.ts"),
    import("./schema.pg.ts"),
    import("./installation/installation.ts"),
  ]);
  const db = await openPostgres(databaseUrl, postgresSchema, { migrate: false, connections: 1 });
  try {
    await db.assertMigrated();
    return await work(factKeyStore(db));
  } finally {
    await db.close();
  }
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
