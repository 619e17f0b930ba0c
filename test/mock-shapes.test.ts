import { type Contract, contract, type Endpoint } from "@mailsvc/sdk/contract";
import { mockMailsvc } from "@mailsvc/sdk/testing/msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MARKETPLACE } from "./support/example-agents.ts";
import { SENDING } from "./support/example-objects.ts";
import { openExampleServer } from "./support/example-server.ts";

/*
 * The mocked API answers each example of the contract in the shape of the service: the same fields in objects and in the first item of
 * lists.
 * Values are a test's own state, so they are not compared, and lists may be empty on one side.
 */

const MOCK = "http://mock.example.com";
const server = setupServer(...mockMailsvc({ baseUrl: MOCK }).handlers);
beforeAll(() => server.listen({ onUnhandledFrame: "bypass" }));
afterAll(() => server.close());

/** Writes of a developer that need no more than the objects of an example; the others have answers that are recorded for their only example. */
const nouns: Contract = contract;
// The first needs a request with a proposal, which the other examples of its operation cannot answer. The others update a contact of
// these examples, which the mocked API does not have.
const OF_ANOTHER_OBJECT: ReadonlySet<string> = new Set([
  "messages.answer: Send the proposed campaign",
  "contacts.upsert: As often as you like",
  "contacts.upsert: By your own id: a new address stays the same contact",
]);
const OBJECTS = { ...SENDING, ...MARKETPLACE };
const EXAMPLES = Object.entries(nouns)
  .flatMap(([noun, verbs]) =>
    Object.entries(verbs).flatMap(([verb, endpoint]) => {
      const { access, method, examples = [], produces, stream, waits }: Endpoint = endpoint;
      const isTried =
        typeof access === "object" && "permission" in access && method === "POST" && !produces && !stream && !waits && examples.length > 1;
      return isTried ? examples.map((example) => [`${noun}.${verb}: ${example.summary}`, noun, verb, endpoint, example] as const) : [];
    }),
  )
  .filter(([name]) => !OF_ANOTHER_OBJECT.has(name));

/** The fields of a value, of lists those of the first item; an empty list or null fits anything. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

/** The first place in which two shapes differ; null where they agree. */
function differ(a: unknown, b: unknown, path = ""): string | null {
  if (a === null || b === null) return null;
  if (Array.isArray(a) !== Array.isArray(b)) return path;
  if (Array.isArray(a) && Array.isArray(b)) return differ(a[0], b[0], `${path}[]`);
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!(name in left) || !(name in right)) return `${path}.${name}`;
    const inner = differ(left[name], right[name], `${path}.${name}`);
    if (inner !== null) return inner;
  }
  return null;
}

test.each(EXAMPLES)("%s", async (_name, noun, verb, { path, method, query: _query }, { params = {}, body }) => {
  await using its = await openExampleServer();
  const ids = (await (OBJECTS[`${noun}.${verb}`] ?? OBJECTS[noun])?.(its)) ?? {};
  const fill = (text: string): string => Object.entries(ids).reduce((all, [there, here]) => all.replaceAll(there, here), text);
  const at = path.replace(/:([A-Za-z]+)/g, (_, name: string) => params[name] ?? "x");
  const init = (key: string) => ({
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: fill(JSON.stringify(body ?? {})),
  });
  const { apiKey } = noun === "deliveries" ? its.world.builder : its.world;
  const real = await its.world.fetch(`${its.world.url}${fill(at)}`, init(apiKey));
  expect(real.status, await real.clone().text()).toBeLessThan(300);
  const mocked = await fetch(`${MOCK}${at}`, { ...init("ms_live_x"), body: JSON.stringify(body ?? {}) });
  expect(mocked.status).toBe(real.status);
  expect(differ(shapeOf(await mocked.json()), shapeOf(await real.json()))).toBeNull();
});
