import { and, eq, inArray, ne } from "drizzle-orm";
import { emitAll } from "../src/marketplace/agent-webhooks/agent-webhooks.ts";
import type { TestWorld } from "../src/testing.ts";
import { makeSecret, sealSecret } from "../src/webhooks/secrets.ts";
import { type Hook, hook } from "./hook.ts";

/** Copies a listing with these URLs, each with `each` activations. Returns the ids of the activations. */
export async function createActivations({ app }: TestWorld, slug: string, urls: readonly string[], each: number): Promise<string[]> {
  const { db, ids } = app.deps;
  const { listings: l, activations: a } = db.read.t;
  const [listing] = await db.read.select().from(l).where(eq(l.slug, slug));
  if (!listing) throw new Error("no listing");
  const [activation] = await db.read.select().from(a).where(eq(a.listingId, listing.id));
  if (!activation) throw new Error("no activation");
  const others = urls.map((webhookUrl) => {
    const id = ids("lst");
    return { ...listing, id, slug: id, webhookUrl, secret: sealSecret(app.deps, id, makeSecret(app.deps.random)) };
  });
  const rows = others.flatMap(({ id: listingId }) =>
    Array.from({ length: each }, () => {
      const id = ids("act");
      return { ...activation, id, listingId, living: listingId, workspaceId: ids("ws"), keyHash: `hash-${id}` };
    }),
  );
  await db.tx(async (tx) => {
    await tx.insertAll(l, others);
    await tx.insertAll(a, rows);
  });
  return rows.map(({ id }) => id);
}

/** Emits an event for each of these activations. */
export function emitResumed({ app }: TestWorld, activationIds: readonly string[]): Promise<void> {
  return app.deps.db.tx((tx) => emitAll(tx, app.deps, activationIds, { type: "agent.resumed", at: app.deps.clock.now(), fields: {} }));
}

/** Waits until `n` events have arrived. */
export async function waitForDeliveries(hooks: Hook, n: number, world: TestWorld): Promise<void> {
  const { real } = world.app.deps.clock;
  for (let left = 2000; hooks.calls.length < n; left -= 1) {
    if (left === 0) throw new Error(`${hooks.calls.length} of ${n} events came. ${await describeOpenEvents(world, hooks.url)}`);
    await real.sleep(5);
  }
}

/** The events that this webhook has not accepted, with what became of their last attempts. */
async function describeOpenEvents({ app }: TestWorld, url: string): Promise<string> {
  const { read } = app.deps.db;
  const { listings: l, webhookEvents: e } = read.t;
  const listings = await read.select({ id: l.id }).from(l).where(eq(l.webhookUrl, url));
  const ids = listings.map(({ id }) => id);
  const open = await read
    .select({ id: e.id, state: e.state, attempts: e.attempts, lastClass: e.lastClass, lastError: e.lastError })
    .from(e)
    .where(and(inArray(e.endpointId, ids), ne(e.state, "delivered")))
    .limit(5);
  return `Not delivered: ${JSON.stringify(open)}`;
}

/** A webhook that answers after 5 ms and counts concurrent requests. */
export async function countingHook(): Promise<{ hooks: Hook; most(): number } & AsyncDisposable> {
  let open = 0;
  let most = 0;
  const hooks = await hook(() => (response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 5);
  });
  return { hooks, most: () => most, [Symbol.asyncDispose]: () => hooks[Symbol.asyncDispose]() };
}
