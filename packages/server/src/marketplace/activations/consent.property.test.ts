import { AgentClient } from "@mailsvc/sdk";
import type { AgentScope } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { recordCounts } from "../../../../../test/support/proof-counts.ts";
import { connectAgent, type TestAgent } from "../../../test/agent-at-work.ts";
import { activateAgent, listAgent, payFor, type Receiver, startReceiver } from "../../../test/marketplace.ts";
import { propertyRuns } from "../../../test/property-runs.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import type { ApiError } from "../../lib/api-error.ts";
import { seededRandom } from "../../lib/random.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { type ListingRow, nextVersion } from "../listings/listings.ts";
import { admit } from "./agent-keys.ts";
import { acceptAll } from "./granted.ts";
import type { ActivationRow } from "./lifecycle.ts";

const SCOPES = ["brand:read", "lists:read_metadata", "agent:read_messages", "agent:read_runs"] as const satisfies readonly AgentScope[];
type Scope = (typeof SCOPES)[number];

/** One call for each scope. */
const CALLS: Readonly<Record<Scope, (agent: Pick<TestAgent, "client">) => Promise<unknown>>> = {
  "brand:read": ({ client }) => client.brand.get(),
  "lists:read_metadata": ({ client }) => client.lists.list({ limit: 1 }),
  "agent:read_messages": ({ client }) => client.messages.list({ limit: 1 }),
  "agent:read_runs": ({ client }) => client.runs.list({ limit: 1 }),
};

