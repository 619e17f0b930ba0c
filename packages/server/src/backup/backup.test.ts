import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase as createPostgres, dropDatabases } from "../../test/postgres.ts";
import { openPostgres } from "../db/postgres/database.ts";
import { openSqlite, type SqliteDb } from "../db/sqlite/database.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import { createBackup, restoreBackup } from "../maintenance.ts";
import { createQueue } from "../queue/create-queue.ts";
import { JOB_LANES } from "../queue/queue.ts";
import { PostgresJobStore } from "../queue/store.pg.ts";
import { postgresSchema } from "../schema.pg.ts";
import { sqliteSchema } from "../schema.sqlite.ts";
import { explainFullDisk } from "./backup.ts";
import { BackupRefused } from "./report.ts";

const KEY = `${Buffer.alloc(32, 7).toString("base64")}\n`;

let root: string;
let data: string;
let file: string;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mailsvc-backup-"));
  data = join(root, "data");
  file = join(root, "monday.backup");
});
afterEach(async () => {
  for (const db of open.splice(0)) await db.close();
  rmSync(root, { recursive: true, force: true });
});
afterAll(dropDatabases);

const start = async (folder = data): Promise<SqliteDb> => {
  const db = await openSqlite(folder, sqliteSchema, { synchronous: "OFF" });
  open.push(db);
  if (!existsSync(join(folder, "secret.key"))) writeFileSync(join(folder, "secret.key"), KEY);
  return db;
};
const put = (db: Pick<SqliteDb, "tx">, ...names: string[]): Promise<void> =>
  db.tx(async (tx) => {
    for (const name of names) await tx.insert(tx.t.meta).values({ name, value: "ü\u{1f600}" });
  });
const names = async (db: Pick<SqliteDb, "read">): Promise<string[]> =>
  (await db.read.select().from(db.read.t.meta)).map(({ name }) => name).toSorted();
const here = (folder = data) => ({ data: folder, databaseUrl: null });

