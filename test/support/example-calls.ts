import { contract, type Endpoint, isForAgents, paramNames, served } from "@mailsvc/sdk/contract";
import { MARKETPLACE } from "./example-agents.ts";
import { SENDING } from "./example-objects.ts";
import type { ExampleServer, Ids } from "./example-server.ts";

/** The objects that examples name, by endpoint or noun. */
export const OBJECTS = { ...SENDING, ...MARKETPLACE };

/** Nouns of builders of agents; examples of all others are those of a brand. */
const OF_BUILDERS = ["listings", "deliveries", "payments"];

/** The call that the example of an endpoint shows. */
interface ExampleCall {
  readonly method: string;
  /** Path, with the query. */
  readonly path: string;
  readonly body: unknown;
}

/** Every endpoint with an id such as `contacts.create`. */
export const ENDPOINTS: readonly (readonly [id: string, endpoint: Endpoint])[] = Object.entries(served).flatMap(([noun, verbs]) =>
  Object.entries(verbs).map(([verb, endpoint]) => [`${noun}.${verb}`, endpoint] as const),
);

/** Makes what the example of an endpoint names. Returns what its ids are here. */
export async function makeObjects(server: ExampleServer, id: string): Promise<Ids> {
  const noun = id.slice(0, id.lastIndexOf("."));
  return (await (OBJECTS[id] ?? OBJECTS[noun])?.(server)) ?? {};
}

/** The call of the first example of an endpoint, with the ids of these objects. */
export function toCall(endpoint: Endpoint, ids: Ids): ExampleCall {
  const [example] = endpoint.examples ?? [];
  const fill = <Value>(value: Value): Value =>
    JSON.parse(Object.entries(ids).reduce((text, [there, here]) => text.replaceAll(there, here), JSON.stringify(value ?? null)));
  const params = fill({ ...example?.params });
  const query = Object.entries(fill({ ...example?.query })).map(([name, value]) => [name, String(value)]);
  const path = paramNames(endpoint.path).reduce(
    (text, name) => text.replace(`:${name}`, encodeURIComponent(params[name] ?? "")),
    endpoint.path as string,
  );
  return {
    method: endpoint.method,
    path: query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path,
    body: endpoint.method === "GET" || example?.body === undefined ? undefined : fill(example.body),
  };
}

/** The key that makes the calls of an endpoint; null if none is needed. */
export async function keyOf(server: ExampleServer, id: string, { access }: Endpoint): Promise<string | null> {
  const { world } = server;
  if (isForAgents(access)) return (await server.agent()).key;
  if (access === "operator") return world.operatorKey;
  if (access === "public" || access === "dev") return null;
  return OF_BUILDERS.includes(id.slice(0, id.lastIndexOf("."))) ? world.builder.apiKey : world.apiKey;
}

/** True if an endpoint takes a developer's key. */
export function isKeyed(id: string, { access }: Endpoint): boolean {
  const [noun = ""] = id.split(".");
  return noun in contract && (access === "key" || (typeof access === "object" && "permission" in access));
}

/** Makes a call with a key. */
export function makeCall({ world }: ExampleServer, call: ExampleCall, key: string | null, headers: Readonly<Record<string, string>> = {}) {
  return world.fetch(world.url + call.path, {
    method: call.method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(call.body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  });
}
