import { eq } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { type Hook, hook } from "../../../test/hook.ts";
import { listAgent, turnOn } from "../../../test/marketplace.ts";
import { createDatabase, dropDatabases } from "../../../test/postgres.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { emitAll } from "./emit.ts";

afterAll(dropDatabases);

const resumed = ({ app }: TestWorld, activationIds: readonly string[]): Promise<void> =>
  app.deps.db.tx((tx) => emitAll(tx, app.deps, activationIds, { type: "agent.resumed", at: app.deps.clock.now(), fields: {} }));

/** More activations of the listing an activation is of. */
const crowd = async ({ app }: TestWorld, pattern: string, n: number): Promise<string[]> => {
  const { db, ids } = app.deps;
  const { activations: a } = db.read.t;
  const [row] = await db.read.select().from(a).where(eq(a.id, pattern));
  if (!row) throw new Error("no pattern");
  const rows = Array.from({ length: n }, () => {
    const id = ids("act");
    return { ...row, id, workspaceId: ids("ws"), keyHash: `hash-${id}` };
  });
  await db.tx((tx) => tx.insertAll(a, rows));
  return rows.map(({ id }) => id);
};

const timesSent = ({ calls }: Hook): number[] => [...Map.groupBy(calls, ({ event }) => event.id).values()].map((some) => some.length);

test("several processes on one database deliver each event once, in its order", { timeout: 60_000 }, async () => {
  const database = await createDatabase();
  await using hooks = await hook();
  {
    await using one = await createWorld({ seed: 1, databaseUrl: database.url });
    await using other = await createWorld({ seed: 2, databaseUrl: database.url });
    const { id: listingId } = await listAgent(one.sdk, hooks.url);
    const { id } = await turnOn(one.sdk);
    await one.settle();
    const many = await crowd(one, id, 300);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([resumed(one, many.slice(0, 150)), resumed(other, many.slice(150))]);
      // As if both had looked at the same moment.
      for (const { app } of [one, other]) app.deps.deliveries.wake([listingId]);
    }
    await Promise.all([one.settle(), other.settle()]);
    await Promise.all([one.settle(), other.settle()]);
    expect(hooks.calls).toHaveLength(1 + 3 * 300);
    expect(new Set(timesSent(hooks))).toEqual(new Set([1]));
    for (const calls of Map.groupBy(hooks.calls, ({ event }) => event.activationId).values()) {
      const sequences = calls.map(({ event }) => event.sequence);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    }
  }
  await database.drop();
});

test("what a process had taken when it died is another one's half a minute later", { timeout: 60_000 }, async () => {
  const database = await createDatabase();
  await using hooks = await hook(() => 500);
  {
    await using world = await createWorld({ databaseUrl: database.url });
    await listAgent(world.sdk, hooks.url);
    await turnOn(world.sdk);
    await world.settle();
    const { db, queue, clock } = world.app.deps;
    await queue.stop();
    // How a process leaves a lane that dies with it.
    const { deliveryLanes: l } = db.read.t;
    await db.tx((tx) => tx.update(l).set({ claim: "a process that is gone", dueAt: clock.now() + 30_000 }));
    const { jobsOf } = await import("../../features.ts");
    await queue.start(jobsOf(world.app.deps), 4);
    hooks.script = () => 200;
    await world.clock.advance("29s");
    expect(hooks.calls).toHaveLength(1);
    await world.clock.advance("1s");
    expect(hooks.calls).toHaveLength(2);
    expect((await world.sdk.deliveries.list("writer")).data).toMatchObject([{ state: "delivered", attempts: 2 }]);
  }
  await database.drop();
});
