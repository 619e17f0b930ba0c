import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { realTime } from "../../lib/clock.ts";
import { sqliteSchema } from "../../schema.sqlite.ts";
import { MisplacedQuery, StorageUnavailable } from "../errors.ts";
import { openConnection } from "./connection.ts";
import { openSqlite, type SqliteDb, type SqliteOptions } from "./database.ts";
import { Flusher } from "./flush.ts";

let folder: string;
const opened: SqliteDb[] = [];

const open = async (options: SqliteOptions = {}): Promise<SqliteDb> => {
  const db = await openSqlite(folder, sqliteSchema, { synchronous: "OFF", ...options });
  opened.push(db);
  return db;
};
const put = (db: SqliteDb, name: string, value = "1"): Promise<void> =>
  db.tx(async (tx) => void (await tx.insert(tx.t.meta).values({ name, value })));
const count = (db: SqliteDb): Promise<number> => Promise.resolve(db.read.$count(db.read.t.meta));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-sqlite-"));
});
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the page cache of a connection holds 16 MB at most, as the documentation says", () => {
  const connection = openConnection(join(folder, "cache.db"), "OFF");
  try {
    // Negative: in KiB, whatever the size of a page.
    expect(connection.pragma("cache_size", { simple: true })).toBe(-16_000);
  } finally {
    connection.close();
  }
});

test("a data folder that is made is kept out of git; one that is there stays as it is", async () => {
  const at = join(folder, "project", "data");
  const made = await openSqlite(at, sqliteSchema, { synchronous: "OFF" });
  await made.close();
  expect(readFileSync(join(at, ".gitignore"), "utf8")).toBe("*\n");
  expect(existsSync(join(at, "../.gitignore"))).toBe(false);
  await open();
  expect(existsSync(join(folder, ".gitignore"))).toBe(false);
});

describe("durability", () => {
  test("a database is opened in WAL mode, its log is flushed for each commit, and checkpoints flush it themselves", async () => {
    const db = await openSqlite(folder, sqliteSchema);
    opened.push(db);
    const flush = vi.spyOn(Flusher.prototype, "flush");
    await put(db, "a");
    expect(flush).toHaveBeenCalledTimes(1);
    await db.tx((tx) => tx.select().from(tx.t.meta));
    expect(flush).toHaveBeenCalledTimes(1);
    const read = await db.exclusive((c) => [c.pragma("journal_mode", { simple: true }), c.pragma("synchronous", { simple: true })]);
    expect(read).toEqual(["wal", 1]);
    expect(flush).toHaveBeenCalledTimes(2);
    flush.mockRestore();
  });

  test("while the disk has failed, readiness says so", async () => {
    const db = await openSqlite(folder, sqliteSchema);
    opened.push(db);
    const flush = vi.spyOn(Flusher.prototype, "flush").mockRejectedValue(Object.assign(new Error("no"), { code: "EIO" }));
    await expect(put(db, "a")).rejects.toThrow("The disk did not store what was written (EIO)");
    await expect(db.ping()).rejects.toThrow(StorageUnavailable);
    expect(db.health()).toMatchObject({ writable: false, reason: expect.stringContaining("EIO") });
    flush.mockRestore();
    await expect(put(db, "b")).rejects.toThrow(StorageUnavailable);
  });

  test("rows are there after the folder was closed and opened again, and migrating twice changes nothing", async () => {
    const first = await open();
    await put(first, "a");
    await first.close();
    const second = await open();
    expect(await count(second)).toBe(1);
    expect(await second.exclusive((c) => c.pragma("integrity_check", { simple: true }))).toBe("ok");
  });

  test("what was overwritten or deleted is gone from the file once its pages have come there", async () => {
    const db = await open();
    const { meta } = db.read.t;
    const stored = (): Promise<string[]> =>
      db.exclusive((c) => {
        c.pragma("wal_checkpoint(TRUNCATE)");
        const text = readFileSync(db.file, "latin1");
        return ["first-secret", "second-secret", "third-secret"].filter((secret) => text.includes(secret));
      });
    const secret = (name: string): { name: string; value: string } => ({ name, value: `${name}-secret`.repeat(20) });
    await db.tx((tx) => tx.insertAll(meta, ["first", "second", "third"].map(secret)));
    expect(await stored()).toHaveLength(3);
    await db.tx(async (tx) => {
      await tx.update(meta).set({ value: "" }).where(eq(meta.name, "first"));
      await tx.delete(meta).where(eq(meta.name, "second"));
    });
    expect(await stored()).toEqual(["third-secret"]);
  });

  test("the database file is made in a folder only its owner can read", async () => {
    const inner = join(folder, "data");
    opened.push(await openSqlite(inner, sqliteSchema, { synchronous: "OFF" }));
    expect(statSync(inner).mode & 0o777).toBe(0o700);
  });

  test("nothing can be written through the reading connection", async () => {
    const db = await open();
    const writing = async () => (db.read as unknown as { delete(table: unknown): Promise<unknown> }).delete(db.read.t.meta);
    await expect(writing()).rejects.toThrow(StorageUnavailable);
  });
});

