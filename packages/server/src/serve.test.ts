import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../test/postgres.ts";
import { readConfig } from "./config.ts";
import { jsonLog, silentLog } from "./lib/log.ts";
import { toAnnouncement } from "./ready-file.ts";
import { type RunningServer, serve } from "./serve.ts";

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

test("new data never takes keys that are there: those of the installation before are set aside and open nothing", async () => {
  const data = folder();
  const before = await start(data);
  await before.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(data, `mailsvc.db${suffix}`), { force: true });
  rmSync(join(data, "secret.key"));
  const server = await start(data);
  expect([server.workspaceId, server.apiKey, server.operatorKey]).not.toContain(before.apiKey);
  expect(server.operatorKey).not.toBe(before.operatorKey);
  expect([await me(server), await me({ url: server.url, apiKey: before.apiKey })]).toEqual([200, 401]);
  const kept = readdirSync(data).filter((name) => /^first-keys-[0-9a-f]{8}\.json$/.test(name));
  expect(kept.map((name) => JSON.parse(readFileSync(join(data, name), "utf8")).apiKey)).toEqual([before.apiKey]);
});

test("two databases that servers in one folder use have keys of their own, and each finds its own again", async () => {
  const data = folder();
  const [one, other] = [await createDatabase(), await createDatabase()];
  onTestFinished(one.drop);
  onTestFinished(other.drop);
  const first = await start(data, { "database-url": one.url });
  const second = await start(data, { "database-url": other.url });
  expect(second.apiKey).not.toBe(first.apiKey);
  expect(await me({ url: second.url, apiKey: first.apiKey })).toBe(401);
  await first.close();
  await second.close();
  const again = await start(data, { "database-url": one.url });
  expect(again).toMatchObject({ apiKey: first.apiKey, operatorKey: first.operatorKey, keysFile: join(data, "first-keys.json") });
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

test.each(["server.lock", "server.pid"])(
  "a data folder in which %s cannot be written is refused by name, and stays unlocked",
  async (name) => {
    const data = folder();
    mkdirSync(join(data, name));
    await expect(start(data)).rejects.toMatchObject({
      name: "StorageUnavailable",
      message: expect.stringMatching(/^The data folder .+ cannot be written \((SQLITE_CANTOPEN|EISDIR|SQLITE_CANTOPEN_ISDIR)\)/),
    });
    rmdirSync(join(data, name));
    await (await start(data)).close();
  },
);

test.each([true, false])("the address of the server leads to the dashboard (dev: %s)", async (dev) => {
  const server = await start(folder(), { dev });
  expect(server.dashboardUrl).toBe(`${server.url}/dashboard`);
  const response = await fetch(server.url);
  expect([response.status, response.url]).toEqual([200, server.dashboardUrl]);
});

test("files of a data folder that exists already are readable by their owner only", async () => {
  const data = folder();
  chmodSync(data, 0o755);
  const program = fileURLToPath(new URL("program.ts", import.meta.url));
  const sources = fileURLToPath(new URL("../../../scripts/sources.mjs", import.meta.url));
  const child = spawn(process.execPath, ["--import", sources, program, "--port", "0", "--data", data], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const modes = readdirSync(data).map((name) => [name, statSync(join(data, name)).mode & 0o077]);
  child.kill("SIGTERM");
  await once(child, "close");
  expect(Object.fromEntries(modes)).toMatchObject({ "mailsvc.db": 0, "mailsvc.db-wal": 0, "secret.key": 0 });
  expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
});

test("metrics are served on their own port", async () => {
  const server = await start(folder(), { metrics: "127.0.0.1:0", dev: true });
  const authorization = { authorization: `Bearer ${server.apiKey}` };
  await fetch(`${server.url}/api/v1/emails/em_unknown`, { headers: authorization });
  await fetch(`${server.url}/api/v1/send`, {
    method: "POST",
    headers: { ...authorization, "content-type": "application/json" },
    body: JSON.stringify({ from: "a@acme.test", to: "ada@example.com", subject: "x", text: "x" }),
  });
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  const response = await fetch(server.metricsUrl ?? "");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  for (const line of [
    /^mailsvc_http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/emails\/:id",status="404"\} 1$/m,
    /^mailsvc_http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/send",status="200"\} 1$/m,
    /^mailsvc_jobs\{state="ready"\} \d+$/m,
    /^mailsvc_jobs\{state="dead"\} 0$/m,
    /^mailsvc_oldest_due_job_seconds \d/m,
    /^mailsvc_sqlite_flushes_total [1-9]/m,
    /^mailsvc_sqlite_flush_seconds_total 0\.\d/m,
    /^# TYPE mailsvc_webhook_attempts_total counter$/m,
    /^mailsvc_emails_deferred 0$/m,
    /^mailsvc_emails_in_doubt 0$/m,
    /^mailsvc_storage_writable 1$/m,
    /^mailsvc_mail_hand_over_seconds_total [\d.e-]+$/m,
    /^mailsvc_sqlite_wal_bytes \d+$/m,
    /^nodejs_eventloop_lag_p99_seconds /m,
    /^process_resident_memory_bytes /m,
  ])
    expect(text).toMatch(line);
  expect(text).not.toMatch(/ada@|em_unknown|ms_dev_/);
  // The alerts and the dashboard of the documentation name metrics that exist. Metrics of Prometheus itself and of Postgres have no rows here.
  const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
  const rules = `${read("prometheus-rules.yml")} ${read("grafana-dashboard.json")}`;
  const named = new Set([...rules.matchAll(/\b(?:mailsvc|process)_[a-z_]+/g)].map(([name]) => name));
  expect(named.size).toBeGreaterThan(8);
  for (const name of named) expect(text).toContain(`# TYPE ${name.replace(/_count$/, "")} `);
});

test("the access log names each request, without addresses, ids of paths or keys", async () => {
  const lines: string[] = [];
  const config = readConfig({ flags: { port: "0", data: folder(), "access-log": true }, env: {}, dev: true });
  const server = await serve(
    config,
    jsonLog(
      (line) => lines.push(line),
      () => 0,
    ),
  );
  onTestFinished(() => server.close());
  const headers = { authorization: `Bearer ${server.apiKey}` };
  await fetch(`${server.url}/api/v1/suppressions/ada%40example.com`, { headers });
  await fetch(`${server.url}/api/v1/me`);
  await fetch(`${server.url}/secret/ada@example.com`);
  const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ message }) => message === "request");
  expect(requests).toMatchObject([
    { method: "GET", route: "/api/v1/suppressions/:id", status: 404, keyId: expect.stringMatching(/^key_/) },
    { method: "GET", route: "/api/v1/me", status: 401, keyId: null, ms: expect.any(Number), requestId: expect.stringMatching(/^req_/) },
    { method: "GET", route: null, status: 404 },
  ]);
  expect(lines.join("")).not.toMatch(/ada(?:@|%40)|example\.com|secret|ms_dev_/);
});

