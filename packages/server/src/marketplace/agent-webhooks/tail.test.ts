import type { DeliveryDetail } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestAgent, type TestAgent } from "../../../test/agent.ts";
import type { Clock } from "../../lib/clock.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { getListingRow } from "../listings/listings.ts";
import { followDeliveries } from "./tail.ts";

let world: TestWorld;
let agent: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  agent = await createTestAgent(world);
});
afterAll(() => world.dispose());

type Tail = Parameters<TestWorld["sdk"]["deliveries"]["tail"]>[1];

/** The first `n` deliveries of the stream, while `meanwhile` happens once the connection stands. */
async function follow(n: number, query: Tail, meanwhile: () => Promise<unknown> = async () => {}): Promise<DeliveryDetail[]> {
  const found: DeliveryDetail[] = [];
  const stop = new AbortController();
  const happened = Promise.resolve().then(meanwhile);
  for await (const delivery of world.builder.sdk.deliveries.tail("writer", query, { signal: stop.signal })) {
    found.push(delivery);
    if (found.length === n) stop.abort();
  }
  await happened;
  return found;
}

const toggle = async (): Promise<void> => {
  await world.sdk.activations.pause(agent.activationId);
  await world.sdk.activations.resume(agent.activationId);
};
const newest = async (): Promise<string> => (await world.builder.sdk.deliveries.list("writer", { limit: 1 })).data[0]?.id ?? "";

test("what is written after an event comes in its order, with the bytes of the webhook and without the key", async () => {
  const all = await follow(3, { after: `evt_${"0".repeat(26)}` }, toggle);
  expect(all.map(({ type, sequence }) => [type, sequence])).toEqual([
    ["agent.activated", 1],
    ["agent.paused", 2],
    ["agent.resumed", 3],
  ]);
  for (const { id, body, type } of all) expect(JSON.parse(body)).toMatchObject({ id, type, activationId: agent.activationId });
  expect(JSON.stringify(all)).not.toContain(agent.key);
  // Events of other types are left out.
  expect((await follow(1, { after: `evt_${"0".repeat(26)}`, type: "agent.paused" })).map(({ sequence }) => sequence)).toEqual([2]);
});

test("a client that connects again gets what it has not seen, and nothing that is older than a minute before", async () => {
  await world.clock.advance("5m");
  await world.sdk.activations.pause(agent.activationId);
  const last = await newest();
  await world.clock.advance("2m");
  await world.sdk.activations.resume(agent.activationId);
  expect((await follow(1, { after: last })).map(({ sequence }) => sequence)).toEqual([5]);
});

test("an event that another process committed late, under an older id, comes too", async () => {
  await toggle();
  const from = await newest();
  const { db, clock } = world.app.deps;
  const { webhookEvents: e } = db.read.t;
  const late = `evt_${from.slice(4, 14)}${"0".repeat(16)}`;
  const [row] = await db.read.select().from(e).limit(1);
  expect(late < from).toBe(true);
  const got = follow(1, { after: from, type: "approval_response" });
  // Without a signal, as from another process.
  await db.tx((tx) =>
    tx
      .insert(e)
      .values({ ...(row as NonNullable<typeof row>), id: late, type: "approval_response", streamId: "act_other", at: clock.now() }),
  );
  expect((await got).map(({ id }) => id)).toEqual([late]);
});

test("a long search for what matches lets others work, and tells how far it is", async () => {
  await toggle();
  const { deps } = world.app;
  const { db } = deps;
  const { webhookEvents: e } = db.read.t;
  const [row] = await db.read.select().from(e).limit(1);
  const from = `evt_0000000000${"0".repeat(16)}`;
  const ids = Array.from({ length: 1200 }, (_, i) => `evt_0000000000${String(i + 1).padStart(16, "0")}`);
  const rows = ids.map((id, i) => ({
    ...(row as NonNullable<typeof row>),
    id,
    type: "agent.resumed",
    streamId: "act_other",
    sequence: 1000 + i,
  }));
  await db.tx((tx) => tx.insertAll(tx.t.webhookEvents, rows));
  const wait = vi.spyOn(deps.deliverySignal, "wait");
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
  const listing = await getListingRow(db.read, world.builder.workspaceId, "writer");
  const request = { keyId: "key_1", after: from, lastEventId: null, type: "agent.paused" as const, withKeys: false, signal: stop.signal };
  const seen: string[] = [];
  for await (const { id, data } of await followDeliveries(db.read, { ...deps, clock }, listing, request)) {
    if (data) break;
    seen.push(id);
  }
  stop.abort();
  await db.tx((tx) => tx.delete(e).where(eq(e.streamId, "act_other")));
  expect(seen).toEqual([from, ids[499], ids[999]]);
  expect(turns).toBeGreaterThanOrEqual(2);
  expect(wait).toHaveBeenCalledTimes(1);
});

test("strangers, wrong ids and wrong types are refused", async () => {
  await expect(follow(1, { after: "em_1" })).rejects.toMatchObject({ code: "validation_error" });
  await expect(follow(1, { type: "agent.none" as never })).rejects.toMatchObject({ code: "validation_error" });
  const stranger = world.sdk.deliveries.tail("writer");
  await expect(stranger.next()).rejects.toMatchObject({ code: "not_found" });
});
