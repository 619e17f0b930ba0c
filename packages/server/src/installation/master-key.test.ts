import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase } from "../../test/postgres.ts";
import { type Config, ConfigError, readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { createBackup, restoreBackup } from "../maintenance.ts";
import { type RunningServer, serve } from "../serve.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
const OTHER = Buffer.alloc(32, 2).toString("base64");

let root: string;
let data: string;
let server: RunningServer | null = null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mailsvc-master-key-"));
  data = join(root, "data");
});
afterEach(async () => {
  await server?.close();
  server = null;
  rmSync(root, { recursive: true, force: true });
});

const config = (flags: Record<string, string | boolean> = {}): Config =>
  readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev: false });
const runOnce = async (flags?: Record<string, string | boolean>): Promise<void> => {
  server = await serve(config(flags), silentLog);
  await server.close();
  server = null;
};
const refuse = async (flags?: Record<string, string>): Promise<string> => {
  const error = await runOnce(flags).catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).message;
};

test("a lost key is not replaced by another one, which would look like the right one", async () => {
  await runOnce();
  const file = join(data, "secret.key");
  const key = readFileSync(file, "utf8");
  rmSync(file);
  expect(await refuse()).toBe(
    `There is no ${file}, which holds the key that the data was encrypted with. Put it back from a backup, or pass the key with --secret-key.`,
  );
  expect(existsSync(file)).toBe(false);
  await runOnce({ "secret-key": key.trim() });
  writeFileSync(file, key);
  await runOnce();
});

test("on Postgres no key is put into a database whose servers get theirs from --secret-key", async () => {
  const database = await createDatabase("empty");
  try {
    const flags = { "database-url": database.url };
    await runOnce({ ...flags, "secret-key": KEY });
    expect(await refuse(flags)).toBe("The data was encrypted with a key that is not in the database. Pass it with --secret-key.");
    expect(await refuse({ ...flags, "secret-key": OTHER })).toMatch(/^The data was encrypted with another key\./);
    const file = join(root, "monday.backup");
    expect(await createBackup({ data, databaseUrl: database.url, target: file })).toMatchObject({ key: "none" });
  } finally {
    await server?.close();
    await database.drop();
  }
});

test("a backup is refused whose key would start no server", async () => {
  await runOnce({ "secret-key": KEY });
  const file = join(root, "monday.backup");
  writeFileSync(join(data, "secret.key"), `${OTHER}\n`);
  await expect(createBackup({ data, databaseUrl: null, target: file })).rejects.toThrow(
    `${join(data, "secret.key")} holds another key than the one that the data was encrypted with.`,
  );
  expect(existsSync(file)).toBe(false);
  const without = await createBackup({ data, databaseUrl: null, target: file, withoutKey: true });
  expect(without).toMatchObject({ key: "left out" });
  const restored = join(root, "restored");
  await restoreBackup({ data: restored, databaseUrl: null, file });
  cpSync(restored, data, { recursive: true });
  writeFileSync(join(data, "secret.key"), `${KEY}\n`);
  await runOnce({ "take-over": true });
});
