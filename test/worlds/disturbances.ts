import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import { DAY, type Disturbance, HOUR, verb } from "./disturbances/disturbance.ts";
import { INSTALLATION_DISTURBANCES } from "./disturbances/installation.ts";
import { listTraces } from "./invariants/forgotten.ts";
import { VERBS } from "./noun.ts";
import { followActivation } from "./nouns/agents.ts";
import { NOUNS } from "./nouns.ts";
import { addressOf, other, type Pick } from "./script.ts";
import type { Thing, Universe } from "./universe.ts";

/** Lets the mail server of a world be in another mode for a while. */
function relay(mode: "dead" | "slow" | "refusing"): Disturbance {
  return async (u, _thing, pick) => {
    if (!u.peer) return;
    u.peer.mode = mode;
    await u.pass(pick.of(HOUR, 6 * HOUR));
    u.peer.mode = "up";
  };
}

/** In Europe and the United States in 2026: to summer time and back. */
const CHANGES_OF_TIME = ["03-08T07:00", "03-29T01:00", "10-25T01:00", "11-01T06:00"].map((at) => Date.parse(`2026-${at}Z`));

/** The address that a disturbance about people concerns: that of the thing, or anybody's. */
const someone = ({ also }: Thing, pick: Pick): string => also["email"] ?? also["address"] ?? addressOf(pick.int(0, 23));

const operator = (u: Universe) => u.sdk("a", u.operatorKey);

