import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../test/postgres.ts";
import { readConfig } from "./config.ts";
import { jsonLog } from "./lib/log.ts";
import { serve } from "./serve.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** A way to a database that can be opened and cut. */
async function door(url: string) {
  const target = new URL(url);
  const { hostname, port: targetPort } = target;
  const port = await freePort();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(targetPort), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  };
  const open = (): Promise<void> => new Promise((done) => server.listen(port, "127.0.0.1", done));
  target.hostname = "127.0.0.1";
  target.port = String(port);
  return { url: target.href, open, close };
}

async function begin(databaseUrl: string, signal?: AbortSignal) {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-wait-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const port = await freePort();
  const said = Promise.withResolvers<string>();
  const log = jsonLog(
    (line) => line.includes("waiting for the database") && said.resolve(line),
    () => 0,
  );
  const config = readConfig({ flags: { port: String(port), data, "database-url": databaseUrl }, env: {}, dev: false });
  return { url: `http://127.0.0.1:${port}`, said: said.promise, starting: serve(config, log, { signal }) };
}

test("a server waits for a database that refuses connections, answers its probes meanwhile, and then starts", async () => {
  const { url: target, drop } = await createDatabase("empty");
  onTestFinished(drop);
  const way = await door(target);
  const { url, said, starting } = await begin(way.url);
  expect(await said).toContain("cannot be reached (ECONNREFUSED)");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, ready.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await ready.json()).toMatchObject({
    error: { code: "storage_unavailable", message: expect.stringContaining("waits for its database") },
  });
  await way.open();
  const server = await starting;
  expect(server.url).toBe(url);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await server.close();
  await way.close();
});

test("a stop ends the wait at once", async () => {
  const stop = new AbortController();
  const { said, starting } = await begin(`postgres://nobody@127.0.0.1:${await freePort()}/none`, stop.signal);
  await said;
  stop.abort();
  await expect(starting).rejects.toMatchObject({ name: "StartEnded" });
});

test("a database that does not exist, and a user that is refused, are not waited for", async () => {
  const { url, drop } = await createDatabase("empty");
  onTestFinished(drop);
  const missing = Object.assign(new URL(url), { pathname: "/none" }).href;
  await expect((await begin(missing)).starting).rejects.toThrow("has no database none");
});
