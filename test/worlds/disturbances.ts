import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import type { SqliteDb } from "../../packages/server/src/db/sqlite/database.ts";
import { listTraces } from "./invariants/forgotten.ts";
import { VERBS, type Verb } from "./noun.ts";
import { followActivation } from "./nouns/agents.ts";
import { NOUNS } from "./nouns.ts";
import { addressOf, other, type Pick } from "./script.ts";
import type { Moment } from "./server.ts";
import type { Thing, Universe } from "./universe.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Something that happens to a world while `thing` is under way. */
type Disturbance = (universe: Universe, thing: Thing, pick: Pick) => Promise<unknown>;

/** Does to the thing what its noun says; nothing where that has no such verb. */
function verb(name: Verb): Disturbance {
  return async (u, thing, pick) => NOUNS[thing.noun]?.verbs[name]?.(u, thing, pick);
}

/** Kills the server at one of its next transactions, which time brings if nothing else does. */
function kill(moment: Moment): Disturbance {
  return async (u, _thing, pick) => {
    pick.of(...u.servers).killAt(pick.int(1, 30), moment);
    await u.pass(pick.of(0, 1000, HOUR));
  };
}

/** Lets the mail server of a world be in another mode for a while. */
function relay(mode: "dead" | "slow" | "refusing"): Disturbance {
  return async (u, _thing, pick) => {
    if (!u.peer) return;
    u.peer.mode = mode;
    await u.pass(pick.of(HOUR, 6 * HOUR));
    u.peer.mode = "up";
  };
}

/** The address that a disturbance about people concerns: that of the thing, or anybody's. */
const someone = ({ also }: Thing, pick: Pick): string => also["email"] ?? also["address"] ?? addressOf(pick.int(0, 23));

const operator = (u: Universe) => u.sdk("a", u.world.operatorKey);

/** Everything that can disturb a world. Each is tried beside each noun. */
export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  ...Object.fromEntries(VERBS.map((name) => [name, verb(name)])),
  killBeforeCommit: kill("before"),
  killAfterCommit: kill("after"),
  killNow: (u, _thing, pick) => u.kill(pick.int(0, 1)),
  restart: (u) => u.restart(),
  restartTwice: async (u) => {
    await u.restart();
    await u.restart();
  },
  snapshot: async (u, _thing, pick) => {
    if (u.script.database === "postgres") return;
    const { world: dev } = u.sdk("a");
    await u.value(() => dev.snapshot({ name: "before" }));
    await u.pass(pick.of(0, HOUR));
    await u.rewind(async () => void (await u.value(() => dev.restore({ name: "before" }))));
  },
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
  erase: async (u, thing, pick) => {
    const email = someone(thing, pick);
    if (!(await u.value(() => u.sdk(thing.tenant).people.erase(email)))) return;
    await u.settle();
    u.ledger.traces.push(...(await listTraces(u, thing.tenant, email)));
  },
  hours: (u, _thing, pick) => u.pass(pick.int(1, 48) * HOUR),
  summerTime: (u) => u.pass(Math.max(0, Date.parse("2026-03-29T04:00:00Z") - u.now())),
  month: (u) => u.pass(32 * DAY),
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
      faults.add({ path: "/api/v1/*", when: pick.of("before", "after"), code: "storage_unavailable", rate: 0.5, seed: 1 } as never),
    );
    await verb("edit")(u, thing, pick);
    await verb("resume")(u, thing, pick);
    await u.call(() => faults.clear());
    u.mayFail = false;
  },
  fullDisk: async (u, thing, pick) => {
    const { db } = u.world.app.deps;
    if (db.engine !== "sqlite") return;
    const limit = (pages: string) => (db as SqliteDb).exclusive((connection) => connection.pragma(`max_page_count = ${pages}`));
    u.mayFail = true;
    await limit("1");
    await verb("edit")(u, thing, pick);
    await NOUNS["mail"]?.make({ universe: u, tenant: thing.tenant, pick, label: "mail-on-a-full-disk" });
    // What cannot be stored is tried again until it can: time passes to its end only when there is room.
    const passed = u.pass(pick.of(0, 60_000));
    await Promise.race([passed, new Promise((done) => setTimeout(done, 20))]);
    await limit("1073741823");
    await passed;
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