const scopes = fc.subarray([...SCOPES]);
const brand = fc.nat({ max: 1 });
const command = fc.oneof(
  { weight: 8, arbitrary: fc.record({ what: fc.constant("edit" as const), scopes }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constantFrom("accept" as const, "keep" as const), brand, behind: fc.nat({ max: 2 }) }) },
  { weight: 6, arbitrary: fc.record({ what: fc.constantFrom("pause" as const, "resume" as const, "again" as const), brand }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("rotate" as const) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("rename" as const), name: fc.constantFrom("A", "B") }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("cancel" as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** The scopes that a brand has accepted and nothing has taken back. */
interface Consent {
  readonly sdk: TestWorld["sdk"];
  agent: TestAgent;
  accepted: ReadonlySet<Scope>;
  paused: boolean;
  ended: boolean;
  /** Agents of earlier activations, whose keys are refused for ever. */
  readonly before: TestAgent[];
}

interface Market extends Place {
  readonly slug: string;
  readonly consents: readonly Consent[];
  asked: readonly Scope[];
  version: number;
}

/** A world in which sequences are tried one after the other, each with a listing and activations of its own. */
interface Place {
  readonly world: TestWorld;
  readonly hooks: Receiver;
  readonly brands: readonly TestWorld["sdk"][];
}

const perform = async (market: Market, one: Command): Promise<void> => {
  const { slug } = market;
  const { listings } = market.world.builder.sdk;
  if (one.what === "edit") {
    const isSame = one.scopes.length === market.asked.length && one.scopes.every((scope) => market.asked.includes(scope));
    await listings.update(slug, { permissions: one.scopes });
    if (!isSame) market.version += 1;
    market.asked = one.scopes;
    for (const consent of market.consents) consent.accepted = new Set([...consent.accepted].filter((scope) => one.scopes.includes(scope)));
    return;
  }
  if (one.what === "rotate") return void (await listings.rotateSecret(slug, { overlapSeconds: 60 }));
  if (one.what === "rename") return void (await listings.update(slug, { name: one.name }));
  if (one.what === "cancel") {
    await listings.cancel(slug);
    for (const consent of market.consents) consent.ended = true;
    await payFor(market.world.builder.sdk, slug);
    return;
  }
  const consent = market.consents[one.brand] as Consent;
  const { sdk, agent } = consent;
  if (one.what === "again") {
    if (!consent.ended) await sdk.activations.deactivate(agent.activationId);
    consent.before.push(agent);
    consent.agent = await activate(market, sdk);
    Object.assign(consent, { accepted: new Set(market.asked), paused: false, ended: false });
    return;
  }
  if (one.what === "accept" || one.what === "keep") {
    const version = market.version - one.behind;
    if (version < 1) return;
    const done = sdk.activations[one.what](agent.activationId, { version });
    if (consent.ended || one.behind > 0) return expect(done).rejects.toMatchObject({ code: "invalid_state", status: 409 });
    expect((await done).update).toEqual(one.what === "accept" ? null : (await sdk.activations.get(agent.activationId)).update);
    if (one.what === "accept") consent.accepted = new Set(market.asked);
    return;
  }
  const done = sdk.activations[one.what](agent.activationId);
  if (consent.ended) return expect(done).rejects.toMatchObject({ code: "invalid_state", status: 409 });
  await done;
  consent.paused = one.what === "pause";
};

const activate = async ({ world, hooks, slug }: Pick<Market, "world" | "hooks" | "slug">, sdk: TestWorld["sdk"]): Promise<TestAgent> =>
  connectAgent(world, hooks, (await activateAgent(sdk, slug)).id);

const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "ok",
    (error: { code: string }) => error.code,
  );

/** A client with the key of another brand's activation. */
const strangerAt = (world: TestWorld, { activationId }: TestAgent, apiKey: string): AgentClient =>
  new AgentClient({ activationId, apiKey, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 });

/** Compares all calls with what the brands accepted. Returns how many there were. */
const compare = async ({ world, consents }: Market): Promise<number> => {
  let calls = 0;
  for (const [i, { sdk, agent, accepted, paused, ended, before }] of consents.entries()) {
    const shown = await sdk.activations.get(agent.activationId);
    if (!ended) expect(new Set(shown.scopes)).toEqual(accepted);
    for (const scope of SCOPES) {
      const outcome = await outcomeOf(CALLS[scope](agent));
      const expected = ended ? "key_revoked" : paused ? "activation_paused" : accepted.has(scope) ? "ok" : "forbidden";
      expect([scope, outcome]).toEqual([scope, expected]);
    }
    const other = consents[1 - i]?.agent as TestAgent;
    const strange = await outcomeOf(strangerAt(world, other, agent.key).brand.get());
    expect(["not_found", "key_revoked", "activation_paused"]).toContain(strange);
    for (const old of before) expect(await outcomeOf(CALLS["brand:read"](old))).toBe("key_revoked");
    calls += SCOPES.length + 1 + before.length;
  }
  return calls;
};

/** Sequences in one world, of which each leaves rows behind. */
const SEQUENCES_OF_WORLD = 200;

// `npm run proof` tries hundreds.
const TIMEOUT_MS = 1_800_000;

test("no call succeeds outside of what its brand accepted, over edits of the listing, accepts, pauses, rotations and new activations", {
  timeout: TIMEOUT_MS,
}, async () => {
  await using hooks = await startReceiver();
  let place: Place | undefined;
  let sequences = 0;
  let calls = 0;
  const look = async (): Promise<Place> => {
    if (place && sequences % SEQUENCES_OF_WORLD !== 0) return place;
    await place?.world.dispose();
    const world = await createWorld();
    place = { world, hooks, brands: [world.sdk, (await secondWorkspace(world)).sdk] };
    return place;
  };
  try {
    await fc.assert(
      fc.asyncProperty(scopes, fc.array(command, { minLength: 5, maxLength: 25 }), async (first, commands) => {
        const here = await look();
        const slug = `writer-${sequences++}`;
        hooks.bodies.length = 0;
        await listAgent(here.world.builder.sdk, hooks.url, { slug, permissions: first });
        const consents: Consent[] = [];
        for (const sdk of here.brands) {
          const agent = await activate({ ...here, slug }, sdk);
          consents.push({ sdk, agent, accepted: new Set(first), paused: false, ended: false, before: [] });
        }
        const market: Market = { ...here, slug, consents, asked: first, version: 1 };
        for (const one of commands) {
          await perform(market, one);
          calls += await compare(market);
        }
      }),
      { numRuns: propertyRuns(50), endOnFailure: false },
    );
    recordCounts({ sequences, calls });
  } finally {
    await place?.world.dispose();
  }
});

/** Sequences of the rules alone. */
const RULES_ALONE = Number(process.env["CONSENT_SEQUENCES"] ?? propertyRuns(6000));
const PAID_MS = 1000;

test("the rules alone admit a key with the scopes that its brand accepted, at each moment of a sequence", () => {
  const random = seededRandom(Number(process.env["PROPERTY_SEED"] ?? Date.now() % 1_000_000)).fraction;
  for (let n = 0; n < RULES_ALONE; n += 1) {
    const rules = new Rules(random);
    const story: string[] = [];
    for (let step = 0; step < 5 + (n % 12); step += 1) {
      story.push(rules.change());
      const [found, expected] = [rules.admitted(), rules.expected()];
      if (found !== expected) expect.fail(`${story.join(", ")}: admitted with ${found}, not ${expected}`);
    }
  }
  recordCounts({ "sequences of the rules alone": RULES_ALONE });
});

/** The rows of a listing and of an activation, changed by the rules of the service, and apart from them what a brand means. */
class Rules {
  readonly #random: () => number;
  readonly #listing: Pick<ListingRow, "permissions" | "version" | "permissionsSince" | "period" | "state"> & { expiresAt: number };
  #activation: Pick<ActivationRow, "scopes" | "acceptedVersion" | "status" | "pauseReasons" | "period">;
  #now = 0;
  /** Meaning of the brand: its scopes, or null once its activation is over. */
  #accepted: readonly AgentScope[] | null;
  #paused = false;

  constructor(random: () => number) {
    this.#random = random;
    const permissions = this.#scopes();
    const permissionsSince = Object.fromEntries(permissions.map((scope) => [scope, 1]));
    this.#listing = { permissions, version: 1, permissionsSince, period: 0, state: "LISTED", expiresAt: PAID_MS };
    this.#activation = this.#turnOn();
    this.#accepted = permissions;
  }

  #scopes(): AgentScope[] {
    return SCOPES.filter(() => this.#random() < 0.5);
  }

  #turnOn() {
    return { ...acceptAll(this.#listing), status: "active" as const, pauseReasons: [], period: this.#listing.period };
  }

  get #isListed(): boolean {
    return this.#listing.state === "LISTED" && this.#now < this.#listing.expiresAt;
  }

  /** Makes a change by chance, and returns its name. */
  change(): string {
    const changes = {
      edit: () => {
        const asked = this.#scopes();
        Object.assign(this.#listing, nextVersion(this.#listing, asked));
        this.#accepted = this.#accepted?.filter((scope) => asked.includes(scope)) ?? null;
      },
      accept: () => {
        if (this.#accepted === null) return;
        Object.assign(this.#activation, acceptAll(this.#listing));
        this.#accepted = this.#listing.permissions;
      },
      pause: () => {
        if (this.#accepted === null) return;
        Object.assign(this.#activation, { status: "paused", pauseReasons: ["user_paused"] });
        this.#paused = true;
      },
      resume: () => {
        if (this.#accepted === null) return;
        Object.assign(this.#activation, { status: "active", pauseReasons: [] });
        this.#paused = false;
      },
      deactivate: () => {
        this.#activation.status = "deactivated";
        this.#accepted = null;
      },
      again: () => {
        if (!this.#isListed) return;
        this.#activation = this.#turnOn();
        this.#accepted = this.#listing.permissions;
        this.#paused = false;
      },
      wait: () => {
        this.#now += Math.floor(this.#random() * PAID_MS * 0.8);
        if (!this.#isListed) this.#accepted = null;
      },
      cancel: () => {
        this.#listing.state = "CANCELLED";
        this.#accepted = null;
      },
      renew: () => {
        if (!this.#isListed) this.#listing.period += 1;
        Object.assign(this.#listing, { state: "LISTED", expiresAt: this.#now + PAID_MS });
      },
    };
    const names = Object.keys(changes) as (keyof typeof changes)[];
    // Mostly edits and answers to these.
    const at = Math.floor(this.#random() ** 1.5 * names.length);
    const name = names[at] ?? "edit";
    changes[name]();
    return name;
  }

  /** The answer of the service to the key. */
  admitted(): string {
    const { permissionsSince, state, expiresAt, period: listedPeriod } = this.#listing;
    const ids = { activationId: "act", listingId: "lst", workspaceId: "brand", builderId: "builder" };
    try {
      return show(admit({ ...this.#activation, ...ids, permissionsSince, state, expiresAt, listedPeriod }, this.#now).scopes);
    } catch (error) {
      return (error as ApiError).code;
    }
  }

  expected(): string {
    if (this.#accepted === null) return "key_revoked";
    return this.#paused ? "activation_paused" : show(this.#accepted);
  }
}

const show = (some: Iterable<AgentScope>): string => [...some].sort().join();
