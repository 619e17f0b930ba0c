import { expect, test } from "vitest";
import { StorageUnavailable } from "../db/errors.ts";
import { StorageHealth } from "./storage-health.ts";

function setUp() {
  const time = { now: 0 };
  const logged: [string, Record<string, unknown> | undefined][] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (message: string, facts?: Record<string, unknown>) => void logged.push([message, facts]),
  };
  const storage = new StorageHealth(
    { now: () => time.now, date: () => time.now, after: () => ({ cancel: () => {} }), sleep: async () => {} },
    log,
  );
  return { time, logged, storage };
}

test("a failed write counts for ten seconds", () => {
  const { time, storage } = setUp();
  expect(storage.problem).toBeNull();
  storage.failed(new StorageUnavailable("The database cannot work at the moment (SQLITE_FULL)."), { requestId: "req_1" });
  time.now = 9999;
  expect(storage.problem).toBe("The database cannot work at the moment (SQLITE_FULL).");
  time.now = 10_000;
  expect(storage.problem).toBeNull();
});

test("a thousand requests that fail for the same reason are logged once, with their number", () => {
  const { time, logged, storage } = setUp();
  for (let i = 0; i < 1000; i += 1) storage.failed(new StorageUnavailable("full"), { requestId: `req_${i}` });
  time.now = 10_000;
  storage.failed(new StorageUnavailable("full"), { requestId: "req_last" });
  expect(logged).toEqual([
    ["full", { requestId: "req_0" }],
    ["full", { requestId: "req_last", further: 999 }],
  ]);
});

test("the probes of one second share one write", async () => {
  const { time, storage } = setUp();
  let writes = 0;
  const write = async (): Promise<void> => void (writes += 1);
  await Promise.all([storage.probe(write), storage.probe(write)]);
  time.now = 1000;
  await storage.probe(write);
  expect(writes).toBe(2);
});

test("a database that can be reached again is ready at once, and one whose disk was full after ten seconds", async () => {
  const { time, storage } = setUp();
  const probe = () => storage.probe(async () => {});
  storage.failed(new StorageUnavailable("connection lost"), { requestId: "req_1" });
  time.now = 1000;
  await probe();
  expect(storage.problem).toBeNull();
  storage.failed(new StorageUnavailable("full", { refusesWrites: true }), { requestId: "req_2" });
  time.now = 2000;
  await probe();
  expect(storage.problem).toBe("full");
});

test("a probe that began before a failure says nothing about it", async () => {
  const { time, storage } = setUp();
  let end = (): void => {};
  const probing = storage.probe(() => new Promise((resolve) => (end = resolve)));
  time.now = 1;
  storage.failed(new StorageUnavailable("connection lost"), { requestId: "req_1" });
  end();
  await probing;
  expect(storage.problem).toBe("connection lost");
});

test("writes of background work that are refused count as those of requests do, and a small write that succeeds does not end that", async () => {
  const { time, storage } = setUp();
  storage.refused(new StorageUnavailable("full", { refusesWrites: true }));
  time.now = 5000;
  await storage.probe(async () => {});
  expect(storage.problem).toBe("full");
  time.now = 10_000;
  expect(storage.problem).toBeNull();
});
