import type { Backend } from "./backend.ts";
import { openPostgres, type PostgresOptions } from "./db/postgres/database.ts";
import { postgresSnapshots } from "./dev/snapshots.pg.ts";
import { SharedBuckets } from "./http/shared-buckets.ts";
import { ensureMasterKey } from "./installation/installation.ts";
import { migrateQueue } from "./queue/schema.pg.ts";
import { postgresJobStore } from "./queue/store.pg.ts";
import { createQueue } from "./queue/worker.ts";
import { postgresSchema } from "./schema.pg.ts";

/** One Postgres database for any number of server processes. Throws StorageUnavailable when it cannot be reached. */
export async function postgresBackend(url: string, options: PostgresOptions = {}): Promise<Backend> {
  const db = await openPostgres(url, postgresSchema, { also: migrateQueue, ...options });
  return {
    db,
    // A revoked key is dead everywhere within a second, on a busy machine too; each key costs two reads a second for that.
    keysMaxAgeMs: 500,
    masterKey: (random) => ensureMasterKey(db, random),
    snapshots: postgresSnapshots(db),
    makeQueue: (parts) => createQueue(postgresJobStore({ db, ...parts }), parts),
    makeLimiter: (clock, bent) => new SharedBuckets(db, clock.now, bent),
    connectionAccepted: () => {},
  };
}
