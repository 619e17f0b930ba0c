import { type ErrorBody, paramNames } from "@mailsvc/sdk/contract";
import { getTableName, type Table } from "drizzle-orm";
import { expect, test } from "vitest";
import { listErrors } from "../packages/server/src/http/openapi.ts";
import type { TestWorld } from "../packages/server/src/testing.ts";
import { ENDPOINTS, isKeyed, makeCall, makeObjects, OBJECTS, toCall } from "./support/example-calls.ts";
import { type ExampleServer, type Ids, idOf, openExampleServer } from "./support/example-server.ts";

/*
 * The owner of another workspace makes each call of the reference with the ids of this one: in the path, in the query and in the body.
 * The named objects are not found, and nothing of this workspace changes. A new endpoint is tried without being listed here.
 */

/** Open to everybody: the catalog, and activating an agent from it. */
const OPEN = ["catalog.list", "catalog.get", "activations.create"];

/** Calls that the reference cannot show either: a session belongs to a browser, and a job is dead only after a fault of the server. */
const WITHOUT_OBJECTS = ["dashboard.signOut", "dashboard.signOutPerson", "jobs.retry"];

/** Nouns that belong to the one agent of the server; a stranger has none. */
const OF_THE_AGENT = ["listings", "deliveries", "payments", "activations", "runs", "messages", "approvals"];

const KEYED = ENDPOINTS.filter(([id, endpoint]) => isKeyed(id, endpoint) && !endpoint.stream);

/** Endpoints that one set of objects serves: a stranger's calls change nothing, so one can follow the other. */
const GROUPS = [...Map.groupBy(KEYED, ([id]) => (id in OBJECTS ? id : id.slice(0, id.lastIndexOf("."))))];

/** Tables that any call changes: when a key was used, and what the server knows of itself. */
const RESTLESS = ["keys", "meta", "event_arrivals"];

test.each(GROUPS)("a stranger neither sees nor changes what the examples of %s name", async (_group, endpoints) => {
  await using server = await openExampleServer();
  const { world } = server;
  const first = endpoints[0]?.[0] ?? "";
  const ids = await makeObjects(server, first);
  await world.settle();
  const stranger = await world.createWorkspace("stranger");
  const nested = endpoints.some(([id, { path }]) => paramNames(path).length > 1 && !OF_THE_AGENT.some((noun) => id.startsWith(`${noun}.`)));
  const own = nested ? await makeObjects(asSeenBy(server, stranger), first) : {};
  await world.settle();
  const before = await dump(world);
  for (const [id, endpoint] of endpoints) {
    const call = toCall(endpoint, ids);
    const params = paramNames(endpoint.path);
    const missing = `Add what the example of ${id} names to test/support/example-objects.ts.`;
    if (!WITHOUT_OBJECTS.includes(id)) expect(call.path.split("?")[0], missing).not.toContain(idOf(""));
    const asked = `${call.path} ${JSON.stringify(call.body ?? null)}`;
    const names = Object.values(ids).some((theirs) => theirs !== "" && asked.includes(theirs));
    const mixed = toCall(endpoint, mix(ids, own, endpoint.examples?.[0]?.params)).path;
    const isMixed =
      params.length > 1 && mixed !== call.path && Object.values(ids).some((theirs) => theirs !== "" && mixed.includes(theirs));
    const calls = isMixed ? [call, { ...call, path: mixed }] : [call];
    for (const tried of calls) {
      const answer = await makeCall(server, tried, stranger.apiKey);
      const text = await answer.text();
      const secrets = [world.workspaceId, ...Object.values(ids)].filter((secret) => secret !== "" && !asked.includes(secret));
      expect({ id, path: tried.path, tells: secrets.filter((secret) => text.includes(secret)) }).toEqual({
        id,
        path: tried.path,
        tells: [],
      });
      if (!answer.ok) {
        const { error } = JSON.parse(text) as ErrorBody;
        expect(listErrors(endpoint), `Name ${error.code} in the errors of ${id}: ${error.message}`).toContain(error.code);
      }
      if (!names || OPEN.includes(id)) continue;
      // A call about several of them says of each that it is not found.
      const isRefused = (n: number): boolean => (n >= 400 && n < 500) || text.includes('"not_found"');
      const status = params.length > 0 ? 404 : expect.toSatisfy(isRefused);
      expect({ id, path: tried.path, status: answer.status }, text.slice(0, 500)).toEqual({ id, path: tried.path, status });
    }
  }
  await world.settle();
  expect(listLost(before, await dump(world))).toEqual([]);
});

/** The server as another workspace sees it, to make objects there. */
function asSeenBy(server: ExampleServer, { apiKey, workspaceId, sdk }: Pick<TestWorld, "apiKey" | "workspaceId" | "sdk">): ExampleServer {
  const world: TestWorld = Object.create(server.world, {
    apiKey: { value: apiKey },
    workspaceId: { value: workspaceId },
    sdk: { value: sdk },
  });
  return Object.create(server, { world: { value: world } });
}

/** The stranger's own object in the first parameter of a path, and the other workspace's in those that follow. */
function mix(theirs: Ids, own: Ids, params: Readonly<Record<string, string>> = {}): Ids {
  const [parent = ""] = Object.values(params);
  return { ...theirs, ...(parent in own && { [parent]: own[parent] as string }) };
}

/** All rows of the database, as texts, by table. */
async function dump({ app }: TestWorld): Promise<Map<string, Set<string>>> {
  const { read } = app.deps.db;
  const rows = new Map<string, Set<string>>();
  for (const table of Object.values(read.t) as unknown as (Table & typeof read.t.contacts)[]) {
    const name = getTableName(table);
    if (!RESTLESS.includes(name)) rows.set(name, new Set((await read.select().from(table)).map((row) => JSON.stringify(row))));
  }
  return rows;
}

function listLost(before: Map<string, Set<string>>, after: Map<string, Set<string>>): string[] {
  return [...before].flatMap(([name, rows]) =>
    [...rows].filter((row) => !after.get(name)?.has(row)).map((row) => `${name}: ${row.slice(0, 300)}`),
  );
}
