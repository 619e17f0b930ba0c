import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "./config.ts";
import { silentLog } from "./lib/log.ts";
import { type RunningServer, serve, toAnnouncement } from "./serve.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "mailsvc-serve-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function start(data: string, { dev = false, ...flags }: { dev?: boolean; [flag: string]: string | boolean | undefined } = {}) {
  const server = await serve(readConfig({ flags: { port: "0", data, ...flags }, env: {}, dev }), silentLog);
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await server.close();
    open = false;
  };
  onTestFinished(close);
  return { ...server, close } satisfies RunningServer;
}

const me = async ({ url, apiKey }: { url: string; apiKey: string | null }): Promise<number> =>
  (await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } })).status;

test("keys that nobody has seen are in a file for the owner only, and known to the next start", async () => {
  const data = folder();
  const first = await start(data);
  expect(first.keysFile).toBe(join(data, "first-keys.json"));
  expect(statSync(first.keysFile ?? "").mode & 0o777).toBe(0o600);
  await first.close();
  const second = await start(data);
  expect(second).toMatchObject({ apiKey: first.apiKey, operatorKey: first.operatorKey, keysFile: first.keysFile });
  expect(await me(second)).toBe(200);
  second.keysShown();
  await second.close();
  const third = await start(data);
  expect(third).toMatchObject({ apiKey: null, operatorKey: null, keysFile: null });
  expect(existsSync(join(data, "first-keys.json"))).toBe(false);
});

test("keys saved by a first start that died before its commit become those of the next", async () => {
  const data = folder();
  const died = await start(data);
  const { workspaceId, apiKey, operatorKey } = died;
  await died.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(data, `mailsvc.db${suffix}`), { force: true });
  rmSync(join(data, "secret.key"));
  const server = await start(data);
  expect(server).toMatchObject({ workspaceId, apiKey, operatorKey });
  expect(await me(server)).toBe(200);
});

test("stdout names the file of the keys, and holds them for a terminal only", async () => {
  const server = await start(folder());
  const piped = JSON.stringify(toAnnouncement(server, false));
  expect(piped).not.toContain(server.apiKey);
  expect(piped).not.toContain(server.operatorKey);
  expect(JSON.parse(piped)).toMatchObject({ url: server.url, keysFile: server.keysFile });
  expect(toAnnouncement(server, true)).toMatchObject({ apiKey: server.apiKey });
});

test("ready file and dev file are gone before a start ends in failure, and when the server stops", async () => {
  const data = folder();
  const readyFile = join(data, "ready.json");
  writeFileSync(readyFile, '{"url":"http://127.0.0.1:1"}');
  await expect(start(data, { "ready-file": readyFile, port: "1", host: "127.0.0.1", "smtp-url": "smtp://" })).rejects.toThrow();
  expect(existsSync(readyFile)).toBe(false);
  const server = await start(data, { dev: true, "ready-file": readyFile });
  const devFile = join(data, "dev.json");
  for (const file of [readyFile, devFile]) {
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ url: server.url, apiKey: server.apiKey, pid: process.pid });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  await expect(start(data, { dev: true })).rejects.toThrow(/Another mailsvc server/);
  expect(existsSync(devFile)).toBe(true);
  await server.close();
  expect([existsSync(readyFile), existsSync(devFile)]).toEqual([false, false]);
});

test("a ready file that another server has written since is left alone", async () => {
  const data = folder();
  const readyFile = join(data, "ready.json");
  const server = await start(data, { "ready-file": readyFile });
  writeFileSync(readyFile, "{}");
  await server.close();
  expect(readFileSync(readyFile, "utf8")).toBe("{}");
});

test("a data folder that cannot be created is refused, even where mkdir never returns", async () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  await expect(start(join(file, "data"))).rejects.toThrow(/cannot be created \(ENOTDIR\)/);
  if (process.platform === "linux") await expect(start("/proc/nope/data")).rejects.toThrow(/cannot be created \(ENOENT\)/);
});
