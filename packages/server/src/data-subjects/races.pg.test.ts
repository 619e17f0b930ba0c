import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { continueSending } from "../campaigns/sending.ts";
import { currentScope } from "../db/scope.ts";
import { readForWebhooks } from "../developer-webhooks/developer-webhooks.ts";
import { redeliverEvents } from "../developer-webhooks/redelivery.ts";
import type { EventStreamWorker } from "../events/stream.ts";
import { PERSON_DATA } from "../table-data/table-data.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { eraseDataSubject, findAnswers } from "./data-subjects.ts";

afterAll(dropDatabases);

const ADA = "ada@example.com";

test("a person who becomes the recipient of a campaign while they are erased is erased as one, too", async () => {
  const database = await createDatabase();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { sdk, workspaceId } = world;
    const { deps } = world.app;
    await sdk.contacts.create({ email: ADA });
    const fields = { name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", text: "Hello" };
    const { id: campaignId } = await sdk.campaigns.create(fields);
    await deps.queue.stop();
    await sdk.campaigns.send(campaignId);
    const begun = Promise.withResolvers<void>();
    const step = async (): Promise<void> => {
      await begun.promise;
      const { commit } = await continueSending(deps)({ payload: { workspaceId, campaignId, run: 1 } } as never);
      await deps.db.tx(async (tx) => void (await commit?.(tx)));
    };
    const stepped = step();
    const answers = await findAnswers(deps.db.read, deps, workspaceId, ADA);
    let tries = 0;
    await deps.db.tx(async (tx) => {
      tries += 1;
      // From here on it sees what is stored now.
      await tx.select().from(tx.t.emails);
      begun.resolve();
      await stepped;
      await eraseDataSubject(tx, deps, PERSON_DATA, workspaceId, ADA, answers);
    });
    expect(tries).toBeGreaterThan(1);
    expect(await deps.db.read.select().from(deps.db.read.t.emails)).toEqual([]);
  } finally {
    await database.drop();
  }
});

/** Erases a person while something else happens: once its transaction has read what is stored, and again behind all that came meanwhile. */
async function eraseMeanwhile(world: TestWorld, meanwhile: () => Promise<unknown>): Promise<number> {
  const { deps } = world.app;
  const answers = await findAnswers(deps.db.read, deps, world.workspaceId, ADA);
  let tries = 0;
  await deps.db.tx(async (tx) => {
    tries += 1;
    await tx.select().from(tx.t.emails);
    if (tries === 1) await currentScope.exit(meanwhile);
    await eraseDataSubject(tx, deps, PERSON_DATA, world.workspaceId, ADA, answers);
  });
  return tries;
}

test("a campaign that is created, started and stepped while a person is erased makes them no recipient", async () => {
  const database = await createDatabase();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { sdk } = world;
    await sdk.contacts.create({ email: ADA });
    const tries = await eraseMeanwhile(world, async () => {
      const { id } = await sdk.campaigns.create({ name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", text: "Hello" });
      await sdk.campaigns.send(id);
      await world.settle();
    });
    expect(tries).toBeGreaterThan(1);
    const { read } = world.app.deps.db;
    expect(await read.select().from(read.t.emails)).toEqual([]);
  } finally {
    await database.drop();
  }
});

test.each(["read", "sent again"])("what is %s for webhooks while a person is erased becomes no delivery", async (way) => {
  const database = await createDatabase();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { sdk, workspaceId } = world;
    const { deps } = world.app;
    const { db } = deps;
    const { developerWebhooks: w, webhookDeliveries: d } = db.read.t;
    await sdk.webhooks.create({ url: "http://127.0.0.1:9/hook", events: ["contact.created"] });
    await db.tx((tx) => tx.update(w).set({ status: "disabled" }).then());
    await sdk.contacts.create({ email: ADA });
    await world.settle();
    // Nothing else reads for the webhook.
    await (deps.eventStream as EventStreamWorker).stop();
    await db.tx((tx) => tx.update(w).set({ status: "enabled" }).then());
    const answers = await findAnswers(db.read, deps, workspaceId, ADA);
    const erase = () => db.tx((tx) => eraseDataSubject(tx, deps, PERSON_DATA, workspaceId, ADA, answers));
    let tries = 0;
    const reading: typeof db.tx = (work) =>
      db.tx(async (tx) => {
        tries += 1;
        // From here on it sees what is stored now.
        await tx.select().from(tx.t.events);
        if (tries === 1) await currentScope.exit(erase);
        return work(tx);
      });
    if (way === "read") {
      const { read } = readForWebhooks(() => ({ ...deps, db: Object.create(db, { tx: { value: reading } }) }));
      expect(await read(null, true)).toBe(true);
    } else {
      const [webhook] = await db.read.select().from(w);
      const payload = { webhookId: webhook?.id, from: 0, to: deps.clock.now() + 1, after: 0, last: 1000, all: true };
      const { commit } = await redeliverEvents(deps)({ payload } as never);
      await reading(async (tx) => void (await commit?.(tx)));
    }
    expect(tries).toBeGreaterThan(1);
    expect(await db.read.select().from(d)).toEqual([]);
  } finally {
    await database.drop();
  }
});

test("what is tracked of a contact while their person is erased leaves no event", async () => {
  const database = await createDatabase();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { sdk } = world;
    await sdk.contacts.create({ email: ADA });
    const track = () => sdk.events.track({ contact: ADA, name: "buy", properties: { secret: "of Ada" } });
    // More than two, when a loop of the server wrote at the same time.
    expect(await eraseMeanwhile(world, track)).toBeGreaterThan(1);
    await sdk.contacts.create({ email: ADA });
    const erased = sdk.people.erase(ADA);
    await Promise.allSettled([erased, ...Array.from({ length: 60 }, track)]);
    await erased;
    const left = (await sdk.events.list({ limit: 100 })).data.map(({ type }) => type);
    expect(left).toEqual(["contact.deleted", "contact.deleted"]);
  } finally {
    await database.drop();
  }
});
