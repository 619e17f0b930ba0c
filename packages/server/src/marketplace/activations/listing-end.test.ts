import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { activateAgent, agentPath, getAgentKey, listAgent, startReceiver } from "../../../test/marketplace.ts";
import { ask } from "../../../test/scenario.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { activationJobs } from "./listing-end.ts";

/** Adds activations of a listing, each of its own workspace, by copying one that was made the long way. */
const crowd = async ({ app }: TestWorld, pattern: string, n: number): Promise<void> => {
  const { db, ids } = app.deps;
  const { activations, workspaces } = db.read.t;
  const [row] = await db.read.select().from(activations).where(eq(activations.id, pattern));
  if (!row) throw new Error("no pattern");
  for (let from = 0; from < n; from += 500) {
    const rows = Array.from({ length: Math.min(500, n - from) }, (_, i) => ({
      ...row,
      id: ids("act"),
      workspaceId: ids("ws"),
      keyHash: `hash-${from + i}`,
    }));
    await db.tx(async (tx) => {
      await tx.insertAll(
        workspaces,
        rows.map(({ workspaceId }) => ({ id: workspaceId, name: "brand", replies: false, createdAt: 0 })),
      );
      await tx.insertAll(activations, rows);
    });
  }
};

const counts = async ({ app }: TestWorld) => {
  const { read } = app.deps.db;
  const { activations: a, webhookEvents: e } = read.t;
  return {
    living: await read.$count(a, eq(a.status, "active")),
    told: await read.$count(e, eq(e.type, "agent.deactivated")),
  };
};

test("a listing with 2,000 activations: every key is dead with the answer, every agent is told within seconds", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  const key = await getAgentKey(world, hooks, id);
  await crowd(world, id, 1999);
  const { real } = world.app.deps.clock;
  const before = real.now();
  await world.builder.sdk.listings.cancel("writer");
  const answered = real.now();
  expect((await ask(world, { method: "GET", path: agentPath(id), key })).status).toBe(401);
  const dead = real.now();
  expect((await world.builder.sdk.listings.activations("writer", { status: "active" })).pagination.total).toBe(0);
  while ((await counts(world)).told < 2000 && real.now() - dead < 90_000) await real.sleep(50);
  const told = real.now();
  expect(await counts(world)).toEqual({ living: 0, told: 2000 });
  // The goals are 50 ms and 10 s on an idle machine; here others may be at work.
  expect(dead - answered).toBeLessThan(5000);
  expect(told - before).toBeLessThan(90_000);
}, 240_000);

describe("the work goes on where it stood", () => {
  test("whatever part of it was done before, nobody is told twice and nobody is left out", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    const listing = await listAgent(world.builder.sdk, hooks.url);
    const { id } = await activateAgent(world.sdk);
    await crowd(world, id, 600);
    await world.builder.sdk.listings.cancel("writer");
    await world.settle();
    const { db } = world.app.deps;
    const job = activationJobs(world.app.deps)["agent.listing.end"];
    // The job once more from its beginning, as after a crash between its effect and its end.
    for (let again = 0; again < 2; again += 1) {
      const payload = { workspaceId: world.workspaceId, listingId: listing.id, period: 1, after: "" };
      const outcome = await job?.({ id: "1", kind: "agent.listing.end", payload, attempt: 1, interruptions: 0, maxAttempts: 10 });
      await db.tx(async (tx) => outcome?.commit?.(tx));
    }
    await world.settle();
    expect(await counts(world)).toEqual({ living: 0, told: 601 });
    const { webhookEvents: e } = db.read.t;
    const rows = await db.read.select({ id: e.streamId }).from(e).where(eq(e.type, "agent.deactivated"));
    expect(new Set(rows.map((r) => r.id)).size).toBe(601);
  });
});

test("an agent turned on again while the old activations are still being ended lives on", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const first = await activateAgent(world.sdk);
  await crowd(world, first.id, 300);
  const [, payment] = await Promise.all([world.builder.sdk.listings.cancel("writer"), world.builder.sdk.listings.get("writer")]);
  expect(payment).toBeDefined();
  await world.builder.sdk.payments.confirm((await world.builder.sdk.listings.checkout("writer")).id);
  const second = await activateAgent(world.sdk);
  await world.settle();
  expect((await world.sdk.activations.get(first.id)).status).toBe("deactivated");
  expect((await world.sdk.activations.get(second.id)).status).toBe("active");
  expect((await world.builder.sdk.listings.activations("writer", { status: "active" })).data.map((a) => a.id)).toEqual([second.id]);
});
