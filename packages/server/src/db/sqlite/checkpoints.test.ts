import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sqliteSchema } from "../../schema.sqlite.ts";
import { Checkpoints } from "./checkpoints.ts";
import { openSqlite, type SqliteDb } from "./database.ts";

let folder: string;
let db: SqliteDb;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-checkpoints-"));
  db = await openSqlite(folder, sqliteSchema);
});
afterEach(async () => {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const KB = "x".repeat(1024);
const COMMITS = 160;
const ROWS = 250;

/** Commits 40 MB, a quarter each time, under names of `whose`. */
const fill = async (whose: string): Promise<void> => {
  for (let i = 0; i < COMMITS; i += 1)
    await db.tx((tx) =>
      tx.insertAll(
        tx.t.meta,
        Array.from({ length: ROWS }, (_, n) => ({ name: `${whose}-${i}-${n}`, value: KB })),
      ),
    );
};
const sizeOf = (name: string): number => statSync(join(folder, name)).size;

test("the log stays small under a load that never pauses", async () => {
  await Promise.all([fill("a"), fill("b")]);
  // It is emptied from 16 MB on; at 128 MB commits wait for that, so a slow machine gets no further than that and one group.
  expect(sizeOf("mailsvc.db-wal")).toBeLessThan(140e6);
  expect(sizeOf("mailsvc.db")).toBeGreaterThan(16e6);
  expect(await db.read.$count(db.read.t.meta)).toBe(2 * COMMITS * ROWS);
});

test("closing takes the log away, also while it is being moved", async () => {
  await fill("a");
  await db.close();
  expect(existsSync(join(folder, "mailsvc.db-wal"))).toBe(false);
  db = await openSqlite(folder, sqliteSchema);
  expect(await db.exclusive((c) => c.pragma("integrity_check", { simple: true }))).toBe("ok");
  expect(await db.read.$count(db.read.t.meta)).toBe(COMMITS * ROWS);
});

test("one that fails makes no commit fail, nor the process", () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const full = (): never => {
    throw Object.assign(new Error("full"), { code: "SQLITE_FULL" });
  };
  const writer = {
    inTransaction: false,
    pragma: (text: string) => (text.startsWith("wal_checkpoint") ? full() : undefined),
    prepare: () => ({ get: () => ({ busy: 0, log: 1_000_000, checkpointed: 0 }) }),
  };
  const checkpoints = new Checkpoints(writer as unknown as Database.Database);
  for (let i = 0; i < 4; i += 1) checkpoints.committed();
  expect(warned).toHaveBeenCalledExactlyOnceWith("The log of the database could not be moved: SQLITE_FULL.");
});
