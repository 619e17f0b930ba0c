import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../test/postgres.ts";
import { readConfig } from "../config.ts";
import { describeDatabase } from "../db/postgres/place.ts";
import { jsonLog } from "../lib/log.ts";
import { createBackup, migrateToPostgres, moveFromPostgres, restoreBackup } from "../maintenance.ts";
import { serve } from "../serve.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "mailsvc-holder-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function start(data: string, flags: Record<string, string | boolean> = {}) {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => lines.push(line),
    () => 0,
  );
  const server = await serve(readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev: false }), log);
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await server.close();
    open = false;
  };
  onTestFinished(close);
  return { close, lines, workspaceId: server.workspaceId };
}

async function database() {
  const made = await createDatabase("empty");
  onTestFinished(made.drop);
  return made.url;
}

const takeOver = { "take-over": true };

test("a copied folder starts no server until one is told to take over, and the original goes on", async () => {
  const data = join(folder(), "data");
  await (await start(data)).close();
  const copy = join(folder(), "copy");
  cpSync(data, copy, { recursive: true });
  const original = await start(data);
  const refused = start(copy);
  await expect(refused).rejects.toMatchObject({ name: "StorageUnavailable", isAway: false });
  await expect(refused).rejects.toThrow(/is a copy of the installation in .+data on .+--take-over/);
  await original.close();
  const taken = await start(copy, takeOver);
  expect(taken.workspaceId).toBe(original.workspaceId);
  expect(taken.lines.join("")).toContain("has taken the installation over");
  await taken.close();
  // Once told, it stays told.
  await (await start(copy)).close();
  const needless = await start(copy, takeOver);
  expect(needless.lines.join("")).toContain("--take-over was not needed");
});

test("a folder that was renamed is the same one", async () => {
  const root = folder();
  await (await start(join(root, "before"))).close();
  renameSync(join(root, "before"), join(root, "after"));
  await (await start(join(root, "after"))).close();
});

test("an old backup that was restored beside its installation is refused, in a folder and on Postgres", async () => {
  const root = folder();
  const data = join(root, "data");
  await start(data);
  const file = join(root, "monday.backup");
  await createBackup({ data, databaseUrl: null, target: file });
  const restored = join(root, "restored");
  await restoreBackup({ data: restored, databaseUrl: null, file });
  await expect(start(restored)).rejects.toThrow(/was restored from a backup of \d{4}-.+--take-over/);
  await (await start(restored, takeOver)).close();
  await (await start(restored)).close();
  const url = await database();
  await restoreBackup({ data, databaseUrl: url, file });
  await expect(start(root, { "database-url": url })).rejects.toThrow("was restored from a backup of");
  await (await start(root, { "database-url": url, ...takeOver })).close();
  await (await start(root, { "database-url": url })).close();
});

test("after a move the folder starts no server, says where its data went, and how to go back", async () => {
  const data = join(folder(), "data");
  const before = await start(data);
  await before.close();
  const url = await database();
  await migrateToPostgres({ from: data, to: url });
  await expect(start(data)).rejects.toThrow(
    /was moved to the database mailsvc_test_\S+ of Postgres at .+ at \d{4}-.+--database-url.+--take-over/,
  );
  // A copy of the folder made afterwards is no way around it.
  const copy = join(folder(), "copy");
  cpSync(data, copy, { recursive: true });
  await expect(start(copy)).rejects.toThrow("was moved to");
  const [one, other] = [await start(data, { "database-url": url }), await start(folder(), { "database-url": url })];
  expect([one.workspaceId, other.workspaceId]).toEqual([before.workspaceId, before.workspaceId]);
  await one.close();
  await other.close();
  await (await start(data, takeOver)).close();
  expect(existsSync(join(data, "moved.json"))).toBe(false);
  await (await start(data)).close();
});