test("a backup made under load holds whole transactions, and everything that was acknowledged before it", async () => {
  const db = await start();
  await put(db, "firstWorkspace");
  let stop = false;
  let acknowledged = 0;
  const load = (async () => {
    for (let i = 0; !stop; i += 1) {
      await put(db, `left ${i}`, `right ${i}`);
      acknowledged = i + 1;
    }
  })();
  while (acknowledged < 50) await new Promise((next) => setImmediate(next));
  const before = acknowledged;
  const report = await createBackup({ ...here(), target: file });
  stop = true;
  await load;
  expect(report).toMatchObject({ file, key: "included", version: sqliteSchema.version });
  expect(report.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect([statSync(file).mode & 0o777, readdirSync(root).toSorted()]).toEqual([0o600, ["data", "monday.backup"]]);

  const restored = join(root, "restored");
  await restoreBackup({ ...here(restored), file });
  const found = await names(await start(restored));
  const lefts = found.filter((name) => name.startsWith("left")).length;
  expect(found.filter((name) => name.startsWith("right"))).toHaveLength(lefts);
  expect(lefts).toBeGreaterThanOrEqual(before);
  expect(readFileSync(join(restored, "secret.key"), "utf8")).toBe(KEY);
  // The key is no longer inside the database.
  expect(readFileSync(join(restored, "mailsvc.db")).includes(KEY.trim())).toBe(false);
});

test("a folder as the target gets a file named after the instant; an existing file is not overwritten", async () => {
  await start();
  const folder = join(root, "backups");
  mkdirSync(folder);
  const { file: made } = await createBackup({ ...here(), target: folder });
  expect(made).toMatch(/backups\/mailsvc-\d{8}T\d{6}Z\.backup$/);
  await expect(createBackup({ ...here(), target: made })).rejects.toThrow(`${made} exists already.`);
  await expect(createBackup({ ...here(root), target: file })).rejects.toThrow("There is no mailsvc database in");
  expect(existsSync(file)).toBe(false);
});

test("of a folder of backups the latest ones stay, and other files", async () => {
  await start();
  const folder = join(root, "backups");
  mkdirSync(folder);
  for (const name of ["mailsvc-20250101T033000Z.backup", "mailsvc-20250102T033000Z.backup", "monday.backup"])
    writeFileSync(join(folder, name), "");
  const { file: made, deleted } = await createBackup({ ...here(), target: folder, keep: 2 });
  expect(deleted).toEqual([join(folder, "mailsvc-20250101T033000Z.backup")]);
  const left = readdirSync(folder).map((name) => join(folder, name));
  expect(left.toSorted()).toEqual([join(folder, "mailsvc-20250102T033000Z.backup"), made, join(folder, "monday.backup")].toSorted());
  await expect(createBackup({ ...here(), target: file, keep: 2 })).rejects.toThrow("--keep is for a folder of backups");
});

test("without the key the backup does not contain it, and says so at the restore", async () => {
  await start();
  expect(await createBackup({ ...here(), target: file, withoutKey: true })).toMatchObject({ key: "left out" });
  expect(readFileSync(file).includes(KEY.trim())).toBe(false);
  const restored = join(root, "restored");
  expect(await restoreBackup({ ...here(restored), file })).toMatchObject({ key: "left out" });
  expect(existsSync(join(restored, "secret.key"))).toBe(false);
});

test("a damaged or changed backup is refused, and leaves the target as it was", async () => {
  const db = await start();
  await put(db, "a", "b");
  await createBackup({ ...here(), target: file });
  const changed = join(root, "changed.backup");
  writeFileSync(changed, readFileSync(file));
  const raw = new Database(changed);
  raw.exec("UPDATE meta SET value = 'forged' WHERE name = 'a'");
  raw.close();
  const target = join(root, "restored");
  await expect(restoreBackup({ ...here(target), file: changed })).rejects.toMatchObject({
    name: "BackupDamaged",
    message: `${changed} was altered: table meta differs from what was backed up (other contents in its 2 rows). Use another backup.`,
  });
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4096, 40_960);
  writeFileSync(changed, bytes);
  await expect(restoreBackup({ ...here(target), file: changed })).rejects.toMatchObject({
    name: "BackupDamaged",
    message: expect.stringMatching(/is damaged.* Use another backup\./),
  });
  const whole = readFileSync(file);
  writeFileSync(changed, whole.subarray(0, whole.length - 5000));
  await expect(restoreBackup({ ...here(target), file: changed })).rejects.toMatchObject({
    name: "BackupDamaged",
    message: `${changed} is truncated: ${whole.length - 5000} of its ${whole.length} bytes are there. Use another backup.`,
  });
  writeFileSync(changed, "");
  await expect(restoreBackup({ ...here(target), file: changed })).rejects.toThrow(`${changed} is empty. Use another backup.`);
  writeFileSync(changed, "no database at all");
  await expect(restoreBackup({ ...here(target), file: changed })).rejects.toThrow(/is damaged or not a database/);
  await expect(restoreBackup({ ...here(target), file: join(data, "mailsvc.db") })).rejects.toThrow("but not a backup");
  expect(existsSync(join(target, "mailsvc.db"))).toBe(false);
});

test("a backup that cannot be created names the target and not the database, and leaves nothing", async () => {
  const db = await start();
  await put(db, "a");
  const target = join(root, "nowhere", "x.backup");
  const refused = { name: "BackupRefused", message: expect.stringContaining(`${target} cannot be created (ENOENT)`) };
  await expect(createBackup({ ...here(), target })).rejects.toMatchObject(refused);
  expect(readdirSync(root)).toEqual(["data"]);
});

test("data of a newer version is neither backed up nor restored; the error names both versions", async () => {
  const db = await start();
  await put(db, "firstWorkspace");
  await createBackup({ ...here(), target: file });
  const migrateFurther = (path: string): void => {
    const raw = new Database(path);
    raw.exec("INSERT INTO __drizzle_migrations (hash, created_at) SELECT 'next', max(created_at) + 1 FROM __drizzle_migrations");
    raw.exec("UPDATE __mailsvc SET version = '99.0.0'");
    raw.close();
  };
  const newer = (path: string): string =>
    `${path} was last used by mailsvc 99.0.0, which is newer than this mailsvc ${sqliteSchema.version}`;
  migrateFurther(join(data, "mailsvc.db"));
  const other = join(root, "tuesday.backup");
  await expect(createBackup({ ...here(), target: other })).rejects.toThrow(newer(join(data, "mailsvc.db")));
  migrateFurther(file);
  const target = join(root, "restored");
  await expect(restoreBackup({ ...here(target), file })).rejects.toThrow(newer(file));
  expect(readdirSync(root).toSorted()).toEqual(["data", "monday.backup"]);
});

