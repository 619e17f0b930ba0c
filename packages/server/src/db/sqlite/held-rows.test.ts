import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteSchema } from "../../schema.sqlite.ts";
import { emptyDatabase } from "../../testing/empty-database.ts";
import type { Tx } from "../db.ts";
import { UniqueViolation } from "../errors.ts";
import { openSqlite, type SqliteDb } from "./database.ts";

let folder: string;
let db: SqliteDb;
const kind = {};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-held-"));
  writeFileSync(join(folder, "mailsvc.db"), await emptyDatabase());
  db = await openSqlite(folder, sqliteSchema, { synchronous: "OFF" });
});
afterEach(async () => {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (tx: Tx, ...names: string[]) =>
  tx.insertAll(
    tx.t.meta,
    names.map((name) => ({ name, value: "1" })),
  );
const names = async (): Promise<string[]> => (await db.read.select().from(db.read.t.meta).orderBy(db.read.t.meta.name)).map((r) => r.name);
const event = (type: string) => ({ workspaceId: "ws", type, emailId: null, contactId: null, at: 1, data: null });

const look = async (tx: Tx): Promise<number> => tx.$count(tx.t.meta);

// The row is found by COMMIT, by the tenth row, or by another caller's query.
test.each([
  ["at the end", 3, false],
  ["with the tenth", 12, false],
  ["by a query of another transaction", 3, true],
])("a row that cannot be inserted, found %s, fails its own transaction only", async (_when, callers, looks) => {
  await db.tx((tx) => put(tx, "taken"));
  const ends = await Promise.allSettled([
    ...Array.from({ length: callers }, (_, i) => db.tx((tx) => put(tx, `a${String(i).padStart(2, "0")}`), kind)),
    db.tx((tx) => put(tx, "lost", "taken"), kind),
    db.tx(async (tx) => {
      if (looks) await look(tx);
      await put(tx, "last");
    }, kind),
  ]);
  expect(ends.map(({ status }) => status)).toEqual([...Array.from({ length: callers }, () => "fulfilled"), "rejected", "fulfilled"]);
  expect((ends[callers] as PromiseRejectedResult).reason).toBeInstanceOf(UniqueViolation);
  expect(await names()).toEqual([...Array.from({ length: callers }, (_, i) => `a${String(i).padStart(2, "0")}`), "last", "taken"]);
});

test("who catches the error of an own row, or of another's, goes on with the right rows", async () => {
  await db.tx((tx) => put(tx, "taken"));
  const catching = async (tx: Tx, name: string): Promise<string> => {
    try {
      await put(tx, name);
      await look(tx);
      return "put";
    } catch {
      await put(tx, `${name} again`);
      return "caught";
    }
  };
  const ends = await Promise.allSettled([
    db.tx((tx) => put(tx, "taken"), kind),
    db.tx((tx) => catching(tx, "taken"), kind),
    db.tx((tx) => catching(tx, "free"), kind),
  ]);
  expect(ends.map((end) => (end.status === "fulfilled" ? end.value : "failed"))).toEqual(["failed", "caught", "put"]);
  expect(await names()).toEqual(["free", "taken", "taken again"]);
});

test("a transaction sees the rows it has inserted, and those that others inserted before it", async () => {
  const seen = await Promise.all(
    Array.from({ length: 23 }, (_, i) =>
      db.tx(async (tx) => {
        await put(tx, `row ${i}`);
        return i % 4 === 3 ? look(tx) : i + 1;
      }, kind),
    ),
  );
  expect(seen).toEqual(Array.from({ length: 23 }, (_, i) => i + 1));
});

test("one that throws takes its rows with it, and the others keep theirs", async () => {
  const ends = await Promise.allSettled(
    Array.from({ length: 25 }, (_, i) =>
      db.tx(async (tx) => {
        await put(tx, `row ${String(i).padStart(2, "0")}`);
        if (i % 5 === 2) throw new Error("boom");
      }, kind),
    ),
  );
  const kept = Array.from({ length: 25 }, (_, i) => i).filter((i) => i % 5 !== 2);
  expect(ends.flatMap(({ status }, i) => (status === "fulfilled" ? [i] : []))).toEqual(kept);
  expect(await names()).toEqual(kept.map((i) => `row ${String(i).padStart(2, "0")}`));
});

test("numbers are those of the rows, also when others insert and delete in between", async () => {
  const { events } = db.read.t;
  const given = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      db.tx(async (tx) => {
        if (i % 7 === 3) await tx.insertAll(tx.t.events, [event(`uncounted ${i}`)]);
        const numbers = await tx.insertNumbered(tx.t.events, [event(`first ${i}`), { ...event(`second ${i}`), emailId: "em" }]);
        if (i % 11 === 5) await tx.delete(tx.t.events).where(eq(tx.t.events.sequence, numbers[1] as number));
        return numbers;
      }, kind),
    ),
  );
  const rows = new Map((await db.read.select().from(events)).map(({ sequence, type }) => [sequence, type]));
  expect(rows.size).toBe(30 * 2 + 4 - 3);
  for (const [i, [first = 0, second = 0]] of given.entries()) {
    expect(rows.get(first)).toBe(`first ${i}`);
    if (i % 11 !== 5) expect(rows.get(second)).toBe(`second ${i}`);
  }
});

test("rows are stored in the order in which they were inserted, whatever is null in them", async () => {
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      db.tx((tx) => tx.insertAll(tx.t.events, [{ ...event(`e${i}`), contactId: i % 3 === 0 ? "con" : null }]), kind),
    ),
  );
  const rows = await db.read.select().from(db.read.t.events).orderBy(db.read.t.events.sequence);
  expect(rows.map(({ type }) => type)).toEqual(Array.from({ length: 40 }, (_, i) => `e${i}`));
});