describe("one process for each folder", () => {
  /** A separate process that holds the folder's lock until it is told to stop. */
  const holder = async (): Promise<{ pid: number; kill(): Promise<void> }> => {
    const driver = createRequire(import.meta.url).resolve("better-sqlite3");
    const script = join(folder, "hold.cjs");
    writeFileSync(
      script,
      `const Database = require(${JSON.stringify(driver)});
       const lock = new Database(${JSON.stringify(join(folder, "server.lock"))});
       lock.exec("BEGIN EXCLUSIVE");
       require("node:fs").writeFileSync(${JSON.stringify(join(folder, "server.pid"))}, process.pid + "\\n");
       process.stdout.write("held");
       setInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((held) => child.stdout.once("data", held));
    const exited = new Promise<void>((done) => child.once("exit", () => done()));
    return {
      pid: child.pid as number,
      kill: () => {
        child.kill("SIGKILL");
        return exited;
      },
    };
  };

  test("a database that a newer version has migrated is refused, naming both versions, and is left as it is", async () => {
    await (await open()).close();
    const file = join(folder, "mailsvc.db");
    const raw = new Database(file);
    raw.exec("UPDATE __mailsvc SET version = '9.8.7'; INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 4000000000000)");
    raw.close();
    const before = readFileSync(file);
    const error = (await openSqlite(folder, sqliteSchema).catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(error.message).toContain(
      `${file} was last used by mailsvc 9.8.7, which is newer than this mailsvc ${sqliteSchema.version} (migrations of 2096-10-02 and`,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("a database that a later build of the same version has migrated is refused without comparing equal versions", async () => {
    await (await open()).close();
    const raw = new Database(join(folder, "mailsvc.db"));
    raw.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 4000000000000)");
    raw.close();
    await expect(openSqlite(folder, sqliteSchema)).rejects.toThrow(
      `was last used by a later build of mailsvc ${sqliteSchema.version} than this one (migrations of 2096-10-02 and`,
    );
  });

  test.each([
    ["emptied", (file: string) => writeFileSync(file, "")],
    ["deleted", (file: string) => rmSync(file)],
  ])("a database that was %s next to its key is refused, and not replaced by a new one", async (_how, lose) => {
    await (await open()).close();
    writeFileSync(join(folder, "secret.key"), "x");
    const file = join(folder, "mailsvc.db");
    lose(file);
    const error = (await openSqlite(folder, sqliteSchema).catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(error.message).toMatch(
      /mailsvc\.db is (empty|missing), but secret\.key next to it belongs to an installation\. Restore a backup/,
    );
    expect(existsSync(file) && statSync(file).size > 0).toBe(false);
  });

  test("a damaged file is named, together with the remedy", async () => {
    await (await open()).close();
    const file = join(folder, "mailsvc.db");
    writeFileSync(file, "this is no database, but long enough to be taken for one by its size alone".repeat(200));
    const error = (await openSqlite(folder, sqliteSchema).catch((e: unknown) => e)) as Error;
    expect(error.message).toBe(`${file} is damaged or not a database (SQLITE_NOTADB). Restore a backup: mailsvc restore`);
    // The folder is free again.
    rmSync(file);
    await open();
  });

  test("a second open is refused, naming the folder and what to do", async () => {
    await open();
    const error = (await openSqlite(folder, sqliteSchema).catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(error.message).toBe(
      `Another mailsvc server (process ${process.pid}) is using ${folder}. Stop it, or give this one its own folder with --data.`,
    );
  });

  test("a folder held by another process is refused, naming that process, and is free once it was killed", async () => {
    const other = await holder();
    try {
      await expect(open()).rejects.toThrow(`(process ${other.pid})`);
    } finally {
      await other.kill();
    }
    const db = await open();
    await put(db, "a");
    expect(await count(db)).toBe(1);
    expect(readFileSync(join(folder, "server.pid"), "utf8")).toBe(`${process.pid}\n`);
  });

  test("closing gives the folder back", async () => {
    await (await open()).close();
    await expect(open()).resolves.toBeDefined();
  });

  test("a folder that cannot be opened as a database is refused, and not left locked", async () => {
    writeFileSync(join(folder, "mailsvc.db"), "this is no database, and it is long enough to be read as one".repeat(20));
    await expect(open()).rejects.toThrow();
    rmSync(join(folder, "mailsvc.db"));
    await expect(open()).resolves.toBeDefined();
  });
});

describe("group commit", () => {
  test("a hundred callers at once share a few commits", async () => {
    const db = await open();
    const { commits } = db.writer.stats;
    await Promise.all(Array.from({ length: 100 }, (_, i) => put(db, `row-${i}`)));
    expect(db.writer.stats.commits - commits).toBe(1);
    expect(db.writer.stats.transactions).toBeGreaterThanOrEqual(100);
    expect(await count(db)).toBe(100);
  });

  test("a group is never larger than its limit", async () => {
    const db = await open({ maxGroup: 10 });
    await Promise.all(Array.from({ length: 100 }, (_, i) => put(db, `row-${i}`)));
    expect(db.writer.stats).toEqual({ commits: 10, transactions: 100 });
  });

  test("callers beyond the limit of those that may wait are refused at once; the others are served", async () => {
    const db = await open({ maxWaiting: 5 });
    const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => put(db, `row-${i}`)));
    expect(ends.map((e) => e.status)).toEqual([...Array(5).fill("fulfilled"), ...Array(3).fill("rejected")]);
    expect(ends.at(-1)).toMatchObject({ reason: expect.any(StorageUnavailable) });
    await put(db, "afterwards");
    expect(await count(db)).toBe(6);
  });

  test("commits held back while connections pour in come within milliseconds all the same", async () => {
    const db = await open();
    let pouring = true;
    const pour = (): void => {
      db.writer.connectionAccepted();
      if (pouring) setImmediate(pour);
    };
    pour();
    const since = performance.now();
    await put(db, "a");
    const took = performance.now() - since;
    pouring = false;
    expect(took).toBeGreaterThanOrEqual(9);
    expect(took).toBeLessThan(2000);
  });

  test("closing waits for those that wait", async () => {
    const db = await open();
    const writes = [1, 2, 3].map((n) => put(db, `row-${n}`));
    await db.close();
    await expect(Promise.all(writes)).resolves.toHaveLength(3);
  });

  test("work done alone finds no transaction open, and what it does is seen by the next one", async () => {
    const db = await open();
    const writes = Array.from({ length: 20 }, (_, i) => put(db, `row-${i}`));
    const inTransaction = await db.exclusive((c) => {
      c.exec("INSERT INTO meta (name, value) VALUES ('alone', '1')");
      return c.inTransaction;
    });
    await Promise.all(writes);
    expect(inTransaction).toBe(false);
    expect(await count(db)).toBe(21);
  });
});

describe("a transaction that waits for something else than its queries", () => {
  /** Calls a server on this machine that takes its time. */
  const knock = async (): Promise<void> => {
    const server = createServer((socket) => void realTime.sleep(500).then(() => socket.end("late")));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await new Promise((answered) => socket.once("data", answered));
    server.close();
  };
  const stalled = /waited for something other than its queries/;

  test.each([
    ["a timer", () => realTime.sleep(1000)],
    ["the network", () => knock()],
    ["something that never comes", () => new Promise<void>(() => {})],
  ])("is rolled back and told so: %s", async (_what, wait) => {
    const db = await open();
    const waiting = db.tx(async (tx) => {
      await tx.insert(tx.t.meta).values({ name: "a", value: "1" });
      await wait();
    });
    await expect(waiting).rejects.toThrow(MisplacedQuery);
    await expect(waiting).rejects.toThrow(stalled);
    expect(await count(db)).toBe(0);
  });

  test("does not harm those before and after it in the same group", async () => {
    const db = await open();
    const before = put(db, "before");
    const waiting = db.tx(async (tx) => {
      await tx.insert(tx.t.meta).values({ name: "lost", value: "1" });
      await realTime.sleep(1000);
    });
    const after = put(db, "after");
    await expect(waiting).rejects.toThrow(stalled);
    await Promise.all([before, after]);
    expect(await count(db)).toBe(2);
  });

  test("is refused when it goes on writing later, also while another transaction is open", async () => {
    const db = await open();
    let late: Promise<unknown> = Promise.resolve();
    const waiting = db.tx(async (tx) => {
      await realTime.sleep(20);
      late = put(db, "other").then(() => {});
      await tx.insert(tx.t.meta).values({ name: "late", value: "1" });
    });
    await expect(waiting).rejects.toThrow(stalled);
    await realTime.sleep(30);
    await late;
    const names = (await db.read.select().from(db.read.t.meta)).map((r) => r.name);
    expect(names).toEqual(["other"]);
  });
});

describe("a full disk", () => {
  const fill = (db: SqliteDb) => db.exclusive((c) => void c.pragma(`max_page_count = ${c.pragma("page_count", { simple: true })}`));
  const big = "x".repeat(200_000);

  test("is a StorageUnavailable to those who wrote, and the gate recovers by itself", async () => {
    const db = await open();
    await put(db, "before");
    await fill(db);
    const full = (await put(db, "too much", big).catch((e: unknown) => e)) as Error;
    expect(full).toBeInstanceOf(StorageUnavailable);
    expect(full.message).toBe("The database cannot work at the moment: its disk is full (SQLITE_FULL).");
    expect(await count(db)).toBe(1);
    await db.exclusive((c) => void c.pragma("max_page_count = 1000000"));
    await put(db, "fits now", big);
    expect(await count(db)).toBe(2);
    expect(await db.exclusive((c) => c.pragma("integrity_check", { simple: true }))).toBe("ok");
  });

  test("stores nothing of a transaction that SQLite has rolled back, also not what was asked at the same time", async () => {
    const db = await open();
    await put(db, "before");
    await fill(db);
    const both = db.tx(async (tx) => {
      const insert = (name: string, value: string) => tx.insert(tx.t.meta).values({ name, value });
      await Promise.all([insert("too much", big), insert("small", "1")]);
    });
    await expect(both).rejects.toThrow("SQLITE_FULL");
    const caught = db.tx(async (tx) => {
      await tx
        .insert(tx.t.meta)
        .values({ name: "too much", value: big })
        .catch(() => {});
      await tx.insert(tx.t.meta).values({ name: "small", value: "1" });
    });
    await expect(caught).rejects.toBeInstanceOf(StorageUnavailable);
    expect((await db.read.select().from(db.read.t.meta)).map(({ name }) => name)).toEqual(["before"]);
  });

  test("no caller of a group is told its row is stored when it is not", async () => {
    const db = await open();
    await fill(db);
    const ends = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => put(db, `row-${i}`, i === 10 ? big : "1")));
    const stored = new Set((await db.read.select().from(db.read.t.meta)).map((r) => r.name));
    for (const [i, end] of ends.entries()) expect([i, stored.has(`row-${i}`)]).toEqual([i, end.status === "fulfilled"]);
    for (const end of ends) if (end.status === "rejected") expect(end.reason).toBeInstanceOf(StorageUnavailable);
    expect(ends[10]?.status).toBe("rejected");
  });
});
