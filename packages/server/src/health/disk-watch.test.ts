import { contract } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { StorageUnavailable } from "../db/errors.ts";
import { toApiError } from "../http/errors.ts";
import { StorageHealth } from "../http/storage-health.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { createWorld } from "../testing.ts";
import { makeUnsubscribeUrl } from "../unsubscribe/link.ts";
import { DiskReserve, watchDisk } from "./disk-watch.ts";

const MB = 1024 * 1024;

/** Real time that stands; `tick` fires the timer that was set last. */
function manualTime() {
  let fire: (() => void) | null = null;
  const real: Clock["real"] = {
    now: () => 0,
    date: () => 0,
    after: (_ms, fn) => {
      fire = fn;
      return { cancel: () => (fire = null) };
    },
    sleep: async () => {},
  };
  const tick = async (): Promise<void> => {
    fire?.();
    await new Promise((done) => setImmediate(done));
  };
  return { real, tick, isSet: () => fire !== null };
}

test("writes are refused while free space is below the watermark", async () => {
  const { real, tick, isSet } = manualTime();
  const storage = new StorageHealth(real, silentLog);
  let free: number | null = 200 * MB;
  const stop = await watchDisk({
    folder: "/data",
    minFreeBytes: 100 * MB,
    storage,
    real,
    log: silentLog,
    reserve: new DiskReserve({
      ...{ folder: "/data", log: silentLog, isKept: false },
      readFree: async () => free ?? Promise.reject(new Error("EIO")),
    }),
  });
  expect(storage.problem).toBeNull();
  free = 99 * MB;
  await tick();
  expect(storage.problem).toBe("The disk is nearly full: 99 MB are free, and 100 MB must be (--min-free-disk).");
  // A disk that does not tell is not taken for full.
  free = null;
  await tick();
  expect(storage.problem).toBeNull();
  stop();
  expect(isSet()).toBe(false);
});

test("a nearly full disk takes no sends, but reads, deletes and says why", async () => {
  await using world = await createWorld();
  const suppressed = await world.sdk.suppressions.create({ email: "ada@example.com" });
  world.app.deps.storage.lowDisk = "The disk is nearly full.";
  const ask = (method: string, path: string, body?: object): Promise<Response> =>
    world.fetch(world.url + path, {
      method,
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const refused = await ask("POST", "/api/v1/send", { from: "a@acme.test", to: "b@example.com", subject: "x", text: "x" });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(await refused.json()).toMatchObject({ error: { code: "storage_unavailable", message: "The disk is nearly full." } });
  const ready = await ask("GET", "/readyz");
  expect([ready.status, await ready.json()]).toMatchObject([503, { error: { message: "The disk is nearly full." } }]);
  expect((await ask("GET", "/healthz")).status).toBe(200);
  expect((await ask("GET", "/api/v1/emails")).status).toBe(200);
  expect((await ask("DELETE", `/api/v1/suppressions/${suppressed.id}`)).status).toBe(200);
  world.app.deps.storage.lowDisk = null;
  expect((await ask("GET", "/readyz")).status).toBe(200);
});

test("a disk that refuses what a job writes makes the server unready, though smaller writes succeed", async () => {
  await using world = await createWorld();
  const { db } = world.app.deps;
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  await expect(db.tx(() => Promise.reject(full))).rejects.toBeInstanceOf(StorageUnavailable);
  await db.tx(async (tx) => void (await tx.insert(tx.t.meta).values({ name: "small", value: "1" })));
  const ready = await world.fetch(`${world.url}/readyz`, { headers: { authorization: `Bearer ${world.apiKey}` } });
  expect([ready.status, await ready.json()]).toMatchObject([
    503,
    { error: { message: "The database cannot work at the moment: its disk is full (SQLITE_FULL)." } },
  ]);
});

test("requests that a nearly full disk refuses are logged once, not one by one", () => {
  const logged: string[] = [];
  const log = { ...silentLog, error: (message: string) => void logged.push(message) };
  const storage = new StorageHealth(manualTime().real, log);
  const refused = new ApiError("storage_unavailable", "The disk is nearly full.");
  for (let n = 0; n < 100; n += 1) toApiError(refused, contract.emails.send, `req_${n}`, { log, storage });
  expect(logged).toEqual(["The disk is nearly full."]);
});

test("on a nearly full disk people can still unsubscribe, and sign in to make room", async () => {
  await using world = await createWorld({ dev: false });
  const { deps } = world.app;
  deps.storage.lowDisk = "The disk is nearly full.";
  const link = makeUnsubscribeUrl(deps, { workspaceId: world.workspaceId, email: "ada@example.com" });
  const left = await world.fetch(link, { method: "POST", body: "List-Unsubscribe=One-Click" });
  expect(left.status).toBe(200);
  expect((await world.sdk.suppressions.list()).data).toMatchObject([{ email: "ada@example.com", reason: "unsubscribe" }]);
  const signedIn = await world.fetch(`${world.url}/dashboard/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: deps.baseUrl() },
    body: JSON.stringify({ apiKey: world.apiKey }),
  });
  expect(signedIn.status).toBe(200);
});
