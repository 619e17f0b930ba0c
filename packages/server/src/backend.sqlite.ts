import type { Backend } from "./backend.ts";
import { openSqlite, type SqliteOptions } from "./db/sqlite.ts";
import { sqliteSnapshots } from "./dev/snapshots.ts";
import { Buckets } from "./lib/rate.ts";
import { sqliteQueue } from "./queue/sqlite.ts";

/** Everything in one folder of one machine. Throws StorageUnavailable when another process uses it. */
export const sqliteBackend = async (folder: string, options: SqliteOptions = {}): Promise<Backend> => {
  const db = await openSqlite(folder, options);
  return {
    db,
    // Nobody else writes here.
    keysMaxAgeMs: Number.POSITIVE_INFINITY,
    snapshots: sqliteSnapshots(db),
    makeQueue: (parts) => sqliteQueue({ db, ...parts }),
    makeLimiter: (clock) => new Buckets(clock.now),
    connectionAccepted: () => db.gate.connectionAccepted(),
  };
};
