import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { nodeHandler } from "../adapters/node.ts";
import { createAgent } from "../index.ts";
import { memoryStore } from "../stores/memory.ts";
import { CASE_LISTS, controlCase } from "./cases.ts";
import { checkReceiver } from "./check.ts";
import { Samples } from "./samples.ts";

const SECRET = `whsec_${Buffer.from("conformance-secret-of-32-bytes!!").toString("base64")}`;
const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

/** A receiver of someone's own, which answers with the status `handle` returns, or 500 when it throws. */
function receiver(handle: (raw: Buffer, request: IncomingMessage) => number): Promise<string> {
  return listen(
    createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        try {
          response.writeHead(handle(Buffer.concat(parts), request)).end();
        } catch {
          response.writeHead(500).end();
        }
      });
    }),
  );
}

const digest = (body: Buffer | string): Buffer => createHmac("sha256", SECRET).update(body).digest();
const given = (request: IncomingMessage): string => String(request.headers["x-service-signature"] ?? "");
const verify = (raw: Buffer, request: IncomingMessage): boolean =>
  /^[0-9a-f]{64}$/i.test(given(request)) && timingSafeEqual(Buffer.from(given(request), "hex"), digest(raw));
/** Reads an event or answers null for a body that is none. */
const read = (raw: Buffer): { id?: string; type?: unknown } | null => {
  try {
    const event = JSON.parse(raw.toString()) as unknown;
    return typeof event === "object" && event !== null ? event : null;
  } catch {
    return null;
  }
};
const failures = async (url: string, only?: string): Promise<{ id: string; mistake: string }[]> =>
  (await checkReceiver({ url, secret: SECRET, only })).results.flatMap(({ id, failure }) =>
    failure ? [{ id, mistake: failure.mistake }] : [],
  );

const listAll = () => {
  const input = { secret: SECRET, now: Date.now(), samples: new Samples("test", Date.now()) };
  return [controlCase(input), ...CASE_LISTS.flatMap((list) => list(input))];
};

test("there are at least sixty cases, each with its own id, and no event comes in two of them", () => {
  const cases = listAll();
  expect(cases.length).toBeGreaterThanOrEqual(60);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  for (const { title, about } of cases) expect([title, about].every((text) => text.length > 4)).toBe(true);
  const ids = cases.map(({ requests }) => new Set(requests.flat().map(({ headers }) => headers["webhook-id"])));
  const own = ids.flatMap((of) => [...of]).filter((id) => id?.startsWith("evt_sample_test"));
  expect(new Set(own).size).toBe(own.length);
});

test("a receiver made with the kit passes all of them", async () => {
  const agent = createAgent({ secret: SECRET, store: memoryStore(), masterKey: MASTER_KEY });
  agent.on("agent.activated", () => {});
  const report = await checkReceiver({ url: await listen(createServer(nodeHandler(agent))), secret: SECRET });
  expect(report.results.filter(({ passed }) => !passed)).toEqual([]);
  expect(report.passed).toBe(listAll().length);
});

test("a plain receiver that does everything right passes as well", async () => {
  const url = await receiver((raw, request) => {
    if (request.method !== "POST") return 405;
    if (!verify(raw, request)) return 401;
    return read(raw) === null ? 400 : 200;
  });
  expect(await failures(url)).toEqual([]);
});

describe("receivers that are wrong fail for the right reason", () => {
  test("one that signs the body it has parsed and written again", async () => {
    const url = await receiver((raw, request) => {
      const again = JSON.stringify(read(raw));
      return again && given(request) === digest(again).toString("hex") ? 200 : 401;
    });
    const found = await failures(url, "body-");
    expect(found.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["body-pretty", "body-numbers", "body-trailing-newline", "body-slashes"]),
    );
    for (const { id, mistake } of found) expect([id, mistake]).toEqual([id, expect.stringContaining("parsed and written again")]);
    expect((await failures(url, "signature-reserialised")).map(({ mistake }) => mistake)).toEqual([
      expect.stringContaining("parsed and written again"),
    ]);
  });

  test("one that checks no signature", async () => {
    const url = await receiver((raw) => (read(raw) === null ? 400 : 200));
    const found = await failures(url, "signature-");
    expect(found.find(({ id }) => id === "signature-missing")?.mistake).toContain("not checked");
    expect(found.find(({ id }) => id === "signature-random")?.mistake).toContain("not checked");
    expect(found.length).toBeGreaterThan(20);
  });

  test("one that compares the signature loosely", async () => {
    const url = await receiver((raw, request) => {
      const right = digest(raw).toString("hex");
      const header = given(request).replace(/^sha256=/, "");
      return header !== "" && (right.startsWith(header) || header.startsWith(right)) ? 200 : 401;
    });
    const found = await failures(url, "signature-");
    expect(found.map(({ id }) => id).sort()).toEqual([
      "signature-extended",
      "signature-labelled",
      "signature-prefix-only",
      "signature-truncated",
    ]);
    for (const { mistake } of found) expect(mistake).toContain("loosely");
  });

  test("one that insists on known types and refuses repeats", async () => {
    const seen = new Set<string>();
    const url = await receiver((raw, request) => {
      if (!verify(raw, request)) return 401;
      const { id = "", type } = read(raw) ?? {};
      if (typeof type !== "string" || type.includes("renamed")) throw new Error("unknown type");
      if (seen.has(id)) return 409;
      seen.add(id);
      return 200;
    });
    const found = await failures(url);
    expect(found.find(({ id }) => id === "event-unknown-type")?.mistake).toContain(
      "exception while the receiver handles a type it does not know",
    );
    expect(found.find(({ id }) => id === "order-repeat")?.mistake).toContain("repeated event");
    expect(found.find(({ id }) => id === "robust-no-type")?.mistake).toContain("exception");
    expect(found.filter(({ id }) => id.startsWith("signature-"))).toEqual([]);
  });
});

test("a receiver that answers each request just in time holds the check no longer than its limit, and does not pass", async () => {
  let requests = 0;
  const slow = createServer((request, response) => {
    requests += 1;
    request.resume().on("end", () => setTimeout(() => response.writeHead(200).end(), 300));
  });
  const { results, causes, failed, skipped } = await checkReceiver({
    url: await listen(slow),
    secret: SECRET,
    only: "event-agent.",
    limitMs: 1000,
  });
  // The control request and a few cases.
  expect(requests).toBeLessThanOrEqual(5);
  expect(skipped).toBe(results.length - failed - results.filter(({ passed }) => passed).length);
  expect(skipped).toBeGreaterThan(3);
  expect(results.at(-1)).toMatchObject({
    id: "time-limit",
    passed: false,
    failure: {
      problem: `The time limit of the check, 1 second, is over. ${requests} requests were answered, and ${skipped} cases are not graded`,
      fix: expect.stringContaining("--time-limit"),
    },
  });
  expect(causes.map(({ cases }) => cases)).toEqual([["time-limit"]]);
});

test("a receiver that is not there fails every case, with the reason and a command to try", async () => {
  const { failed, results } = await checkReceiver({ url: "http://127.0.0.1:9/webhook", secret: SECRET, only: "event-test.ping" });
  expect(failed).toBe(1);
  expect(results[0]?.failure).toMatchObject({
    problem: expect.stringContaining("ECONNREFUSED"),
    curl: expect.stringMatching(/^curl -i -X POST 'http:\/\/127\.0\.0\.1:9\/webhook' .*--data-binary '\{/),
  });
});
