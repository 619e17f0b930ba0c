import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresBackend } from "../../packages/server/src/backend.pg.ts";
import { sqliteBackend } from "../../packages/server/src/backend.sqlite.ts";
import type { Db } from "../../packages/server/src/db/db.ts";
import { StorageUnavailable } from "../../packages/server/src/db/errors.ts";
import type { PostgresDb } from "../../packages/server/src/db/postgres/database.ts";
import { findDatabasePlace } from "../../packages/server/src/db/postgres/place.ts";
import { findFilePlace } from "../../packages/server/src/db/sqlite/place.ts";
import { claimPlace } from "../../packages/server/src/installation/holder.ts";
import { createBackup, migrateToPostgres, moveFromPostgres, restoreBackup } from "../../packages/server/src/maintenance.ts";
import { CopyRefused } from "../../packages/server/src/migrate/report.ts";
import type { Databases, WorldDatabase } from "./databases.ts";
import type { Script } from "./script.ts";

const CLAIMED_AT = "2026-03-01T00:00:00.000Z";

/** Data of a world's servers: a folder, or a database with a folder for the rest. */
export interface Place {
  readonly folder: string;
  readonly databaseUrl: string | null;
}

/** The places that a world has lived in, and its backups. All are gone once it ends. */
export class Places {
  readonly #databases: Databases | null;
  readonly #folders: string[] = [];
  readonly #used: WorldDatabase[] = [];

  /** Without `databases` there is no Postgres to move to. */
  constructor(databases: Databases | null) {
    this.#databases = databases;
  }

  /** The place in which a world begins. */
  async first(database: Script["database"]): Promise<Place> {
    if (database === "postgres" && this.#databases === null) throw new Error("This world needs Postgres databases.");
    return { folder: this.#makeFolder(), databaseUrl: database === "postgres" ? await this.#makeDatabase("migrated") : null };
  }

  /** Backs a place up while a server uses it, which has claimed it at its start. */
  async backUp({ folder, databaseUrl }: Place, db: Db): Promise<string> {
    const place = databaseUrl === null ? findFilePlace(folder) : await findDatabasePlace((db as PostgresDb).read.raw, databaseUrl);
    await claimPlace(db, { place, takeOver: false, now: CLAIMED_AT });
    const { file } = await createBackup({ data: folder, databaseUrl, target: join(this.#makeFolder(), "world.backup") });
    return file;
  }

  /** Restores a backup into a new place. */
  async restore(file: string, to: Script["database"]): Promise<Place> {
    const place = { folder: this.#makeFolder(), databaseUrl: to === "postgres" ? await this.#makeDatabase("empty") : null };
    await restoreBackup({ file, data: place.folder, databaseUrl: place.databaseUrl });
    if (await claim(place)) throw new Error("A restored backup is served without --take-over, and would send what waits a second time.");
    await claim(place, true);
    return place;
  }

  /** Moves what no server uses to the other kind of database. Returns the same place where there is no Postgres. */
  async move(from: Place): Promise<Place> {
    if (this.#databases === null) return from;
    await claim(from);
    const place = { folder: this.#makeFolder(), databaseUrl: from.databaseUrl === null ? await this.#makeDatabase("empty") : null };
    if (from.databaseUrl !== null) {
      try {
        await moveFromPostgres({ from: from.databaseUrl, to: place.folder });
      } catch (error) {
        // A server that was killed counts as one that runs, for ten seconds of real time.
        if (error instanceof CopyRefused) return from;
        throw error;
      }
    } else if (place.databaseUrl !== null) await migrateToPostgres({ from: from.folder, to: place.databaseUrl });
    if (!(await claim(place))) throw new Error("What was moved is not served in its new place.");
    if (await claim(from)) throw new Error("What was moved away is served in its old place as well.");
    return place;
  }

  /** Migrates what no server uses, as `mailsvc migrate` and each start do. */
  async migrate(place: Place): Promise<Place> {
    const { db } = place.databaseUrl === null ? await sqliteBackend(place.folder) : await postgresBackend(place.databaseUrl);
    await db.close();
    return place;
  }

  async remove(): Promise<void> {
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
    for (const database of this.#used) await database.drop();
  }

  #makeFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-universe-"));
    this.#folders.push(folder);
    return folder;
  }

  async #makeDatabase(kind: "migrated" | "empty"): Promise<string> {
    const database = await (this.#databases as Databases).create(kind);
    this.#used.push(database);
    return database.url;
  }
}

/** Claims a place as a server that starts there does; false where it refuses to start. */
async function claim({ folder, databaseUrl }: Place, takeOver = false): Promise<boolean> {
  const { db, findPlace } = databaseUrl === null ? await sqliteBackend(folder) : await postgresBackend(databaseUrl);
  try {
    await claimPlace(db, { place: await findPlace(), takeOver, now: CLAIMED_AT });
    return true;
  } catch (error) {
    if (error instanceof StorageUnavailable) return false;
    throw error;
  } finally {
    await db.close();
  }
}
