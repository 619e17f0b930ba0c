import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgent, type TestAgent } from "../../test/agent-at-work.ts";
import { buildCalls, listAgentEndpoints } from "../../test/agent-crawl.ts";
import { agentPath, type Receiver, startReceiver } from "../../test/marketplace.ts";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/* Hostile requests with an agent's key: each endpoint of the contract, each field of its examples, each unexpected value. */

let world: TestWorld;
let hooks: Receiver;
let agent: TestAgent;
let values: Record<string, string>;
let count = 0;

beforeAll(async () => {
  world = await createWorld({ flags: { "rate-limit": "agent=1000000/min,message=1000000/min,log=1000000/min" } });
  hooks = await startReceiver();
  agent = await createAgent(world, hooks);
  await world.sdk.credits.grant({ amount: 1_000_000 });
  const { client, activationId } = agent;
  const { runId } = await client.runs.start();
  const message = await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval: { title: "?" } });
  const wakeup = await client.wakeups.create({ delaySeconds: 2_000_000, reason: "x" });
  const spent = await client.credits.consume({ amount: 5, action: "draft" });
  const page = await client.landingPages.create({ title: "Page", html: "<p>x</p>" });
  values = { activationId, runId, messageId: message.id, wakeupId: wakeup.wakeupId, transactionId: spent.transactionId, id: page.id };
});
afterAll(async () => {
  await world.dispose();
  await hooks[Symbol.asyncDispose]();
});

/** Sends a request; the response must be JSON of our own and of limited length. */
const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<number> => {
  count += 1;
  const row = { method, path, key: agent.key, headers: { "idempotency-key": `hostile-${count}`, ...headers } };
  const answer = await ask(world, { ...row, ...(body !== undefined && { body }) });
  const text = await answer.text();
  expect({
    method,
    path: path.slice(0, 200),
    body: JSON.stringify(body)?.slice(0, 300),
    status: answer.status,
    text: text.slice(0, 300),
  }).toMatchObject({
    status: expect.toSatisfy((status: number) => status < 500),
  });
  if (answer.status >= 400) {
    expect(JSON.parse(text)).toMatchObject({
      error: { code: expect.any(String), requestId: expect.any(String), hint: expect.any(String) },
    });
    expect(text.length).toBeLessThan(20_000);
  }
  return answer.status;
};

const deep = (n: number): unknown => JSON.parse(`${"[".repeat(n)}${"]".repeat(n)}`);

const NASTY: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "a\0b",
  "\ud800",
  "\r\nSet-Cookie: a=b",
  "9".repeat(400),
  "x".repeat(30_000),
  "2026-02-30T25:61:61Z",
  [],
  { constructor: { prototype: {} }, toString: 1 },
  Array(2000).fill("x"),
  deep(30),
];

describe.each(listAgentEndpoints())("$id", (one) => {
  const calls = () => buildCalls(one, values);

  test("answers every unexpected value in every field with a 4xx", async () => {
    for (const { method, path, body } of calls().slice(0, 1)) {
      if (body === undefined) continue;
      for (const field of Object.keys(one.endpoint.body?.shape ?? {}))
        for (const nasty of NASTY) await send(method, path, { ...(body as object), [field]: nasty });
    }
  });

  test("answers unexpected paths and queries with a 4xx", async () => {
    const odd = ["%00", "%0d%0aX-A:b", "..%2f..%2f", "%ff", "a".repeat(3000), "__proto__", "%F0%9F%92%A9"];
    for (const text of odd) {
      for (const [call] of [calls()]) {
        if (!call) continue;
        for (const [name, value] of Object.entries(values)) {
          if (name === "activationId" || !call.path.includes(value)) continue;
          expect(await send(call.method, call.path.replace(value, text), call.body)).toBeGreaterThanOrEqual(400);
        }
        const [path] = call.path.split("?");
        if (call.method === "GET")
          for (const name of Object.keys(one.endpoint.query?.shape ?? {})) await send("GET", `${path}?${name}=${text}`);
      }
    }
  });

  test("refuses malicious bodies", async () => {
    const [call] = calls();
    if (!call || one.endpoint.method === "GET") return;
    const bodies: [body: string, statuses: readonly number[]][] = [
      [`${"[".repeat(200_000)}${"]".repeat(200_000)}`, [400]],
      [`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, [400]],
      [`{"a":${"[".repeat(40)}`, [400]],
      ['{"__proto__":{"polluted":1}}', [400]],
      ['{"constructor":{"prototype":{"polluted":1}}}', [400]],
      [`{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":0`).join(",")}}`, [400]],
      [`{"n":${"9".repeat(100_000)}}`, [400]],
      ["\ufeff\ufeff{}", [400]],
      ["nul", [400]],
      ['"text"', [400]],
      ["[]", [400]],
    ];
    for (const [body, statuses] of bodies)
      expect([body.slice(0, 40), statuses]).toEqual([body.slice(0, 40), [await send(call.method, call.path, body)]]);
    for (const encoding of ["gzip", "deflate", "br", "zstd", "gzip, identity", "x"])
      expect(await send(call.method, call.path, "{}", { "content-encoding": encoding })).toBe(415);
    for (const type of [
      "text/html",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-16",
      'multipart/form-data; boundary="a',
    ])
      expect([400, 415]).toContain(await send(call.method, call.path, "{}", { "content-type": type }));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

test("afterwards the agent is unchanged, and its webhook received nothing of it", async () => {
  const { client, activationId } = agent;
  expect((await client.self.get()).activationId).toBe(activationId);
  expect((await ask(world, { method: "GET", path: agentPath(activationId, "/runs"), key: agent.key })).status).toBe(200);
  const { balance } = await client.credits.get();
  const entries = await world.sdk.credits.list({ limit: 100 });
  expect(entries.data[0]?.balanceAfter).toBe(balance);
  expect(balance).toBeGreaterThan(0);
});
