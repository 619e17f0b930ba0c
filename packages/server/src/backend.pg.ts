import type { Backend } from "./backend.ts";
import { openPostgres, type PostgresDb, type PostgresOptions } from "./db/postgres/database.ts";
import { findDatabasePlace } from "./db/postgres/place.ts";
import { PostgresMailStore } from "./delivery/mail-store.pg.ts";
import { postgresSnapshots } from "./dev/snapshots.pg.ts";
import { SharedBuckets } from "./http/shared-buckets.ts";
import { ensureMasterKeys, factKeyStore } from "./installation/installation.ts";
import type { Log } from "./lib/log.ts";
import { createQueue } from "./queue/create-queue.ts";
import { PostgresJobStore } from "./queue/store.pg.ts";
import { postgresSchema } from "./schema.pg.ts";

interface PostgresBackendOptions extends PostgresOptions {
  /** Warned when the processes together may open more connections than the database server allows, and when a power cut may damage it. */
  log?: Log;
}

/** The backend on Postgres, for any number of server processes. Throws StorageUnavailable when it cannot be reached. */
export async function postgresBackend(url: string, { log, ...options }: PostgresBackendOptions = {}): Promise<Backend> {
  const db = await openPostgres(url, postgresSchema, options);
  if (log) {
    await warnAboutConnections(db, log);
    await warnAboutPowerCuts(db, log);
  }
  return {
    db,
    findPlace: () => findDatabasePlace(db.read.raw, url),
    // A revoked key stops working everywhere within a second, also on a busy machine; each key costs two reads a second.
    keysMaxAgeMs: 500,
    masterKeys: (random, isNew) => ensureMasterKeys(db, random, isNew),
    keyStore: factKeyStore(db),
    keySpreadMs: 10_000,
    snapshots: postgresSnapshots(db),
    makeQueue: (parts) => {
      const jobs = new PostgresJobStore({ db, ...parts });
      return createQueue(jobs, parts, [new PostgresMailStore({ db, real: parts.clock.real, log: parts.log, workers: jobs.workers })]);
    },
    makeLimiter: (clock, controllable) => new SharedBuckets(db, clock.now, controllable),
    readStats: async () => ({ walBytes: null, pool: db.poolStats(), flushes: null }),
    // Two commits of 256: one batch is composed while the other one is stored.
    capturesAtOnce: 512,
    recipientsAtOnce: 512,
    connectionAccepted: () => {},
  };
}

async function warnAboutPowerCuts(db: PostgresDb, log: Log): Promise<void> {
  const off = await db.listUnsafeSettings();
  if (off.length > 0) log.warn("a power cut may lose or damage what the database has stored; turn these settings of Postgres on", { off });
}

async function warnAboutConnections(db: PostgresDb, log: Log): Promise<void> {
  const { perProcess, processes, allowed } = await db.connectionBudget();
  // This process has not registered itself yet.
  const needed = perProcess * (processes + 1);
  if (needed > allowed)
    log.warn("the servers may open more connections than the database allows; lower --database-connections or raise max_connections", {
      processes: processes + 1,
      perProcess,
      needed,
      allowed,
    });
}
