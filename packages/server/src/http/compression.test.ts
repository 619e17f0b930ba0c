import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Endpoint, served } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createWorld } from "../testing.ts";

/** A workspace with a list long enough to be worth it. */
async function createLists() {
  const world = await createWorld();
  for (let i = 0; i < 12; i += 1) await world.sdk.lists.create({ name: `List ${i}`, description: "News of the product, once a month." });
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    world.fetch(`${world.url}${path}`, { method, headers: { authorization: `Bearer ${world.apiKey}`, ...headers } });
  return { world, get, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("an answer of more than a kilobyte", () => {
  test.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, deflate", "gzip", gunzipSync],
    ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
  ] as const)("goes out compressed to a client that takes %s", async (accepted, coding, decode) => {
    await using lists = await createLists();
    const { get } = lists;
    const plain = await (await get("/api/v1/lists")).text();
    const response = await get("/api/v1/lists", { "accept-encoding": accepted });
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(response.headers.get("vary")).toBe("accept-encoding");
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length).toBeLessThan(plain.length / 3);
    expect(decode(bytes).toString()).toBe(plain);
  });

  test("stays as it is for other clients, and says that it varies", async () => {
    await using lists = await createLists();
    const { get } = lists;
    for (const accepted of [undefined, "identity", "gzip;q=0, br;q=0.0"]) {
      const response = await get("/api/v1/lists", accepted === undefined ? {} : { "accept-encoding": accepted });
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(response.headers.get("vary")).toBe("accept-encoding");
      expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(12);
    }
  });

  test("has the headers of a GET in answer to HEAD", async () => {
    await using lists = await createLists();
    const { get } = lists;
    const response = await get("/api/v1/lists", { "accept-encoding": "br" }, "HEAD");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-encoding")).toBe("br");
  });
});

test("short answers, errors of reads and answers to writes are not compressed", async () => {
  await using lists = await createLists();
  const { world, get } = lists;
  const encoded = { "accept-encoding": "br, gzip" };
  expect((await get("/api/v1/lists?limit=1", encoded)).headers.get("content-encoding")).toBeNull();
  expect((await get("/api/v1/lists/list_unknown", encoded)).headers.get("content-encoding")).toBeNull();
  const created = await world.fetch(`${world.url}/api/v1/templates`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", ...encoded },
    body: JSON.stringify({ name: "Long", slug: "long", subject: "Hi", html: "<p>Hello</p>".repeat(200) }),
  });
  expect((await created.text()).length).toBeGreaterThan(1024);
  expect(created.headers.get("content-encoding")).toBeNull();
});

// They hold what the owner of the workspace wrote, or an agent proposes: no secret of a person.
const WRITTEN = [
  "brand.get",
  "templates.get",
  "campaigns.list",
  "campaigns.get",
  "approvals.get",
  "explanations.get",
  "agent.brand.get",
  "agent.explanations.get",
  "agent.wakeups.list",
  "agent.wakeups.get",
];

test("reads that show mail, or what was sent to a webhook, are never compressed", () => {
  const shows = /"(?:html|headers|body|payload|previewUrl)":\{/;
  const reads = Object.entries(served).flatMap(([noun, verbs]) =>
    Object.entries(verbs as Record<string, Endpoint>).map(([verb, endpoint]) => ({ id: `${noun}.${verb}`, endpoint })),
  );
  const open = reads.filter(({ endpoint: { method, stream, produces, uncompressed, output } }) => {
    if (method !== "GET" || stream || produces || uncompressed) return false;
    return shows.test(JSON.stringify(z.toJSONSchema(output, { unrepresentable: "any" })));
  });
  expect(open.map(({ id }) => id).filter((id) => !WRITTEN.includes(id))).toEqual([]);
});
