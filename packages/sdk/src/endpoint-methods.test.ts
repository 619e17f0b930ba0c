import { describe, expect, test } from "vitest";
import { type Contract, contract, type Endpoint, paramNames } from "./contract/index.ts";
import { Mailsvc } from "./index.ts";

const endpoints = Object.entries(contract as Contract).flatMap(([noun, verbs]) =>
  Object.entries(verbs).map(([verb, endpoint]): [string, string, string, Endpoint] => [`${noun}.${verb}`, noun, verb, endpoint]),
);

const isStream = (noun: string, verb: string): boolean => (contract as Contract)[noun]?.[verb]?.stream === true;

/** Calls an endpoint by its name in the contract and tells what was sent. */
const call = async (noun: string, verb: string, args: readonly unknown[]) => {
  const sent: { method: string; url: URL; body: unknown; headers: Record<string, string> }[] = [];
  const client = new Mailsvc({
    baseUrl: "http://mail.test",
    apiKey: "ms_live_x",
    fetch: async (url, { method, body, headers }) => {
      sent.push({ method, url: new URL(url), body: body === undefined ? undefined : JSON.parse(String(body)), headers });
      return headers.accept?.startsWith("text/event-stream")
        ? Response.json({ error: { code: "forbidden", message: "No." } }, { status: 403 })
        : Response.json({ data: [], pagination: { nextCursor: null } });
    },
  });
  const groups = client as unknown as Record<string, Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
  const made: unknown = groups[noun]?.[verb]?.(...args);
  // A stream is opened when its first message is asked for.
  if (isStream(noun, verb)) await (made as AsyncGenerator).next().catch(() => {});
  else await made;
  return sent;
};

describe("every endpoint of the contract", () => {
  test.each(endpoints)("is a method that sends what it says: %s", async (_, noun, verb, endpoint) => {
    const values = paramNames(endpoint.path).map((name) => `${name}_1`);
    const example = endpoint.examples?.[0];
    const input = endpoint.method === "GET" ? example?.query : (example?.body as object | undefined);
    const takesInput = endpoint.query !== undefined || endpoint.body !== undefined;
    const [sent, ...more] = await call(noun, verb, [...values, ...(takesInput ? [input] : [])]);
    expect(more).toEqual([]);
    expect(sent?.method).toBe(endpoint.method);
    expect(sent?.url.pathname).toBe(endpoint.path.replace(/:(\w+)/g, "$1_1"));
    expect(Object.fromEntries(sent?.url.searchParams ?? [])).toEqual(
      endpoint.method === "GET" ? Object.fromEntries(Object.entries(input ?? {}).map(([name, value]) => [name, String(value)])) : {},
    );
    expect(sent?.body).toEqual(endpoint.body ? (input ?? {}) : undefined);
    const open = endpoint.access === "public" || endpoint.access === "dev";
    const hasDetails = endpoint.operatorRight === "details";
    expect(sent?.headers.authorization).toBe(open && !hasDetails ? undefined : "Bearer ms_live_x");
    expect(sent?.headers["idempotency-key"] === undefined).toBe(open || endpoint.method === "GET");
  });

  test("has a noun that does not hide something of the client", () => {
    const own = ["baseUrl", "request", "toJSON", "then", "constructor"];
    expect(Object.keys(contract).filter((noun) => own.includes(noun))).toEqual([]);
    expect(endpoints.map(([, , verb]) => verb)).not.toContain("then");
  });

  test("cannot be replaced by mistake", () => {
    const { emails } = new Mailsvc({ fetch: async () => Response.json({}) });
    expect(Object.isFrozen(emails)).toBe(true);
  });
});
