import { describe, expect, test } from "vitest";
import { fault, html, json, type Reply, scriptedServer } from "../test/scripted-server.ts";
import { Mailsvc, type RawRequest, UsageError } from "./index.ts";

const setUp = async (...script: Reply[]) => {
  const server = await scriptedServer(...script);
  const client = new Mailsvc({ apiKey: "ms_live_x", baseUrl: server.url, sleep: async () => {} });
  return { client, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

describe("a raw request", () => {
  test("sends any method and path, with the key, and answers status, headers and body", async () => {
    await using world = await setUp(json(201, { made: true }));
    const answer = await world.client.request("post", "/api/v9/new?a=1", { query: { b: ["2", 3], c: undefined }, body: { x: 1 } });
    expect(answer).toMatchObject({ status: 201, headers: { "x-request-id": "req_1" }, body: { made: true } });
    expect(new TextDecoder().decode(answer.bytes)).toBe('{"made":true}');
    expect(world.server.received[0]).toMatchObject({ method: "POST", url: "/api/v9/new?a=1&b=2&b=3", body: '{"x":1}' });
    expect(world.server.received[0]?.headers).toMatchObject({
      authorization: "Bearer ms_live_x",
      "content-type": "application/json",
      "idempotency-key": expect.any(String),
    });
  });

  test("sends texts and bytes as they are, under a content type of the caller's", async () => {
    await using world = await setUp(json(200, {}));
    await world.client.request("POST", "/x", { body: '{"already": "json"}' });
    await world.client.request("PUT", "/x", { body: new TextEncoder().encode("a,b"), headers: { "Content-Type": "text/csv" } });
    expect(world.server.received.map(({ body, headers }) => [body, headers["content-type"]])).toEqual([
      ['{"already": "json"}', "application/json"],
      ["a,b", "text/csv"],
    ]);
  });

  test("gives a text when the answer is not JSON, and an empty one for no body", async () => {
    await using world = await setUp(html(200), (response) => response.writeHead(204).end());
    expect((await world.client.request("GET", "/")).body).toBe("<h1>Bad Gateway</h1>");
    expect(await world.client.request("DELETE", "/x")).toMatchObject({ status: 204, body: "" });
  });

  test("throws for answers that are not 2xx, or returns them once retrying is over", async () => {
    await using world = await setUp(fault(503, "storage_unavailable"));
    await expect(world.client.request("GET", "/x")).rejects.toMatchObject({ code: "storage_unavailable" });
    const answer = await world.client.request("GET", "/x", { throwOnError: false, maxRetries: 1 });
    expect(answer).toMatchObject({ status: 503, body: { error: { code: "storage_unavailable" } } });
    expect(world.server.received).toHaveLength(5);
  });

  test("shows no key to dev endpoints", async () => {
    await using world = await setUp(json(200, {}));
    await world.client.request("POST", "/__dev/clock/next");
    expect(world.server.received[0]?.headers).not.toHaveProperty("authorization");
    expect(world.server.received[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test.each<[string, string, RawRequest, string]>([
    ["GET", "http://other.example/", {}, "The path must begin with /; the server comes from baseUrl."],
    ["GET", "/a b", {}, "The path must not hold spaces"],
    ["GET", "/a\r\nHost: x", {}, "The path must not hold spaces"],
    ["GET", "/\\other.example", {}, "The path must not hold spaces"],
    ["G ET", "/", {}, "The method must be a word such as GET or POST."],
    ["POST", "/", { body: () => 1 }, "POST /: the body cannot be written as JSON."],
    ["GET", "/", { query: { a: Number.NaN } }, "GET /: a must be a text, a number, true or false, or a list of these."],
  ])("is refused when it cannot be meant: %s %j", async (method, path, request, message) => {
    await using world = await setUp(json(200, {}));
    const failing = world.client.request(method, path, request);
    await expect(failing).rejects.toThrow(message);
    await expect(failing).rejects.toThrow(UsageError);
    expect(world.server.received).toHaveLength(0);
  });

  test("cannot leave the server by its path", async () => {
    await using world = await setUp(json(200, {}));
    await world.client.request("GET", "//other.example/x");
    await world.client.request("GET", "/@other.example/x");
    expect(world.server.received.map(({ url }) => url)).toEqual(["//other.example/x", "/@other.example/x"]);
  });
});
