import { beforeEach, expect, test } from "vitest";
import type { EndpointClient } from "./client.ts";
import { type ClaimRequest, ConcurrencyLimiter } from "./concurrency.ts";
import type { Outcome } from "./outcomes.ts";
import type { Job } from "./streams.ts";

/** A client whose requests are ended by the test. */
interface TestClient {
  readonly url: string;
  readonly origin: string;
  quick: boolean;
  limit: number;
  busy: number;
  closed: boolean;
  close(): void;
}

let clients: Map<string, TestClient>;
/** Requests in flight, oldest first. */
let inFlight: { readonly endpointId: string; end(next?: Job): Promise<void> }[];
let completed: Outcome[];
let limiter: ConcurrencyLimiter;
let due: Set<string>;
/** True if new clients are quick, with 64 requests at a time; false if they are slow, with one. */
let quick: boolean;

const createClient = (url: string): TestClient => {
  const made: TestClient = {
    url,
    origin: new URL(url).origin,
    quick,
    limit: quick ? 64 : 1,
    busy: 0,
    closed: false,
    close: () => void (made.closed = true),
  };
  clients.set(url, made);
  return made;
};

beforeEach(() => {
  clients = new Map();
  inFlight = [];
  completed = [];
  due = new Set();
  quick = true;
  limiter = new ConcurrencyLimiter({
    due,
    createClient: (url) => createClient(url) as unknown as EndpointClient,
    deliver: (endpointClient, job) => {
      const client = endpointClient as unknown as TestClient;
      client.busy += 1;
      return new Promise((resolve) => {
        const end = async (next?: Job): Promise<void> => {
          client.busy -= 1;
          resolve({ job, attempt: null, next });
          // Let the code that awaits it run.
          for (let i = 0; i < 5; i += 1) await null;
        };
        inFlight.push({ endpointId: job.endpoint.id, end });
      });
    },
    completed: (outcomes) => void completed.push(...outcomes),
  });
});

const job = (id: string, host = id): Job => ({ endpoint: { id, url: `https://${host}.example.com/${id}` } }) as Job;

const add = (n: number, id: string, host?: string): void => {
  for (let i = 0; i < n; i += 1) limiter.add(job(id, host));
};

/** Claims, and marks each endpoint as due again, as the dispatcher does. */
const claim = (max = 256): ClaimRequest[] => {
  const requests = limiter.claimRequests(max);
  for (const [id] of requests) due.add(id);
  return requests;
};

const clientOf = (host: string, id = host): TestClient => clients.get(`https://${host}.example.com/${id}`) as TestClient;

/** Endpoints with requests in flight. */
const busy = (): [endpointId: string, n: number][] =>
  [...Map.groupBy(inFlight, ({ endpointId }) => endpointId)].map(([id, some]): [string, number] => [id, some.length]);

/** Ends the oldest request to an endpoint; `next` is the next event of its stream. */
const endOne = (endpointId: string, next?: Job): Promise<void> => {
  const i = inFlight.findIndex((one) => one.endpointId === endpointId);
  const [one] = inFlight.splice(i, 1);
  return one?.end(next) ?? Promise.reject(new Error("nothing in flight"));
};

test("an endpoint has as many requests in flight as its limit allows, and the others follow", async () => {
  add(100, "a");
  expect(busy()).toEqual([["a", 64]]);
  await endOne("a");
  expect([busy(), limiter.inFlight]).toEqual([[["a", 64]], 64]);
  while (inFlight.length > 0) await endOne("a");
  expect([limiter.inFlight, completed.length]).toEqual([0, 100]);
});

test("the next event of a stream takes over the slot of the one that has arrived", async () => {
  add(1, "a");
  await endOne("a", job("a"));
  expect([busy(), limiter.inFlight, completed.length]).toEqual([[["a", 1]], 1, 1]);
  await endOne("a");
  expect([busy(), limiter.inFlight, completed.length]).toEqual([[], 0, 2]);
});

test("the next event of a stream is queued behind another endpoint of its origin that waits for a slot", async () => {
  add(64, "a", "shared");
  add(1, "b", "shared");
  await endOne("a", job("a", "shared"));
  expect(new Map(busy())).toEqual(
    new Map([
      ["a", 63],
      ["b", 1],
    ]),
  );
  await endOne("b");
  expect(busy()).toEqual([["a", 64]]);
});

test("the next event of a stream is queued while its endpoint takes no more requests", async () => {
  add(3, "a");
  clientOf("a").limit = 1;
  await endOne("a", job("a"));
  expect([busy(), limiter.inFlight]).toEqual([[["a", 2]], 2]);
  await endOne("a");
  await endOne("a");
  expect([busy(), limiter.inFlight]).toEqual([[["a", 1]], 1]);
});