test("after a move from Postgres to a folder or another database the old one starts no server until it is taken over", async () => {
  const root = folder();
  const first = await start(join(root, "data"));
  await first.close();
  const url = await database();
  await migrateToPostgres({ from: join(root, "data"), to: url });
  await (await start(root, { "database-url": url })).close();
  const back = join(root, "back");
  const report = await moveFromPostgres({ from: url, to: back });
  expect(report).toMatchObject({
    resumed: false,
    tables: expect.arrayContaining([expect.objectContaining({ table: "workspaces", rows: 1 })]),
  });
  await expect(start(root, { "database-url": url })).rejects.toThrow(/was moved to .+back on .+ at \d{4}-.+--take-over/);
  const there = await start(back);
  expect(there.workspaceId).toBe(first.workspaceId);
  await there.close();
  await (await start(back)).close();
  // The same data cannot be moved a second time to another place.
  const [second, third] = [await database(), await database()];
  await expect(moveFromPostgres({ from: url, to: second })).rejects.toThrow(/was moved to .+back on/);
  await expect(moveFromPostgres({ from: url, to: back })).rejects.toThrow("holds an installation already");
  await expect(start(root, { "database-url": url })).rejects.toThrow("was moved to");
  await expect(migrateToPostgres({ from: join(root, "data"), to: second })).rejects.toThrow("was moved to the database");
  // Into the folder that it came from, once the old file is out of the way.
  await (await start(root, { "database-url": url, ...takeOver })).close();
  rmSync(join(root, "data", "mailsvc.db"));
  await moveFromPostgres({ from: url, to: join(root, "data") });
  await (await start(join(root, "data"))).close();
  // From one database to the next.
  await (await start(root, { "database-url": url, ...takeOver })).close();
  await moveFromPostgres({ from: url, to: third });
  await expect(start(root, { "database-url": url })).rejects.toThrow("was moved to the database");
  const other = await start(root, { "database-url": third });
  expect(other.workspaceId).toBe(first.workspaceId);
  await other.close();
});

test("a move from Postgres that was killed goes on when it is repeated, to the same place only, and until then no server starts", async () => {
  const root = folder();
  const [url, target] = [await database(), await database()];
  const first = await start(root, { "database-url": url });
  await first.close();
  // As the move leaves it that is killed while it copies.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const moved = JSON.stringify({ moved: { at: "2026-05-01T00:00:00.000Z", to: describeDatabase(target) } });
  await client.query("update meta set value = (value::jsonb || $1::jsonb)::text where name = 'holder'", [moved]);
  await client.end();
  await expect(start(root, { "database-url": url })).rejects.toThrow("if the move did not end, repeat mailsvc migrate");
  await expect(moveFromPostgres({ from: url, to: join(root, "elsewhere") })).rejects.toThrow("was moved to the database");
  await expect(start(root, { "database-url": url })).rejects.toThrow("was moved to");
  expect(await moveFromPostgres({ from: url, to: target })).toMatchObject({ resumed: true });
  const there = await start(folder(), { "database-url": target });
  expect(there.workspaceId).toBe(first.workspaceId);
  await there.close();
  await expect(start(root, { "database-url": url })).rejects.toThrow("was moved to");
});

test("a database that servers use is not moved, and they go on; one whose move is refused by the target stays where it is", async () => {
  const root = folder();
  const url = await database();
  const running = await start(root, { "database-url": url });
  await expect(moveFromPostgres({ from: url, to: join(root, "away") })).rejects.toThrow("Servers run on the database");
  await (await start(root, { "database-url": url })).close();
  await running.close();
  const taken = join(root, "taken");
  await (await start(taken)).close();
  await expect(moveFromPostgres({ from: url, to: taken })).rejects.toMatchObject({ name: "CopyRefused" });
  await (await start(root, { "database-url": url })).close();
  await expect(moveFromPostgres({ from: url, to: "postgres://nobody@127.0.0.1:1/none" })).rejects.toMatchObject({
    name: "StorageUnavailable",
  });
  await (await start(root, { "database-url": url })).close();
  await expect(moveFromPostgres({ from: await database(), to: join(root, "none") })).rejects.toThrow(/not migrated|nothing to move/);
});

test("a database file that was replaced by an earlier state of itself, in place, is refused until one is told to take over", async () => {
  const data = join(folder(), "data");
  await (await start(data)).close();
  const file = join(data, "mailsvc.db");
  const old = join(folder(), "old.db");
  cpSync(file, old);
  await (await start(data)).close();
  // As `cp` does it: the same file with other contents.
  writeFileSync(file, readFileSync(old));
  await expect(start(data)).rejects.toThrow(/was replaced by an earlier state of itself.+--take-over/);
  await (await start(data, takeOver)).close();
  await (await start(data)).close();
});

test("a database made from another one as a template is refused; processes of one database start beside each other", async () => {
  const root = folder();
  const url = await database();
  const first = await start(root, { "database-url": url });
  await (await start(root, { "database-url": url })).close();
  await first.close();
  const copied = await database();
  const name = new URL(copied).pathname.slice(1);
  const client = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: "/postgres" }).href });
  await client.connect();
  await client.query(`drop database "${name}"`);
  await client.query(`create database "${name}" template "${new URL(url).pathname.slice(1)}"`);
  await client.end();
  await expect(start(root, { "database-url": copied })).rejects.toThrow(/is a copy of the installation in the database mailsvc_test_/);
  await (await start(root, { "database-url": copied, ...takeOver })).close();
});
