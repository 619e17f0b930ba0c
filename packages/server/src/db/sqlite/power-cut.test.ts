import { copyFileSync, fdatasync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteSchema } from "../../schema.sqlite.ts";
import { openSqlite, type SqliteDb } from "./database.ts";

let folder: string;
let db: SqliteDb;
/** The log as the last flush that has ended found it when it began: what is left of it when the power fails. */
let durable: Buffer;
let flushes: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-power-"));
  flushes = 0;
  db = await openSqlite(folder, sqliteSchema, {
    sync: (fd, done) => {
      const covered = readFileSync(join(folder, "mailsvc.db-wal"));
      fdatasync(fd, (error) => {
        durable = covered;
        flushes += 1;
        done(error);
      });
    },
  });
});
afterEach(async () => {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (name: string): Promise<void> => db.tx((tx) => tx.insertAll(tx.t.meta, [{ name, value: "1" }]));

/** The rows that SQLite finds when it starts with what is on the disk now. */
const rowsAfterPowerCut = (): Set<string> => {
  const after = mkdtempSync(join(tmpdir(), "mailsvc-power-"));
  copyFileSync(db.file, join(after, "mailsvc.db"));
  writeFileSync(join(after, "mailsvc.db-wal"), durable);
  const raw = new Database(join(after, "mailsvc.db"));
  try {
    expect(raw.pragma("integrity_check", { simple: true })).toBe("ok");
    return new Set((raw.prepare("SELECT name FROM meta").all() as { name: string }[]).map(({ name }) => name));
  } finally {
    raw.close();
    rmSync(after, { recursive: true, force: true });
  }
};

test("a power cut right after an answer loses nothing that was answered", async () => {
  for (let round = 0; round < 20; round += 1) {
    await put(`row-${round}`);
    expect([...rowsAfterPowerCut()].filter((name) => name.startsWith("row-"))).toHaveLength(round + 1);
  }
});

test("under load too, where commits go on while the log is flushed", async () => {
  const lost: string[] = [];
  let looks = 0;
  const client = async (id: number): Promise<void> => {
    for (let n = 0; n < 10; n += 1) {
      const name = `${id}-${n}`;
      await put(name);
      if ((id + n) % 7 > 0) continue;
      looks += 1;
      if (!rowsAfterPowerCut().has(name)) lost.push(name);
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, id) => client(id)));
  expect(lost).toEqual([]);
  expect(looks).toBeGreaterThan(20);
  expect(flushes).toBeLessThan(200);
});

test("a caller who only read a row is not answered before that row is safe", async () => {
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    const names = await db.tx(async (tx) => (await tx.select({ name: tx.t.meta.name }).from(tx.t.meta)).map(({ name }) => name));
    const left = rowsAfterPowerCut();
    for (const name of names) if (name.startsWith("row-")) seen.push(left.has(name) ? "safe" : name);
  };
  const work: Promise<void>[] = [];
  for (let round = 0; round < 10; round += 1) {
    work.push(put(`row-${round}`));
    await new Promise((next) => setImmediate(next));
    work.push(read());
    await new Promise((next) => setImmediate(next));
  }
  await Promise.all(work);
  expect(seen.length).toBeGreaterThan(10);
  expect(new Set(seen)).toEqual(new Set(["safe"]));
});
