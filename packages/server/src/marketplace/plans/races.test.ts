import { afterAll, expect, test } from "vitest";
import { activateAgent, listAgent, startReceiver } from "../../../test/marketplace.ts";
import { createDatabase, dropDatabases } from "../../../test/postgres.ts";
import type { Tx } from "../../db/db.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { activationJobs, LISTING_END_JOB } from "../activations/listing-end.ts";
import { changePlan } from "./plans.ts";

// On SQLite transactions run one after the other, so they cannot interleave.
afterAll(dropDatabases);

/** Starts a transaction that has taken its snapshot; the returned function lets it continue. A rerun continues at once. */
const begin = async <T>({ app }: TestWorld, work: (tx: Tx) => Promise<T>): Promise<() => Promise<T>> => {
  const seen = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const done = app.deps.db.tx(async (tx) => {
    await tx.select().from(tx.t.workspaces).limit(1);
    seen.resolve();
    await told.promise;
    return work(tx);
  });
  await Promise.race([seen.promise, done]);
  return () => {
    told.resolve();
    return done;
  };
};

interface Meeting {
  /** Changes to a plan that covers one agent, from a snapshot in which both were covered. */
  change: () => Promise<unknown>;
  /** Cancels the listing of the older agent. */
  cancel: () => Promise<unknown>;
  /** Starts to end its activation. */
  beginEnd: () => Promise<() => Promise<unknown>>;
}

test.each<[string, (meeting: Meeting) => Promise<void>]>([
  [
    "commits after the agent of that listing has ended",
    async ({ change, cancel, beginEnd }) => {
      await cancel();
      const end = await beginEnd();
      await end();
      await change();
    },
  ],
  [
    "commits while the agent of that listing is being ended",
    async ({ change, cancel, beginEnd }) => {
      await cancel();
      const end = await beginEnd();
      await change();
      await end();
    },
  ],
  [
    "waits for what ends the agent of that listing",
    async ({ change, cancel, beginEnd }) => {
      await cancel();
      const end = await beginEnd();
      await Promise.all([end(), change()]);
    },
  ],
])(
  "a plan that is changed in the moment a listing is cancelled leaves nobody without the cover that became free, when it %s",
  async (_how, meet) => {
    const database = await createDatabase();
    await using hooks = await startReceiver();
    {
      await using world = await createWorld({ databaseUrl: database.url });
      const listing = await listAgent(world.builder.sdk, hooks.url, { slug: "older" });
      await listAgent(world.builder.sdk, hooks.url, { slug: "newer" });
      await activateAgent(world.sdk, "older");
      const { id } = await activateAgent(world.sdk, "newer");
      await world.settle();
      const { app, workspaceId } = world;
      // The test runs its jobs by hand.
      await app.deps.queue.stop();
      const payload = { workspaceId, listingId: listing.id, period: 1, after: "" };
      await meet({
        change: await begin(world, (tx) => changePlan(tx, app.deps, workspaceId, "free")),
        cancel: () => world.builder.sdk.listings.cancel("older"),
        beginEnd: async () => {
          const outcome = await activationJobs(app.deps)[LISTING_END_JOB]?.({
            id: "1",
            kind: LISTING_END_JOB,
            payload,
            attempt: 1,
            interruptions: 0,
            maxAttempts: 10,
          });
          return begin(world, async (tx) => outcome?.commit?.(tx));
        },
      });
      expect(await world.sdk.activations.get(id)).toMatchObject({ status: "active", pauseReasons: [] });
      expect(await world.sdk.plans.get()).toMatchObject({ plan: "free", used: 1 });
    }
    await database.drop();
  },
);
