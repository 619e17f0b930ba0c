import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe } from "vitest";
import type { Db } from "../src/db/db.ts";
import { openPostgres } from "../src/db/postgres/database.ts";
import { openSqlite } from "../src/db/sqlite/database.ts";
import { postgresSchema } from "../src/schema.pg.ts";
import { sqliteSchema } from "../src/schema.sqlite.ts";
import { emptyDatabase } from "../src/testing/empty-database.ts";
import { createDatabase, dropDatabases } from "./postgres.ts";

/** A new database for one test. */
interface TestDb {
  readonly db: Db;
  dispose(): Promise<void>;
}

/** Functions that open a test database, by dialect: empty and migrated. A further dialect is a further line. */
const openTestDb: Readonly<Record<string, () => Promise<TestDb>>> = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-db-"));
    writeFileSync(join(folder, "mailsvc.db"), await emptyDatabase());
    // A test's rows need not survive a power cut.
    const db = await openSqlite(folder, sqliteSchema, { synchronous: "OFF" });
    return {
      db,
      dispose: async () => {
        await db.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  postgres: async () => {
    const { url, drop } = await createDatabase();
    const db = await openPostgres(url, postgresSchema, { migrate: false });
    return {
      db,
      dispose: async () => {
        await db.close();
        await drop();
      },
    };
  },
};

interface DbSuite {
  /** The database of the test that runs. */
  readonly db: Db;
  readonly dialect: string;
}

/** Runs a suite on every database, with a fresh one for each test. The suite uses the `Db` port only. */
export function describeDb(title: string, suite: (t: DbSuite) => void): void {
  for (const [dialect, open] of Object.entries(openTestDb)) {
    describe(`${title} (${dialect})`, () => {
      let opened: TestDb;
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.dispose());
      afterAll(dropDatabases);
      suite({
        dialect,
        get db() {
          return opened.db;
        },
      });
    });
  }
}