test("Resend's API has a port of its own, whose paths need no prefix", async () => {
  const server = await start(folder(), { dev: true, "resend-port": "0" });
  const resend = server.resendUrl ?? "";
  expect(resend).not.toBe(server.url);
  const send = (path: string) =>
    fetch(`${resend}${path}`, {
      method: "POST",
      headers: { authorization: "Bearer re_123456789", "content-type": "application/json" },
      body: JSON.stringify({ from: "a@acme.com", to: "ada@example.com", subject: "Hi", text: "Hi" }),
    });
  for (const path of ["/emails", "//emails", "/resend/emails"]) expect([path, (await send(path)).status]).toEqual([path, 200]);
  expect(await (await send("/nothing")).json()).toMatchObject({ statusCode: 404, name: "not_found" });
  expect(toAnnouncement(server, true)).toMatchObject({ resendUrl: resend });
  await server.close();
  await expect(fetch(`${resend}/emails`)).rejects.toThrow("fetch failed");
});

test("without a port for Resend's API, its address is unknown; one that is taken ends the start", async () => {
  const server = await start(folder());
  expect(server.resendUrl).toBeNull();
  await expect(start(folder(), { "resend-port": new URL(server.url).port })).rejects.toThrow("is in use");
});

test("https on port 0 takes any free port", async () => {
  const ports = new Set<string>();
  for (let n = 0; n < 2; n += 1) ports.add(new URL((await start(folder(), { https: true })).url).port);
  expect(ports).not.toContain("3000");
  expect(ports.size).toBe(2);
});

