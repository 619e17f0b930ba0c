import { eq } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import { type Hook, hook } from "../../test/hook.ts";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { openPostgres } from "../db/postgres/database.ts";
import { jobsOf } from "../features.ts";
import { emitAll } from "../marketplace/agent-webhooks/agent-webhooks.ts";
import { postgresSchema } from "../schema.pg.ts";
import { createWorld, type TestWorld } from "../testing.ts";

afterAll(dropDatabases);

const resumed = ({ app }: TestWorld, activationIds: readonly string[]): Promise<void> =>
  app.deps.db.tx((tx) => emitAll(tx, app.deps, activationIds, { type: "agent.resumed", at: app.deps.clock.now(), fields: {} }));

/** More activations of the listing of an activation. */
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

test("several processes on one database deliver each event once, in its order", async () => {
  const database = await createDatabase();
  await using hooks = await hook();
  {
    await using one = await createWorld({ seed: 1, databaseUrl: database.url });
    await using other = await createWorld({ seed: 2, databaseUrl: database.url });
    const { id: listingId } = await listAgent(one.sdk, hooks.url);
    const { id } = await activateAgent(one.sdk);
    await one.settle();
    const many = await crowd(one, id, 300);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([resumed(one, many.slice(0, 150)), resumed(other, many.slice(150))]);
      // As if both had polled at the same moment.
      for (const { app } of [one, other]) app.deps.webhooks.wake([listingId]);
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

/** A world with an event in its one stream, which another worker has claimed for the next half minute. */
const takenBy = async (world: TestWorld, hooks: Hook, claim: string): Promise<void> => {
  hooks.script = () => 500;
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  await world.settle();
  const { db, clock } = world.app.deps;
  const { webhookStreams: l } = db.read.t;
  await db.tx(async (tx) => void (await tx.update(l).set({ claim, dueAt: clock.now() + 30_000 })));
  hooks.script = () => 200;
};

/** Restarts its workers. */
const restart = async ({ app: { deps } }: TestWorld): Promise<void> => {
  await deps.queue.stop();
  await deps.queue.start(jobsOf(deps), 4);
};

// The attempt that the other worker may have begun counts, so the one that arrived is the third.
const delivered = [{ state: "delivered", attempts: 3, lastAttempt: { attempt: 3 } }];

describe("the claim of a process that died", () => {
  test("is released when any process starts", async () => {
    const database = await createDatabase();
    await using hooks = await hook();
    {
      await using world = await createWorld({ databaseUrl: database.url });
      await takenBy(world, hooks, "mailsvc_gone_1.7");
      await restart(world);
      await world.settle();
      expect(hooks.calls).toHaveLength(1);
      await world.clock.advance("1s");
      expect((await world.builder.sdk.deliveries.list("writer")).data).toMatchObject(delivered);
    }
    await database.drop();
  });

  test("is released when another process notices its death, before the end of the lease", async () => {
    const database = await createDatabase();
    await using hooks = await hook();
    {
      await using world = await createWorld({ databaseUrl: database.url });
      await takenBy(world, hooks, "mailsvc_gone_1.7");
      await using other = await openPostgres(database.url, postgresSchema, { migrate: false, connections: 1 }).then((db) => ({
        raw: db.read.raw,
        [Symbol.asyncDispose]: db.close,
      }));
      // Its connection and its lock are gone, and its last heartbeat is old.
      await other.raw("insert into workers (name, seen_at) values ('mailsvc_gone_1', now() - interval '10 s')");
      await expect.poll(() => other.raw("select claim from webhook_streams"), { timeout: 20_000, interval: 20 }).toEqual([{ claim: null }]);
      await world.clock.advance("1s");
      expect((await world.builder.sdk.deliveries.list("writer")).data).toMatchObject(delivered);
    }
    await database.drop();
  });

  test("ends with the lease while the process seems to live", async () => {
    const database = await createDatabase();
    await using hooks = await hook();
    {
      await using world = await createWorld({ seed: 1, databaseUrl: database.url });
      await using stuck = await createWorld({ seed: 2, databaseUrl: database.url });
      await takenBy(world, hooks, `${stuck.app.deps.queue.workers?.name}.7`);
      await restart(world);
      await world.clock.advance("29s");
      expect(hooks.calls).toHaveLength(1);
      await world.clock.advance("1s");
      expect(hooks.calls).toHaveLength(2);
      expect((await world.builder.sdk.deliveries.list("writer")).data).toMatchObject(delivered);
    }
    await database.drop();
  });

  test("is not continued by that process when it was alive after all", async () => {
    const database = await createDatabase();
    await using hooks = await hook();
    {
      await using world = await createWorld({ databaseUrl: database.url });
      const { db } = world.app.deps;
      const { webhookStreams: l } = db.read.t;
      let answer = (): void => {};
      hooks.script = () => (response) => void (answer = () => response.writeHead(200).end());
      await listAgent(world.builder.sdk, hooks.url);
      const { id } = await activateAgent(world.sdk);
      await expect.poll(() => hooks.calls.length, { interval: 5 }).toBe(1);
      await resumed(world, [id]);
      // While the first event is in flight, another worker claims the stream.
      await db.tx(async (tx) => void (await tx.update(l).set({ claim: "another.1" })));
      hooks.script = () => 200;
      answer();
      await world.settle();
      expect(hooks.calls).toHaveLength(1);
      expect(await db.read.select({ claim: l.claim }).from(l)).toEqual([{ claim: "another.1" }]);
      await restart(world);
      await world.settle();
      expect(hooks.types()).toEqual(["agent.activated", "agent.resumed"]);
    }
    await database.drop();
  });
});
