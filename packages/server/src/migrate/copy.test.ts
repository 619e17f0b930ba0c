import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, dropDatabases, type TestDatabase } from "../../test/postgres.ts";
import { sqliteBackend } from "../backend.sqlite.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { openPostgres } from "../db/postgres/database.ts";
import { openSqlite, type SqliteDb } from "../db/sqlite/database.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import { migrateToPostgres } from "../maintenance.ts";
import { createQueue } from "../queue/create-queue.ts";
import { JOB_LANES } from "../queue/queue.ts";
import { PostgresJobStore } from "../queue/store.pg.ts";
import { postgresSchema } from "../schema.pg.ts";
import { sqliteSchema } from "../schema.sqlite.ts";
import { type CopyProgress, CopyRefused } from "./report.ts";

let folder: string;
let target: TestDatabase;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-move-"));
  target = await createDatabase("empty");
});
afterEach(async () => {
  await target.drop();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(dropDatabases);

const EMAILS = 2500;
const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
const headers = { "X-Second": "2", "X-First": "1", "x-10": "10", "9": "nine" };

/** An installation with every kind of value, and more rows than travel at a time. */
const fill = async (): Promise<void> => {
  const { db, makeQueue } = await sqliteBackend(folder, { synchronous: "OFF" });
  const queue = makeQueue({ clock: systemClock, random: seededRandom(1), log: silentLog, overloaded: () => false });
  const { meta, workspaces, contents, attachments, emails, events, keys, engagements } = db.read.t;
  await db.tx(async (tx) => {
    await tx.insert(workspaces).values({ id: "ws_1", name: "default", replies: false, createdAt: 1 });
    await tx.insert(meta).values({ name: "firstWorkspace", value: "ws_1" });
    await tx.insert(keys).values({
      id: "key_1",
      workspaceId: "ws_1",
      name: "owner",
      permissions: [],
      owner: true,
      test: false,
      hash: "h",
      preview: "p",
      createdAt: 2 ** 41,
      revokedAt: null,
    });
    const text = { workspaceId: "ws_1", from: "a@b.example", replyTo: null, subject: "👩‍👩‍👧 ü", tags: {}, attachments: 1 };
    await tx.insert(contents).values({ ...text, headers, html: null, text: "quote ' \" \\ {a,b} NULL \n\t e\u0301" });
    await tx.insert(contents).values({ ...text, headers: {}, html: "before\0after", text: null });
    await tx
      .insert(attachments)
      .values({ contentsId: 1, position: 0, filename: "f", contentType: "x/y", contentId: null, size: 256, content: bytes });
    for (let n = 0; n < EMAILS; n += 1) {
      const id = `em_${String(n).padStart(26, "0")}`;
      const error = n % 7 === 0 ? { message: "no", smtpCode: 550, enhancedCode: "5.1.1" } : null;
      await tx.insert(emails).values({
        workspaceId: "ws_1",
        id,
        contentsId: 1,
        to: `R${n}@x.example`,
        toKey: `r${n}@x.example`,
        status: "sent",
        attempts: 1,
        inDoubt: n % 2 === 0,
        lastError: error as never,
        createdAt: n,
        scheduledAt: null,
        nextAttemptAt: null,
        sentAt: n,
        updatedAt: n,
        faults: 0,
        bytes: 0,
      });
      await tx
        .insert(events)
        .values({ workspaceId: "ws_1", type: "email.sent", emailId: assumeEmailHeld(id), at: n, data: n % 3 === 0 ? { n } : null });
    }
    // A flag is part of their key.
    const reader = { workspaceId: "ws_1", emailId: assumeEmailHeld("em_1"), events: 1, firstAt: 1, lastAt: 1 };
    for (let linkId = 0; linkId < 1001; linkId += 1) await tx.insert(engagements).values({ ...reader, linkId, machine: linkId % 2 === 0 });
    for (let n = 0; n < 1200; n += 1)
      await queue.enqueue(tx, {
        kind: `kind.${n % 3}`,
        payload: { n },
        lane: JOB_LANES[n % 2] ?? "default",
        runAt: 1_800_000_000_123 + n,
        ...(n === 5 && { dedupeKey: "five" }),
      });
  });
  // One that was running when the process was killed, and one that is dead.
  await (db as SqliteDb).exclusive((c) => {
    c.exec("UPDATE jobs SET state = 'running', attempts = 1, claims = 1 WHERE id = 1");
    c.exec("UPDATE jobs SET state = 'dead', attempts = 10, last_error = 'Error: no' WHERE id = 2");
  });
  await db.close();
};

test("everything arrives: rows, counts, order of keys, bytes, jobs with what is left of their attempts", async () => {
  await fill();
  const seen: CopyProgress[] = [];
  const report = await migrateToPostgres({ from: folder, to: target.url, onProgress: (p) => seen.push(p) });
  const rows = new Map(report.tables.map((t) => [t.table, t.rows]));
  expect([rows.get("emails"), rows.get("events"), rows.get("contents"), rows.get("jobs")]).toEqual([EMAILS, EMAILS, 2, 1200]);
  expect(report).toMatchObject({ resumed: false, rows: EMAILS * 2 + 2 + 1 + 1 + 1 + 1 + 1001 + 1200 });
  expect(seen.at(-1)).toMatchObject({ phase: "check", done: report.rows, total: report.rows });

  const db = await openPostgres(target.url, postgresSchema);
  const { contents, attachments, emails, events } = db.read.t;
  const [first, second] = await db.read.select().from(contents).orderBy(contents.id);
  expect(Object.keys(first?.headers ?? {})).toEqual(Object.keys(headers));
  expect(first).toMatchObject({ subject: "👩‍👩‍👧 ü", text: "quote ' \" \\ {a,b} NULL \n\t e\u0301" });
  // Text of Postgres cannot hold U+0000.
  expect(second?.html).toBe("before\uFFFDafter");
  expect([...((await db.read.select().from(attachments))[0]?.content ?? [])]).toEqual([...bytes]);
  expect((await db.read.select().from(emails).orderBy(emails.createdAt))[7]).toMatchObject({
    inDoubt: false,
    lastError: { smtpCode: 550 },
    sentAt: 7,
  });
  const parts = { db, clock: systemClock, random: seededRandom(1), log: silentLog };
  const queue = createQueue(new PostgresJobStore(parts), parts);
  const job = (id: string) => queue.get(db.read, id);
  expect(await job("1")).toMatchObject({ state: "running", attempts: 1, payload: { n: 0 }, runAt: 1_800_000_000_123 });
  expect(await job("2")).toMatchObject({ state: "dead", attempts: 10, maxAttempts: 10, lastError: "Error: no" });
  // Work that makes bulk mail keeps its lane, which a pause of all sending holds.
  const lanes = await db.read.raw<{ lane: number; n: number }>("select lane, count(*)::int as n from jobs group by 1 order by 1");
  expect(lanes).toEqual([0, 1].map((lane) => ({ lane, n: 600 })));
  // New rows continue the sequences.
  const [event] = await db.tx((tx) =>
    tx
      .insert(events)
      .values({ workspaceId: "ws_1", type: "email.sent", emailId: null, at: 0, data: null })
      .returning({ n: events.sequence }),
  );
  expect(event?.n).toBe(EMAILS + 1);
  await db.tx(async (tx) => queue.enqueue(tx, { kind: "later", payload: {}, dedupeKey: "five" }));
  expect(await queue.list(db.read, { limit: 1, offset: 0 })).toMatchObject({ total: 1200 });
  // The process that ran it is dead.
  await queue.start({}, 0);
  await queue.stop();
  expect(await job("1")).toMatchObject({ state: "ready", attempts: 0 });
  await db.close();
});

test("a move that was interrupted goes on where it was, and until then no server starts on the target", async () => {
  await fill();
  const stop = new Error("pulled the plug");
  const interrupted = migrateToPostgres({
    from: folder,
    to: target.url,
    onProgress: ({ table }) => {
      if (table === "events") throw stop;
    },
  });
  await expect(interrupted).rejects.toBe(stop);
  await expect(openPostgres(target.url, postgresSchema)).rejects.toThrow("A move into this database has not ended");
  const report = await migrateToPostgres({ from: folder, to: target.url });
  expect(report.resumed).toBe(true);
  expect(report.tables.find((t) => t.table === "emails")?.rows).toBe(EMAILS);
  await (await openPostgres(target.url, postgresSchema)).close();
});

test("a folder that a server uses is refused, and nothing has begun", async () => {
  await fill();
  const db = await openSqlite(folder, sqliteSchema);
  await expect(migrateToPostgres({ from: folder, to: target.url })).rejects.toThrow(StorageUnavailable);
  await db.close();
  await expect(migrateToPostgres({ from: folder, to: target.url })).resolves.toMatchObject({ resumed: false });
});

test("a target that holds an installation is refused, and so is a folder without one", async () => {
  await expect(migrateToPostgres({ from: folder, to: target.url })).rejects.toThrow(CopyRefused);
  await fill();
  await migrateToPostgres({ from: folder, to: target.url });
  await expect(migrateToPostgres({ from: folder, to: target.url })).rejects.toThrow("The target holds an installation already");
});

test("rows that changed on the way are found", async () => {
  await fill();
  const spoiled = migrateToPostgres({
    from: folder,
    to: target.url,
    onProgress: ({ phase, table }) => {
      if (phase === "check" && table === "contents") throw new Error("stop before the emails are checked");
    },
  });
  await expect(spoiled).rejects.toThrow("stop before");
  const db = await openPostgres(target.url, postgresSchema, { copying: true });
  await db.tx((tx) => tx.update(tx.t.emails).set({ inDoubt: true }));
  await db.close();
  await expect(migrateToPostgres({ from: folder, to: target.url })).rejects.toThrow(/Table emails differs: 2500 rows/);
});

test("the key that seals secrets goes along, out of its file", async () => {
  await fill();
  const key = Buffer.alloc(32, 7).toString("base64");
  writeFileSync(join(folder, "secret.key"), `${key}\n`);
  await migrateToPostgres({ from: folder, to: target.url });
  const db = await openPostgres(target.url, postgresSchema);
  const { meta } = db.read.t;
  expect(await db.read.select().from(meta).where(eq(meta.name, "masterKey"))).toEqual([{ name: "masterKey", value: key }]);
  await db.close();
});