test("dev with a seed and an instant: the same requests give the same ids, keys and times, and the next start goes on", async () => {
  const flags = { dev: true, seed: "7", now: "2030-01-31T09:00:00Z" };
  const use = async (data: string) => {
    const server = await start(data, flags);
    const { workspaceId, apiKey, operatorKey, profiles } = server;
    const call = async (method: string, path: string, body?: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
      return (await fetch(`${server.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json();
    };
    const sent = await call("POST", "/api/v1/send", { from: "a@acme.test", to: "ada@example.com", subject: "Hi", text: "Hi" });
    const { id } = sent as { id: string };
    const { createdAt } = (await call("GET", `/api/v1/emails/${id}`)) as { createdAt: string };
    await server.close();
    return { workspaceId, apiKey, operatorKey, profiles, sent, createdAt };
  };
  const data = folder();
  const one = await use(data);
  expect(one.createdAt).toBe("2030-01-31T09:00:00.000Z");
  expect(await use(folder())).toEqual(one);
  for (const only of [{ seed: "7" }, { now: "2030-01-31T09:00:00Z" }])
    await expect(start(data, { dev: true, ...only })).rejects.toThrow(
      `--seed and --now are for new data, and there is some already in ${data}`,
    );
  const next = await start(data, { dev: true });
  const clock = (await (await fetch(`${next.url}/__dev/clock`)).json()) as object;
  expect(clock).toMatchObject({ mode: "frozen", now: "2030-01-31T09:00:00.000Z" });
});

test("a seed and an instant that are none are refused, and serve has neither", () => {
  const read = (flags: Record<string, string>, dev = true) => readConfig({ flags, env: {}, dev });
  expect(() => read({ seed: "x" })).toThrow("--seed must be a whole number");
  expect(() => read({ now: "tomorrow" })).toThrow('--now must be an instant such as 2030-01-31T09:00:00Z, not "tomorrow".');
  expect(readConfig({ flags: {}, env: { MAILSVC_SEED: "7", MAILSVC_NOW: "2030-01-31T09:00:00Z" }, dev: false })).toMatchObject({
    seed: null,
    now: null,
  });
});

test("dev mode refuses data that a start in production has made, and production may use that of dev mode", async () => {
  const data = folder();
  await (await start(data)).close();
  await expect(start(data, { dev: true })).rejects.toThrow(
    `The data in ${data} was made by mailsvc serve, and dev mode never uses such data.`,
  );
  await (await start(data)).close();
  const ofDev = folder();
  await (await start(ofDev, { dev: true })).close();
  await (await start(ofDev)).close();
  expect(await me(await start(ofDev, { dev: true }))).toBe(200);
});

test("dev mode does not even migrate data of production, which an older server may still use", async () => {
  const data = folder();
  await (await start(data)).close();
  const db = new Database(join(data, "mailsvc.db"));
  onTestFinished(() => void db.close());
  db.exec("UPDATE __mailsvc SET version = '0.0.1'");
  await expect(start(data, { dev: true })).rejects.toThrow("was made by mailsvc serve");
  expect(db.prepare("SELECT version FROM __mailsvc").pluck().get()).toBe("0.0.1");
  await (await start(data)).close();
  expect(db.prepare("SELECT version FROM __mailsvc").pluck().get()).not.toBe("0.0.1");
});

test("the same of a database on Postgres", async () => {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  const flags = { "database-url": url };
  await (await start(folder(), flags)).close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const readVersion = async () => (await client.query("SELECT version FROM drizzle.mailsvc")).rows[0]?.version;
  await client.query("UPDATE drizzle.mailsvc SET version = '0.0.1'");
  await expect(start(folder(), { dev: true, ...flags })).rejects.toThrow("The data in the database was made by mailsvc serve");
  expect(await readVersion()).toBe("0.0.1");
});