test("a restore into a folder that cannot be created is refused, even where mkdir never returns", async () => {
  await start();
  await createBackup({ ...here(), target: file });
  await expect(restoreBackup({ ...here(join(file, "data")), file })).rejects.toThrow(/cannot be created \(ENOTDIR\)/);
  if (process.platform === "linux")
    await expect(restoreBackup({ ...here("/proc/nope/data"), file })).rejects.toThrow(/cannot be created \(ENOENT\)/);
});

test("a restore does not replace an installation or another key, but an emptied database", async () => {
  await put(await start(), "a");
  await createBackup({ ...here(), target: file });
  await expect(restoreBackup({ ...here(), file })).rejects.toThrow("is using");
  await open.pop()?.close();
  await expect(restoreBackup({ ...here(), file })).rejects.toThrow("holds an installation already");
  writeFileSync(join(data, "mailsvc.db"), "");
  await expect(openSqlite(data, sqliteSchema)).rejects.toThrow("Restore a backup");
  await restoreBackup({ ...here(), file });
  expect(await names(await start())).toEqual(["a"]);
  const other = join(root, "other");
  mkdirSync(other);
  writeFileSync(join(other, "secret.key"), "another key\n");
  await expect(restoreBackup({ ...here(other), file })).rejects.toThrow("is another key than the one in the backup");
});

test("a backup of Postgres fits a folder and another Postgres, with jobs and the key, which leaves the tables", async () => {
  const [from, to] = [await createPostgres(), await createPostgres("empty")];
  const db = await openPostgres(from.url, postgresSchema, { migrate: false });
  open.push(db);
  await db.tx(async (tx) => {
    await tx.insert(tx.t.meta).values({ name: "masterKey", value: KEY.trim() });
    await tx.insert(tx.t.meta).values({ name: "firstWorkspace", value: "ws_1" });
    await tx.insert(tx.t.workspaces).values({ id: "ws_1", name: "Acme", replies: false, createdAt: 1 });
  });
  const parts = { db, clock: systemClock, random: seededRandom(1), log: silentLog };
  const queue = createQueue(new PostgresJobStore(parts), parts);
  await db.tx(async (tx) =>
    queue.enqueue(tx, { kind: "work", payload: { n: 1 }, lane: "background", runAt: 4_000_000_000_000, dedupeKey: "once" }),
  );
  expect(await createBackup({ data, databaseUrl: from.url, target: file })).toMatchObject({ key: "included" });

  await restoreBackup({ ...here(), file });
  const restored = await start();
  expect(await names(restored)).toEqual(["firstWorkspace"]);
  expect(readFileSync(join(data, "secret.key"), "utf8")).toBe(KEY);
  expect(await restored.read.select().from(restored.read.t.jobs)).toMatchObject([
    {
      kind: "work",
      payload: { n: 1 },
      state: "ready",
      attempts: 0,
      lane: JOB_LANES.indexOf("background"),
      dedupeKey: "once",
      runAt: 4_000_000_000_000,
    },
  ]);

  await restoreBackup({ data, databaseUrl: to.url, file });
  const copy = await openPostgres(to.url, postgresSchema);
  open.push(copy);
  expect(await copy.read.select().from(copy.read.t.workspaces)).toMatchObject([{ id: "ws_1", name: "Acme" }]);
  expect(await names(copy as unknown as SqliteDb)).toEqual(["firstWorkspace", "masterKey"]);
  const again = restoreBackup({ data, databaseUrl: to.url, file });
  await expect(again).rejects.toThrow("The target holds an installation already. Use an empty database.");
  await expect(again).rejects.toBeInstanceOf(BackupRefused);
  await Promise.all(open.splice(0).map((one) => one.close()));
  await Promise.all([from.drop(), to.drop()]);
});

test("a disk that is full is refused in words for people, other errors stay what they are", () => {
  const db = new Database(join(root, "small.db"));
  try {
    db.pragma("max_page_count = 2");
    let full: unknown;
    try {
      db.exec("CREATE TABLE a (b); CREATE TABLE c (d); INSERT INTO a VALUES (zeroblob(100000))");
    } catch (error) {
      full = error;
    }
    expect(full).toMatchObject({ code: "SQLITE_FULL" });
    expect(explainFullDisk(full, file)).toBeInstanceOf(BackupRefused);
    expect(explainFullDisk(full, file)).toMatchObject({ message: expect.stringContaining(`not enough space for ${file}`) });
  } finally {
    db.close();
  }
  expect(explainFullDisk(Object.assign(new Error("write"), { code: "ENOSPC" }), file)).toBeInstanceOf(BackupRefused);
  const other = new Error("other");
  expect(explainFullDisk(other, file)).toBe(other);
});
