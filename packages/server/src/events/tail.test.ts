import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import type { Event, StreamMessage } from "@mailsvc/sdk/contract";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { asHeld } from "../../test/plain-event.ts";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { readConfig } from "../config.ts";
import type { Clock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { serve } from "../serve.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { type NewEvent, recordEvents } from "./events.ts";
import { followEvents } from "./tail.ts";

afterAll(dropDatabases);

const STREAM = "/api/v1/v1/events/stream";

const record = ({ app: { deps }, workspaceId }: TestWorld, ...types: NewEvent["type"][]): Promise<void> =>
  deps.db.tx((tx) =>
    recordEvents(tx, deps, asHeld(types.map((type, i) => ({ workspaceId, at: deps.clock.now(), type, emailId: `em_${i}` })))),
  );

/** The first `n` events of a stream, which is then closed. */
const take = async (stream: AsyncGenerator<Event>, n: number): Promise<Event[]> => {
  const taken: Event[] = [];
  for await (const event of stream) if (taken.push(event) === n) break;
  return taken;
};

/** A connection that follows events, as bytes; `text` waits until it has received a part. */
const connect = async (world: TestWorld, path = STREAM, headers: Record<string, string> = {}) => {
  const stop = new AbortController();
  const response = await world.fetch(`${world.url}${path}`, {
    headers: { authorization: `Bearer ${world.apiKey}`, ...headers },
    signal: stop.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let received = "";
  return {
    response,
    close: () => stop.abort(),
    until: async (part: string): Promise<string> => {
      while (!received.includes(part)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The stream ended after: ${received}`);
        received += decoder.decode(value, { stream: true });
      }
      return received;
    },
    ended: async (): Promise<boolean> => {
      for (;;) if ((await reader.read()).done) return true;
    },
  };
};

const numbersOf = (events: readonly Event[]): number[] => events.map((e) => e.sequence);

test("a stream begins with what happens next, and shows it as it happens", async () => {
  await using world = await createWorld();
  await record(world, "email.queued");
  const client = await connect(world);
  expect(client.response.headers.get("content-type")).toBe("text/event-stream");
  // The number of the newest event, so that a client that is cut off now loses nothing.
  expect(await client.until("\n\n")).toBe(": ping\nid: 1\n\n");
  await record(world, "email.sent");
  const text = await client.until("email.sent");
  expect(text).toContain('id: 2\ndata: {"id":"evt_');
  expect(text).not.toContain("email.queued");
  client.close();
});

test("the list is the stream for a client that accepts server-sent events", async () => {
  await using world = await createWorld();
  await record(world, "email.queued", "email.sent");
  for (const path of ["/api/v1/v1/events?from=1&type=email.sent", "/api/v1/events?from=2"]) {
    const client = await connect(world, path, { accept: "text/event-stream" });
    expect(client.response.headers.get("content-type")).toBe("text/event-stream");
    expect(await client.until("email.sent")).not.toContain("email.queued");
    client.close();
  }
  const page = await connect(world, "/api/v1/v1/events", { accept: "application/json" });
  expect(page.response.headers.get("content-type")).toBe("application/json");
  expect(await page.ended()).toBe(true);
  const wrong = await connect(world, "/api/v1/v1/events?type=email.snet", { accept: "text/event-stream" });
  expect(wrong.response.status).toBe(400);
});

test("a client that was cut off continues after the event it has seen", async () => {
  await using world = await createWorld();
  await record(world, "email.queued", "email.sent", "email.delivered");
  const client = await connect(world, `${STREAM}?from=1`, { "last-event-id": "2" });
  expect(await client.until("email.delivered")).not.toContain("email.sent");
  client.close();
});

test("the SDK misses no event and repeats none, however often the connection breaks", async () => {
  await using world = await createWorld();
  const types = Array.from({ length: 30 }, (): NewEvent["type"] => "email.sent");
  await record(world, ...types);
  let connections = 0;
  // Each connection breaks after a few hundred bytes, in the middle of a message.
  const flaky: typeof fetch = async (input, init) => {
    connections += 1;
    const response = await world.fetch(input, init);
    let left = 1000 + 137 * connections;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) controller.error(new TypeError("terminated"));
      },
    });
    return new Response(response.body?.pipeThrough(cut) ?? null, { status: response.status, headers: response.headers });
  };
  const client = world.sdk.withOptions({ apiKey: world.apiKey, fetch: flaky, sleep: async () => {} });
  const events = await take(client.events.tail({ from: 1 }), 30);
  expect(numbersOf(events)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  expect(connections).toBeGreaterThan(2);
});

test("an aborted stream ends, and a refused one throws", async () => {
  await using world = await createWorld();
  const stop = new AbortController();
  const seen: Event[] = [];
  const following = (async () => {
    for await (const event of world.sdk.events.tail({ from: 1 }, { signal: stop.signal })) {
      seen.push(event);
      stop.abort();
    }
  })();
  await record(world, "email.sent", "email.delivered");
  await following;
  expect(seen).toHaveLength(1);
  const stranger = world.sdk.withOptions({ apiKey: "ms_live_nobody", fetch: world.fetch });
  await expect(take(stranger.events.tail(), 1)).rejects.toMatchObject({ code: "unauthorized" });
  await expect(take(world.sdk.events.tail({ type: "email.bounce" }), 1)).rejects.toMatchObject({ code: "validation_error" });
});

test("a stream with filters shows what matches", async () => {
  await using world = await createWorld();
  await record(world, "email.queued", "email.sent", "contact.created", "email.bounced");
  expect((await take(world.sdk.events.tail({ from: 1, type: "email.bounced,contact.*" }), 2)).map((e) => e.type)).toEqual([
    "contact.created",
    "email.bounced",
  ]);
  expect(numbersOf(await take(world.sdk.events.tail({ from: 1, email: "em_1" }), 1))).toEqual([2]);
  const mail = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello", text: "x" };
  for (const kind of ["other", "a=b"]) await world.sdk.emails.send({ ...mail, tags: { kind } });
  const tagged = await take(world.sdk.events.tail({ from: 1, tag: "kind=a=b" }), 3);
  expect(tagged.map(({ tags }) => tags)).toEqual(Array(3).fill({ kind: "a=b" }));
});

test("a long search for what matches lets others work, and tells how far it is", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  await record(world, ...Array.from({ length: 1500 }, (): NewEvent["type"] => "email.queued"), "email.sent");
  await deps.eventStream.catchUp();
  const wait = vi.spyOn(deps.eventStream.followers, "wait");
  let now = 0;
  // Each page takes longer than the time between two pings.
  const clock: Clock = Object.create(deps.clock, { real: { value: { ...deps.clock.real, now: () => (now += 16_000) } } });
  const stop = new AbortController();
  let turns = 0;
  const countTurns = (): void => {
    turns += 1;
    if (!stop.signal.aborted) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const request = { workspaceId: world.workspaceId, keyId: "key_1", from: 1, lastEventId: null, type: "email.sent", signal: stop.signal };
  const messages: StreamMessage<Event>[] = [];
  for await (const message of await followEvents(deps.db.read, { ...deps, clock }, request)) {
    messages.push(message);
    if (message.data) break;
  }
  stop.abort();
  expect(messages.map(({ id, data }) => [Number(id), data?.type])).toEqual([
    ...[0, 200, 400, 600, 800, 1000, 1200, 1400].map((n) => [n, undefined]),
    [1501, "email.sent"],
  ]);
  expect(turns).toBeGreaterThanOrEqual(7);
  expect(wait).toHaveBeenCalledTimes(1);
});

test("no workspace sees the events of another one", async () => {
  await using world = await createWorld();
  const other = await secondWorkspace(world);
  const following = take(other.sdk.events.tail({ from: 1 }), 1);
  await record(world, "email.sent", "email.delivered");
  await record({ ...world, workspaceId: other.workspaceId }, "email.bounced");
  expect(await following).toMatchObject([{ sequence: 1, type: "email.bounced" }]);
});

test("a workspace may follow with 25 connections at a time, with however many keys; others are not affected", async () => {
  await using world = await createWorld();
  const clients = [];
  for (let i = 0; i < 5; i += 1) {
    const { key } = await world.sdk.keys.create({ name: `k${i}`, permissions: ["events:read"] });
    for (let j = 0; j < 5; j += 1) clients.push(await connect(world, STREAM, { authorization: `Bearer ${key}` }));
  }
  const refused = await connect(world);
  expect(refused.response.status).toBe(429);
  const other = await secondWorkspace(world);
  const admitted = await connect(world, STREAM, { authorization: `Bearer ${other.apiKey}` });
  expect(admitted.response.status).toBe(200);
  for (const client of [...clients, admitted]) client.close();
});

test("a revoked key's connections end at once, those of other keys go on", async () => {
  await using world = await createWorld();
  const { id, key } = await world.sdk.keys.create({ name: "leaked", permissions: ["events:read"] });
  const leaked = await connect(world, STREAM, { authorization: `Bearer ${key}` });
  const owner = await connect(world);
  await leaked.until("\n\n");
  await world.sdk.keys.revoke(id);
  expect(await leaked.ended()).toBe(true);
  await record(world, "email.sent");
  expect(await owner.until("email.sent")).toContain("email.sent");
  owner.close();
});

test("over a connection, a revoked key ends it, and coming back is refused", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-tail-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const server = await serve(readConfig({ flags: { port: "0", data }, env: {}, dev: true }), silentLog);
  const owner = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey ?? "" });
  const { id, key } = await owner.keys.create({ name: "leaked", permissions: ["events:read"] });
  await owner.contacts.create({ email: "ada@example.com" });
  const seen = Promise.withResolvers<void>();
  const following = (async () => {
    for await (const _ of owner.withOptions({ apiKey: key }).events.tail({ from: 1 })) seen.resolve();
  })();
  await seen.promise;
  await owner.keys.revoke(id);
  await expect(following).rejects.toMatchObject({ code: "key_revoked" });
  await server.close();
});

test("a key that another server has revoked loses its connections", async () => {
  const database = await createDatabase();
  {
    await using one = await createWorld({ seed: 1, databaseUrl: database.url });
    const { id, key } = await one.sdk.keys.create({ name: "leaked", permissions: ["events:read"] });
    await using other = await createWorld({ seed: 2, databaseUrl: database.url });
    const leaked = await connect(other, STREAM, { authorization: `Bearer ${key}` });
    await leaked.until("\n\n");
    await one.sdk.keys.revoke(id);
    const revokedAt = performance.now();
    expect(await leaked.ended()).toBe(true);
    // Two seconds where the machine is quiet.
    expect(performance.now() - revokedAt).toBeLessThan(20_000);
  }
  await database.drop();
});

test("connections at the same place of a stream share their reads", async () => {
  await using world = await createWorld();
  const clients = [];
  for (let i = 0; i < 10; i += 1) clients.push(await connect(world));
  for (const client of clients) await client.until("\n\n");
  let reads = 0;
  const { read } = world.app.deps.db;
  const select = read.select.bind(read);
  Object.assign(read, {
    select: (...args: Parameters<typeof select>) => {
      const query = select(...args);
      const from = query.from.bind(query);
      return Object.assign(query, {
        from: (table: Parameters<typeof from>[0]) => {
          if (table === read.t.eventRuns) reads += 1;
          return from(table);
        },
      });
    },
  });
  await record(world, "email.sent");
  for (const client of clients) await client.until("email.sent");
  expect(reads).toBeLessThan(5);
  for (const client of clients) client.close();
});

test("a key may follow with ten connections at a time", async () => {
  await using world = await createWorld();
  const clients = [];
  for (let i = 0; i < 10; i += 1) {
    const client = await connect(world);
    await client.until("\n\n");
    clients.push(client);
  }
  const refused = await world.fetch(`${world.url}${STREAM}`, { headers: { authorization: `Bearer ${world.apiKey}` } });
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limited" } });
  clients[0]?.close();
  const again = await connect(world);
  await again.until("\n\n");
  for (const client of [...clients, again]) client.close();
});

test("streams end when the server stops", async () => {
  await using world = await createWorld();
  const client = await connect(world);
  await client.until("\n\n");
  await world.app.stopWork();
  expect(await client.ended()).toBe(true);
});

test("a Last-Event-ID that is none is refused", async () => {
  await using world = await createWorld();
  const refused = await world.fetch(`${world.url}${STREAM}`, {
    headers: { authorization: `Bearer ${world.apiKey}`, "last-event-id": "evt_1" },
  });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { details: [{ path: "Last-Event-ID" }] } });
});

test("over a connection, events come as they happen, a client that leaves frees its place, and a stop ends the stream", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-tail-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const server = await serve(readConfig({ flags: { port: "0", data }, env: {}, dev: true }), silentLog);
  const client = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey ?? "" });
  // More in turn than may be open at a time.
  for (let i = 0; i < 12; i += 1) {
    const following = take(client.events.tail({ from: 1 + i }), 1);
    await client.contacts.create({ email: `p${i}@example.com` });
    expect((await following).map((e) => [e.sequence, e.type])).toEqual([[1 + i, "contact.created"]]);
  }
  const stop = new AbortController();
  const last = (async () => {
    for await (const _ of client.events.tail({}, { signal: stop.signal }));
  })();
  await client.contacts.list();
  await server.close();
  stop.abort();
  await last;
});
