import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../test/postgres.ts";
import { readConfig } from "../config.ts";
import { jsonLog } from "../lib/log.ts";
import { createBackup, migrateToPostgres, restoreBackup } from "../maintenance.ts";
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

test("a move back from Postgres to a folder is a restore that somebody confirms", async () => {
  const root = folder();
  const data = join(root, "data");
  await (await start(data)).close();
  const url = await database();
  await migrateToPostgres({ from: data, to: url });
  await (await start(root, { "database-url": url })).close();
  const file = join(root, "back.backup");
  await createBackup({ data, databaseUrl: url, target: file });
  // Into the folder that was left, once its old database is out of the way.
  rmSync(join(data, "mailsvc.db"));
  await restoreBackup({ data, databaseUrl: null, file });
  await expect(start(data)).rejects.toThrow("was restored from a backup of");
  await (await start(data, takeOver)).close();
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