/** Everything that can disturb a world. Each is tried beside each noun. */
export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  ...Object.fromEntries(VERBS.map((name) => [name, verb(name)])),
  ...INSTALLATION_DISTURBANCES,
  import: async (u, { tenant }, pick) => {
    const rows = Array.from({ length: 10 }, (_, i) => ({ email: addressOf(i + pick.int(0, 13)), tags: [pick.of("vip", "imported")] }));
    await u.call(() => u.sdk(tenant).contacts.import({ rows }));
  },
  bulkTag: async (u, { tenant }, pick) => {
    const contacts = Array.from({ length: 8 }, (_, i) => addressOf(i));
    await u.call(() => u.sdk(tenant).contacts.tag({ contacts, add: [pick.of("vip", "bulk")], remove: [pick.of("trial", "customer")] }));
  },
  suppress: async (u, thing, pick) => {
    const { tenant } = thing;
    const [email, scope] = [someone(thing, pick), pick.of("marketing" as const, "all" as const)];
    if (await u.value(() => u.sdk(tenant).suppressions.create({ email, scope, reason: "manual" })))
      u.ledger.refuse({ tenant, address: email, scope });
  },
  unsubscribe: async (u, thing, pick) => {
    const { tenant } = thing;
    const email = someone(thing, pick);
    if (await u.value(() => setStatus(u, thing, email, "UNSUBSCRIBED"))) u.ledger.refuse({ tenant, address: email, scope: "marketing" });
  },
  resubscribe: async (u, thing, pick) => {
    const email = someone(thing, pick);
    u.ledger.allow(thing.tenant, email);
    await u.value(() => setStatus(u, thing, email, "SUBSCRIBED"));
  },
  undo: async (u, { tenant }, pick) => {
    const { contacts } = u.sdk(tenant);
    const rows = Array.from({ length: 12 }, (_, i) => ({ email: addressOf(i + pick.int(0, 13)), tags: ["undone"] }));
    await u.call(() => contacts.import({ rows }));
    const imports = await u.value(async () => (await contacts.imports({ limit: 5 })).data);
    await u.pass(pick.of(0, HOUR));
    if (imports && imports.length > 0) await u.call(() => contacts.undoImport(pick.of(...imports).id));
    await u.settle();
  },
  erase: async (u, thing, pick) => {
    const email = someone(thing, pick);
    if (!(await u.value(() => u.sdk(thing.tenant).people.erase(email)))) return;
    await u.settle();
    u.ledger.note("forgotten", ...(await listTraces(u, thing.tenant, email)));
  },
  hours: (u, _thing, pick) => u.pass(pick.int(1, 48) * HOUR),
  days: (u) => u.pass(32 * DAY),
  // To the hours around the next change to or from summer time.
  summerTime: async (u, _thing, pick) => {
    const next = CHANGES_OF_TIME.find((at) => at > u.now());
    if (next !== undefined && next - u.now() < 40 * DAY) await u.pass(next - u.now() + pick.int(-2, 3) * HOUR);
  },
  // What can be paused is paused and goes on: the thing itself, or another one that can.
  pauseForAWhile: async (u, thing, pick) => {
    const others = [...u.things.values()].filter(({ noun }) => NOUNS[noun]?.verbs.pause);
    const paused = NOUNS[thing.noun]?.verbs.pause ? thing : others.length > 0 ? pick.of(...others) : thing;
    await verb("pause")(u, paused, pick);
    await u.pass(pick.of(0, HOUR, 2 * DAY));
    await verb("resume")(u, paused, pick);
  },
  pauseSending: async (u, _thing, pick) => {
    const paused = await u.value(() => operator(u).queue.pause({ reason: "maintenance" }));
    // What a server has claimed still leaves.
    await u.settle();
    if (paused) u.ledger.stop("sending");
    await u.pass(pick.of(0, HOUR, 3 * DAY));
    u.ledger.go("sending");
    await u.call(() => operator(u).queue.resume());
  },
  holdDomain: async (u, _thing, pick) => {
    await u.call(() => operator(u).queue.hold({ domain: "people.test", reason: "blocked" }));
    await u.pass(pick.of(0, HOUR, 3 * DAY));
    await u.call(() => operator(u).queue.release({ domain: "people.test" }));
  },
  requeue: (u) => u.call(() => operator(u).queue.requeue({})),
  relayDead: relay("dead"),
  relaySlow: relay("slow"),
  relayRefuses: relay("refusing"),
  webhooksDead: async (u, _thing, pick) => {
    const modes = new Map(u.hooks.modes);
    for (const name of modes.keys()) u.hooks.modes.set(name, pick.of("fails", "hangs", "gone"));
    await u.pass(pick.of(60_000, 2 * HOUR));
    for (const [name, mode] of modes) u.hooks.modes.set(name, mode);
    await followAll(u);
  },
  plan: async (u, { tenant }, pick) => {
    await u.call(() => u.sdk(tenant).plans.change({ plan: pick.of("free", "starter", "scale") }));
    await followAll(u);
  },
  tenant: async (u, thing, pick) => {
    const making = { universe: u, tenant: other(thing.tenant), pick, label: `${thing.label}-of-the-other` };
    const made = await NOUNS[thing.noun]?.make(making);
    if (made) await u.add({ ...made, label: making.label, noun: thing.noun, tenant: making.tenant });
  },
  again: async (u, thing, pick) => {
    const making = { universe: u, tenant: thing.tenant, pick, label: `${thing.label}-again` };
    const made = await NOUNS[thing.noun]?.make(making);
    if (made) await u.add({ ...made, label: making.label, noun: thing.noun, tenant: making.tenant });
  },
  faults: async (u, thing, pick) => {
    const { faults } = u.sdk("a");
    u.mayFail = true;
    await u.call(() =>
      faults.add({
        path: "/api/v1/*",
        when: pick.of("before", "after"),
        code: pick.of("storage_unavailable", "internal_error", "rate_limited", "conflict"),
        rate: 0.5,
        seed: 1,
      }),
    );
    await verb("edit")(u, thing, pick);
    await verb("resume")(u, thing, pick);
    await u.clearFaults();
    u.mayFail = false;
  },
  scopes: async (u, _thing, pick) => {
    const agent = [...u.things.values()].find(({ noun }) => noun === "agent");
    if (!agent) return;
    const permissions = AGENT_SCOPES.filter(() => !pick.oneIn(4));
    await u.call(() => u.builder().listings.update(agent.also["slug"] ?? "", { permissions }));
    await followAll(u);
  },
  report: async (u, { tenant }, pick) => {
    if (u.peer) return;
    const { inbox } = u.sdk(tenant);
    const mails = await u.value(async () => (await inbox.list({ limit: 20 })).data);
    if (!mails || mails.length === 0) return;
    const outcome = pick.of("bounced" as const, "complained" as const);
    await u.call(() => inbox.report(pick.of(...mails).id, { outcome }));
  },
};

async function setStatus(u: Universe, { tenant }: Thing, email: string, status: "SUBSCRIBED" | "UNSUBSCRIBED"): Promise<unknown> {
  const { contacts } = u.sdk(tenant);
  const [contact] = (await contacts.list({ search: email, limit: 1 })).data;
  return contact && contacts.update(contact.id, { status });
}

async function followAll(u: Universe): Promise<void> {
  for (const thing of u.things.values()) if (thing.noun === "agent") await followActivation(u, thing);
}
