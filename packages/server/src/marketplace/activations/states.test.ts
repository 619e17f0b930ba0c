import { isApiError } from "@mailsvc/sdk";
import type { PauseReason } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  activateAgent,
  agentPath,
  getAgentKey,
  listEvents,
  payFor,
  type Receiver,
  SCOPES,
  startReceiver,
} from "../../../test/marketplace.ts";
import { Model, type ModelActivation } from "../../../test/marketplace-model.ts";
import { propertyRuns } from "../../../test/property-runs.ts";
import { ask } from "../../../test/scenario.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { addPauseReason } from "./lifecycle.ts";

const SLUGS = ["alpha", "beta", "gamma"];
const PLANS = ["none", "free", "starter", "scale"] as const;

const COMMANDS = ["pay", "cancel", "activate", "pause", "resume", "deactivate", "change", "fail", "mend", "advance"] as const;
type Command = { do: (typeof COMMANDS)[number]; n: number };

const command: fc.Arbitrary<Command> = fc.record({
  // More of what makes something to look at.
  do: fc.constantFrom(...COMMANDS, "pay", "activate", "activate", "pause", "resume", "change"),
  n: fc.nat(1000),
});

/** The code of a call that was refused; null when it was not. */
const refusal = async (call: Promise<unknown>): Promise<string | null> => {
  try {
    await call;
    return null;
  } catch (error) {
    if (isApiError(error)) return error.code;
    throw error;
  }
};

/** The code for an activation that is paused for none of these reasons. */
const unclearable = ({ reasons }: ModelActivation, clearable: readonly PauseReason[]): string | null =>
  reasons.length > 0 && !reasons.some((reason) => clearable.includes(reason)) ? "pause_not_clearable" : null;

const perform = async ({ sdk, builder, app, clock }: TestWorld, model: Model, { do: what, n }: Command): Promise<void> => {
  const slug = SLUGS[n % SLUGS.length] as string;
  const a = model.activations[n % Math.max(1, model.activations.length)];
  if (what === "pay") {
    await payFor(builder.sdk, slug);
    return model.pay(slug);
  }
  if (what === "cancel") {
    expect(await refusal(builder.sdk.listings.cancel(slug))).toBe(model.listings.get(slug)?.state === "DRAFT" ? "invalid_state" : null);
    return model.listed(slug) ? model.end(slug, "CANCELLED") : undefined;
  }
  if (what === "activate") {
    const expected = model.refusal(slug);
    const call = sdk.activations.create({ agentSlug: slug, acceptedPermissions: SCOPES });
    expect(await refusal(call)).toBe(expected);
    return expected === null ? model.activate(slug, (await call).id) : undefined;
  }
  if (what === "change") {
    const plan = PLANS[n % PLANS.length] as (typeof PLANS)[number];
    await sdk.plans.change({ plan });
    return model.change(plan);
  }
  if (what === "advance") {
    const days = [1, 9, 27][n % 3] as number;
    await clock.advance(`${days}d`);
    return model.advance(days * 24 * 3_600_000);
  }
  if (!a) return;
  const ended = a.status === "deactivated" ? "invalid_state" : null;
  if (what === "pause") {
    expect(await refusal(sdk.activations.pause(a.id))).toBe(ended);
    return model.pause(a, "user_paused");
  }
  if (what === "resume") {
    expect(await refusal(sdk.activations.resume(a.id))).toBe(ended ?? unclearable(a, ["user_paused", "webhook_failure"]));
    return model.clear(a, "user_paused", "webhook_failure");
  }
  if (what === "deactivate") {
    await sdk.activations.deactivate(a.id);
    model.deactivate(a, "user_deactivated");
    return model.cover();
  }
  if (what === "fail") {
    await app.deps.db.tx(async (tx) => void (await addPauseReason(tx, app.deps, a.id, "webhook_failure")));
    return model.pause(a, "webhook_failure");
  }
  expect(await refusal(builder.sdk.listings.resume(a.listing, a.id))).toBe(ended ?? unclearable(a, ["webhook_failure"]));
  return model.clear(a, "webhook_failure");
};

const compare = async (world: TestWorld, hooks: Receiver, model: Model): Promise<void> => {
  for (const [slug, { state }] of model.listings) expect([slug, (await world.builder.sdk.listings.get(slug)).state]).toEqual([slug, state]);
  expect((await world.sdk.catalog.list()).data.map((l) => l.slug).sort()).toEqual(SLUGS.filter((slug) => model.listed(slug)));
  for (const a of model.activations) {
    const { status, pauseReasons, deactivationReason } = await world.sdk.activations.get(a.id);
    expect([a.id, status, [...pauseReasons].sort(), deactivationReason]).toEqual([a.id, a.status, [...a.reasons].sort(), a.ended]);
    const answer = await ask(world, { method: "GET", path: agentPath(a.id), key: await getAgentKey(world, hooks, a.id) });
    expect(answer.status).toBe({ active: 200, paused: 403, deactivated: 401 }[a.status]);
    const events = await listEvents(world, a.id);
    expect(events.map((e) => ("reason" in e ? `${e.type} ${e.reason}` : e.type))).toEqual(a.events);
    expect(events.map((e) => e.sequence)).toEqual(events.map((_, i) => i + 1));
    const times = events.map((e) => Date.parse(e.timestamp));
    expect(times).toEqual([...new Set(times)].sort((x, y) => x - y));
  }
};

test("whatever brands, builders, plans, webhooks and time do, states, keys and events are those of the model", async () => {
  await using hooks = await startReceiver();
  const run = async (commands: Command[]): Promise<void> => {
    await using world = await createWorld();
    const keys = new Map<string, string>();
    const model = new Model(world.clock.now());
    for (const slug of SLUGS) {
      await world.builder.sdk.listings.create({ slug, name: slug, webhookUrl: hooks.url, permissions: SCOPES });
      model.listings.set(slug, { state: "DRAFT", listedAt: 0, expiresAt: 0 });
    }
    const known: Receiver = { ...hooks, bodies: [] };
    for (const one of commands) {
      const before = model.activations.length;
      await perform(world, model, one);
      const made = model.activations[before];
      // Kept here: the outbox forgets a key once it has arrived, and when the activation ends.
      if (made) keys.set(made.id, await getAgentKey(world, hooks, made.id));
      await world.settle();
    }
    for (const [activationId, apiKey] of keys) known.bodies.push(JSON.stringify(keyEvent(activationId, apiKey)));
    await compare(world, known, model);
    await turnOnAll(world, model);
  };
  await fc.assert(fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), run), { numRuns: propertyRuns(25), seed: 7 });
});

const keyEvent = (activationId: string, apiKey: string) => ({
  type: "agent.activated",
  id: "evt_x",
  activationId,
  runId: null,
  sequence: 1,
  timestamp: "2026-01-01T00:00:00.000Z",
  apiKey,
  agentSlug: "x",
  organizationName: "x",
  scopes: [],
  settings: {},
});

/** After everything, what is listed and covered can still be turned on, and no other. */
const turnOnAll = async ({ sdk }: TestWorld, model: Model): Promise<void> => {
  for (const slug of SLUGS) {
    const expected = model.refusal(slug);
    const call = activateAgent(sdk, slug);
    expect(await refusal(call)).toBe(expected);
    if (expected === null) model.activate(slug, (await call).id);
  }
};