test("the endpoints of an origin get its slots in turns, however much one of them has queued", async () => {
  add(300, "a", "shared");
  add(3, "b", "shared");
  add(1, "c", "shared");
  expect(busy()).toEqual([["a", 64]]);
  for (let i = 0; i < 8; i += 1) await endOne("a");
  expect(new Map(busy())).toEqual(
    new Map([
      ["a", 60],
      ["b", 3],
      ["c", 1],
    ]),
  );
});

test("when all slots are taken, origins get free ones in turns; some are reserved for endpoints with few requests", async () => {
  for (let i = 0; i < 28; i += 1) add(100, `o${i}`);
  expect(limiter.inFlight).toBe(28 * 64);
  add(10, "late");
  // From the reserved slots.
  expect(new Map(busy()).get("late")).toBe(4);
  for (let i = 0; i < 12; i += 1) await endOne("o0");
  const now = new Map(busy());
  expect(limiter.inFlight).toBe(28 * 64);
  expect(now.get("late")).toBeGreaterThan(4);
});

test("an endpoint that was never called gets its turn although its origin is full", async () => {
  add(300, "a", "shared");
  due.add("b");
  expect(claim()).toEqual([["b", 1]]);
  clients.clear();
  const b = job("b", "shared");
  limiter.add(b);
  clientOf("shared", "b").quick = false;
  clientOf("shared", "b").limit = 1;
  await endOne("a");
  await endOne("a");
  expect(new Map(busy()).get("b")).toBe(1);
  expect(completed.filter(({ job: { endpoint } }) => endpoint.id === "b")).toEqual([]);
});

test("endpoints that wait for a slot of their origin claim before those that had one", () => {
  add(512, "a", "shared");
  add(1, "b", "shared");
  for (const id of ["b", "a"]) due.add(id);
  // The origin is full.
  expect(claim()).toEqual([]);
  due.add("a");
  limiter.releaseQueued();
  expect(claim()[0]?.[0]).toBe("b");
});

test("slow endpoints of one origin have ten slots together, which they get in turns, and quick ones the others", async () => {
  quick = false;
  for (let i = 0; i < 10; i += 1) add(1, `s${i}`, "shared");
  expect(limiter.inFlight).toBe(10);
  for (const id of ["s10", "s11", "s12"]) {
    add(1, id, "shared");
    due.add(id);
  }
  // Their jobs were released: there is no slot.
  expect(completed.map(({ job: { endpoint } }) => endpoint.id)).toEqual(["s10", "s11", "s12"]);
  expect(limiter.claimRequests(256)).toEqual([]);
  quick = true;
  add(64, "quick", "shared");
  expect(new Map(busy()).get("quick")).toBe(54);
  due.add("quick");
  expect(limiter.claimRequests(256).map(([id]) => id)).toEqual(["quick"]);
  await endOne("s0");
  await endOne("s1");
  expect(limiter.claimRequests(256).map(([id]) => id)).toEqual(["s10", "s11"]);
  expect([...due]).toEqual(["s12"]);
});

test("queued jobs of an endpoint that stops answering are released", async () => {
  add(500, "a");
  const there = clientOf("a");
  there.limit = 4;
  await endOne("a");
  expect(completed).toHaveLength(500 - 64 - 32 + 1);
  // All of them, once it is slow.
  there.quick = false;
  await endOne("a");
  expect(completed).toHaveLength(500 - 64 + 2);
});

test("queued jobs of all endpoints are limited to a few thousand", () => {
  for (let i = 0; i < 400; i += 1) {
    const id = `o${i}`;
    due.add(id);
    add(1, id);
  }
  let taken = 0;
  for (let rounds = 0; rounds < 200; rounds += 1)
    for (const [endpointId, n] of claim()) {
      taken += n;
      add(n, endpointId);
    }
  expect(limiter.inFlight).toBeLessThanOrEqual(2048);
  expect(taken + 400 - limiter.inFlight).toBeLessThanOrEqual(4096 + 256);
});

test("idle endpoints are forgotten when there are too many, the oldest first", async () => {
  for (let i = 0; i < 1000; i += 1) add(1, `o${i}`);
  for (let i = 0; i < 500; i += 1) await endOne(`o${i}`);
  add(1, "one-more");
  expect([...clients.values()].filter(({ closed }) => closed).map(({ origin }) => origin)).toEqual(
    Array.from({ length: 100 }, (_, i) => `https://o${i}.example.com`),
  );
});

test("queued jobs go to the new URL of their endpoint", async () => {
  add(100, "a", "old");
  add(1, "a", "new");
  expect([limiter.inFlight, clientOf("old", "a").closed, clientOf("new", "a").busy]).toEqual([101, true, 37]);
  while (inFlight.length > 0) await endOne("a");
  expect([limiter.inFlight, completed.length]).toEqual([0, 101]);
});
