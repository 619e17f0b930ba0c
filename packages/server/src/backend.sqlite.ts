import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Backend } from "./backend.ts";
import { openSqlite, type SqliteOptions } from "./db/sqlite/database.ts";
import { findFilePlace } from "./db/sqlite/place.ts";
import { SqliteMailStore } from "./delivery/mail-store.sqlite.ts";
import { sqliteSnapshots } from "./dev/snapshots.ts";
import { KEY_FILE, keyFileStore, readOrCreateKeyFile } from "./lib/key-file.ts";
import { createLocalLimiter } from "./lib/rate.ts";
import { createQueue } from "./queue/create-queue.ts";
import { SqliteJobStore } from "./queue/store.sqlite.ts";
import { sqliteSchema } from "./schema.sqlite.ts";

/** The backend on SQLite: everything in one folder. Throws StorageUnavailable when another process uses it. */
export async function sqliteBackend(folder: string, options: SqliteOptions = {}): Promise<Backend> {
  const db = await openSqlite(folder, sqliteSchema, options);
  return {
    db,
    findPlace: async () => findFilePlace(folder),
    // No other process writes to this database.
    keysMaxAgeMs: Number.POSITIVE_INFINITY,
    // Beside the database, not in it: a copy of the database alone reveals no secret.
    masterKeys: async (random, isNew) => readOrCreateKeyFile(join(folder, KEY_FILE), random, isNew),
    keyStore: keyFileStore(folder),
    keySpreadMs: 0,
    snapshots: sqliteSnapshots(db),
    makeQueue: (parts) => createQueue(new SqliteJobStore(db), parts, [new SqliteMailStore(db)]),
    makeLimiter: (clock) => createLocalLimiter(clock.now),
    readStats: async () => ({ walBytes: await readSize(`${db.file}-wal`), pool: null, flushes: db.flushes }),
    // One commit. Twice as many leave no faster, and live long enough to become old objects.
    capturesAtOnce: 128,
    // A few milliseconds, for which single sends wait.
    recipientsAtOnce: 128,
    connectionAccepted: () => db.writer.connectionAccepted(),
  };
}

async function readSize(file: string): Promise<number> {
  return (await stat(file)).size;
}
