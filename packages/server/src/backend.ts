import type { BackupOptions, BackupReport, RestoreOptions, RestoreReport } from "./backup/report.ts";
import type { Db } from "./db/db.ts";
import type { Snapshots } from "./dev/snapshots.ts";
import type { BackendStats } from "./health/metrics.ts";
import type { Clock } from "./lib/clock.ts";
import type { Log } from "./lib/log.ts";
import type { Random } from "./lib/random.ts";
import type { Limiter } from "./lib/rate.ts";
import type { CopyOptions, CopyReport } from "./migrate/report.ts";
import type { Queue } from "./queue/queue.ts";

export interface QueueParts {
  clock: Clock;
  random: Random;
  log: Log;
  /** True while the server is busy with requests: accepting comes before delivering. */
  overloaded: () => boolean;
}

/** A database and everything that depends on which one it is: nothing else in the product asks. */
export interface Backend {
  readonly db: Db;
  /** How long a key may be cached, ms: other processes may revoke it. */
  readonly keysMaxAgeMs: number;
  /** The key that encrypts secrets when none is configured: created once and stored. */
  masterKey(random: Random): Promise<Uint8Array>;
  /** Snapshots of dev mode. */
  readonly snapshots: Snapshots;
  makeQueue(parts: QueueParts): Queue;
  /** `controllable` when the clock is not the machine's. */
  makeLimiter(clock: Clock, controllable: boolean): Limiter;
  /** Reads what the database tells about itself, for metrics. */
  readStats(): Promise<BackendStats>;
  /** Called for each connection accepted. */
  connectionAccepted(): void;
}

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
