import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Snapshot } from "@mailsvc/sdk/contract";
import type { RawConnection, SqliteDb } from "../db/sqlite/database.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";

/** The state of the clock, stored with the data. */
export interface StoredClock {
  now: number;
  mode: "running" | "frozen";
  /** Time of the machine's clock then, ms since 1970. */
  date: number;
}

/** The fact under which the clock is stored. */
export const CLOCK_FACT = "clock";

/** Saved states of the whole database, by name. Workers must be stopped meanwhile. */
export interface Snapshots {
  list(): Promise<Snapshot[]>;
  /** Saves all rows and the clock under a name, replacing an older snapshot of that name. */
  take(name: string, clock: StoredClock): Promise<Snapshot>;
  /** Restores all rows and gives the stored clock. Throws ApiError not_found. */
  restore(name: string): Promise<{ snapshot: Snapshot; clock: StoredClock | null }>;
  /** Deletes all rows of all tables. */
  empty(): Promise<void>;
}

/** Snapshots as files next to the database. */
export function sqliteSnapshots(db: SqliteDb): Snapshots {
  return {
    list: async () => {
      const folder = dirname(buildPath(db, "x"));
      if (!existsSync(folder)) return [];
      return readdirSync(folder)
        .filter((f) => f.endsWith(".db"))
        .map((f) => toSnapshot(f.slice(0, -3), join(folder, f)));
    },

    take: (name, clock) =>
      db.exclusive((c) => {
        const file = buildPath(db, name);
        mkdirSync(dirname(file), { recursive: true });
        c.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)").run(CLOCK_FACT, JSON.stringify(clock));
        rmSync(file, { force: true });
        c.prepare("VACUUM INTO ?").run(file);
        return toSnapshot(name, file);
      }),

    restore: (name) =>
      db.exclusive((c) => {
        const file = buildPath(db, name);
        if (!existsSync(file)) throw notFound("snapshot", name);
        c.prepare("ATTACH ? AS snapshot").run(file);
        try {
          c.transaction(() => {
            for (const table of listTables(c)) {
              c.exec(`DELETE FROM main."${table}"`);
              c.exec(`INSERT INTO main."${table}" SELECT * FROM snapshot."${table}"`);
            }
          }).immediate();
        } finally {
          c.exec("DETACH snapshot");
        }
        const mark = c.prepare("SELECT value FROM meta WHERE name = ?").pluck().get(CLOCK_FACT) as string | undefined;
        return { snapshot: toSnapshot(name, file), clock: mark ? (JSON.parse(mark) as StoredClock) : null };
      }),

    empty: () =>
      db.exclusive((c) => {
        c.transaction(() => {
          for (const table of listTables(c)) c.exec(`DELETE FROM "${table}"`);
        }).immediate();
      }),
  };
}

function buildPath(db: SqliteDb, name: string): string {
  return join(dirname(db.file), "snapshots", `${name}.db`);
}

function toSnapshot(name: string, file: string): Snapshot {
  const { size, mtimeMs } = statSync(file);
  return { name, size, takenAt: iso(Math.floor(mtimeMs)) };
}

function listTables(c: RawConnection): string[] {
  return (
    c
      // Only tables with their own rows; triggers keep the search index in step.
      .prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'",
      )
      .pluck()
      .all() as string[]
  );
}
