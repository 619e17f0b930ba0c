import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { fault, type Reply, scriptedServer } from "../../test/scripted-server.ts";
import { Mailsvc } from "../index.ts";

/** A client of a scripted server that notes its waits instead of waiting. */
async function setUp(...script: Reply[]) {
  const server = await scriptedServer(...script);
  const slept: number[] = [];
  const client = new Mailsvc({ apiKey: "ms_live_x", baseUrl: server.url, sleep: async (ms) => void slept.push(ms) });
  return { client, slept, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const begin =
  (type: string, text: string): Reply =>
  (response) =>
    void response.writeHead(200, { "content-type": type }).write(text);

test.each(["text/html", "application/json"])(
  "an answer of %s is told to be from another server, also when it does not end",
  async (type) => {
    await using world = await setUp(begin(type, "<p>Hello"));
    await expect(world.client.events.tail({}).next()).rejects.toMatchObject({ name: "ApiError", code: "unexpected_answer", status: 200 });
  },
);

test("a server that asks for hours is asked again after a minute", async () => {
  const stream = begin("text/event-stream", 'id: 1\ndata: {"id":"evt_1"}\n\n');
  await using world = await setUp(fault(503, "storage_unavailable", { "retry-after": "86400" }), stream);
  const events = world.client.events.tail({});
  expect((await events.next()).value).toEqual({ id: "evt_1" });
  expect(world.slept).toEqual([60_000]);
  await events.return();
});

test("a page of a proxy does not end a stream that has worked", async () => {
  const stream = (n: number) => (response: ServerResponse) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).end(`id: ${n}\ndata: {"id":"evt_${n}"}\n\n`);
  await using world = await setUp(stream(1), begin("text/html", "<p>Please sign in"), stream(2));
  const events = world.client.events.tail({});
  expect((await events.next()).value).toEqual({ id: "evt_1" });
  expect((await events.next()).value).toEqual({ id: "evt_2" });
  await events.return();
});
