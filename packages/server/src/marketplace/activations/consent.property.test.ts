import type { AgentScope } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { connectAgent, type TestAgent } from "../../../test/agent-at-work.ts";
import { activateAgent, listAgent, type Receiver, startReceiver } from "../../../test/marketplace.ts";
import { propertyRuns } from "../../../test/property-runs.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { grantedScopes } from "./granted.ts";

const SCOPES = ["brand:read", "lists:read_metadata", "agent:read_messages", "agent:read_runs"] as const satisfies readonly AgentScope[];
type Scope = (typeof SCOPES)[number];

/** One call for each scope. */
const CALLS: Readonly<Record<Scope, (agent: TestAgent) => Promise<unknown>>> = {
  "brand:read": ({ client }) => client.brand.get(),
  "lists:read_metadata": ({ client }) => client.lists.list({ limit: 1 }),
  "agent:read_messages": ({ client }) => client.messages.list({ limit: 1 }),
  "agent:read_runs": ({ client }) => client.runs.list({ limit: 1 }),
};

const scopes = fc.subarray([...SCOPES]);
const brand = fc.nat({ max: 1 });
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant("edit" as const), scopes }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom("accept" as const, "keep" as const), brand, behind: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constantFrom("pause" as const, "resume" as const, "again" as const), brand }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("rotate" as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("rename" as const), name: fc.constantFrom("A", "B") }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** The scopes that a brand has accepted and nothing has taken back. */
interface Consent {
  readonly sdk: TestWorld["sdk"];
  agent: TestAgent;
  accepted: ReadonlySet<Scope>;
  paused: boolean;
}

interface Market {
  readonly world: TestWorld;
  readonly hooks: Receiver;
  readonly consents: readonly Consent[];
  asked: readonly Scope[];
  version: number;
}

const perform = async (market: Market, one: Command): Promise<void> => {
  const { listings } = market.world.builder.sdk;
  if (one.what === "edit") {
    const isSame = one.scopes.length === market.asked.length && one.scopes.every((scope) => market.asked.includes(scope));
    await listings.update("writer", { permissions: one.scopes });
    if (!isSame) market.version += 1;
    market.asked = one.scopes;
    for (const consent of market.consents) consent.accepted = new Set([...consent.accepted].filter((scope) => one.scopes.includes(scope)));
    return;
  }
  if (one.what === "rotate") return void (await listings.rotateSecret("writer", { overlapSeconds: 60 }));
  if (one.what === "rename") return void (await listings.update("writer", { name: one.name }));
  const consent = market.consents[one.brand] as Consent;
  const { sdk, agent } = consent;
  if (one.what === "accept" || one.what === "keep") {
    const version = market.version - one.behind;
    if (version < 1) return;
    const done = sdk.activations[one.what](agent.activationId, { version });
    if (one.behind > 0) return expect(done).rejects.toMatchObject({ code: "invalid_state", status: 409 });
    expect((await done).update).toEqual(one.what === "accept" ? null : (await sdk.activations.get(agent.activationId)).update);
    if (one.what === "accept") consent.accepted = new Set(market.asked);
  } else if (one.what === "again") {
    await sdk.activations.deactivate(agent.activationId);
    await expect(agent.client.self.get()).rejects.toMatchObject({ status: 401 });
    consent.agent = await activate(market, sdk);
    Object.assign(consent, { accepted: new Set(market.asked), paused: false });
  } else {
    await sdk.activations[one.what](agent.activationId);
    consent.paused = one.what === "pause";
  }
};

const activate = async ({ world, hooks }: Pick<Market, "world" | "hooks">, sdk: TestWorld["sdk"]): Promise<TestAgent> =>
  connectAgent(world, hooks, (await activateAgent(sdk)).id);

const compare = async ({ consents }: Market): Promise<void> => {
  for (const { sdk, agent, accepted, paused } of consents) {
    const shown = await sdk.activations.get(agent.activationId);
    expect(new Set(shown.scopes)).toEqual(accepted);
    for (const scope of SCOPES) {
      const outcome = await CALLS[scope](agent).then(
        () => "ok",
        (error: { code: string }) => error.code,
      );
      expect([scope, outcome]).toEqual([scope, paused ? "activation_paused" : accepted.has(scope) ? "ok" : "forbidden"]);
    }
  }
};

test("no call succeeds outside of what its brand accepted, over edits of the listing, accepts, pauses, rotations and new activations", async () => {
  await fc.assert(
    fc.asyncProperty(scopes, fc.array(command, { minLength: 5, maxLength: 25 }), async (first, commands) => {
      await using world = await createWorld();
      await using hooks = await startReceiver();
      await listAgent(world.builder.sdk, hooks.url, { slug: "writer", permissions: first });
      const brands = [world.sdk, (await secondWorkspace(world)).sdk];
      const market: Market = { world, hooks, consents: [], asked: first, version: 1 };
      const consents: Consent[] = [];
      for (const sdk of brands) consents.push({ sdk, agent: await activate(market, sdk), accepted: new Set(first), paused: false });
      Object.assign(market, { consents });
      for (const one of commands) {
        await perform(market, one);
        await compare(market);
      }
    }),
    { numRuns: propertyRuns(12), seed: 20260102, endOnFailure: false },
  );
});

test("a scope counts only if the brand accepted it and no version since then was without it", () => {
  const history = fc.array(scopes, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(history, fc.nat(), (versions, at) => {
      const accepted = at % versions.length;
      let since: Partial<Record<AgentScope, number>> = {};
      for (const [n, asked] of versions.entries()) since = Object.fromEntries(asked.map((scope) => [scope, since[scope] ?? n + 1]));
      const granted = grantedScopes({ scopes: versions[accepted] ?? [], acceptedVersion: accepted + 1 }, { permissionsSince: since });
      expect(granted).toEqual(
        (versions[accepted] ?? []).filter((scope) => versions.slice(accepted).every((asked) => asked.includes(scope))),
      );
    }),
    { numRuns: propertyRuns(3000), seed: 20260103 },
  );
});
