import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import { DAY, type Disturbance, done, HOUR, verb } from "./disturbances/disturbance.ts";
import { INSTALLATION_DISTURBANCES } from "./disturbances/installation.ts";
import { changeRole } from "./disturbances/roles.ts";
import { listTraces } from "./invariants/forgotten.ts";
import { VERBS } from "./noun.ts";
import { followActivation } from "./nouns/agents.ts";
import { draft, stopOnItsWay } from "./nouns/campaigns.ts";
import { holdDomain, releaseDomain } from "./nouns/operator.ts";
import { NEEDS, NOUNS } from "./nouns.ts";
import { addressOf, type Pick as Chances, MARKS, nextChangeOfTime, other, TENANTS, type Tenant } from "./script.ts";
import type { Thing, Universe } from "./universe.ts";

/** Lets the mail server of a world be in another mode for a while. */
function relay(mode: "dead" | "slow" | "refusing"): Disturbance {
  return async (u, thing, pick) => {
    if (!u.peer) return false;
    u.peer.mode = mode;
    await whileMailWaits(u, thing, pick, () => u.peer && (u.peer.mode = "up"));
    return true;
  };
}

/** Begins another thing while no mail leaves, does something to it, and lets mail leave again; what was paused goes on later. */
async function whileMailWaits(u: Universe, thing: Thing, pick: Chances, goOn: () => unknown): Promise<void> {
  const label = `${thing.label}-while-mail-waits`;
  // A pause is best caught between the first mail and the last.
  if (NOUNS[thing.noun]?.verbs.pause || pick.oneIn(2)) await makeFor(u, { noun: thing.noun, tenant: thing.tenant, label }, pick);
  const waiting = u.things.get(label) ?? thing;
  if (pick.oneIn(4)) await flicker(u, waiting);
  // Most campaigns are over within an hour.
  await u.pass(pick.of(0, 0, 60_000, HOUR));
  const deeds = (["pause", "pause", "pause", "cancel", "edit"] as const).filter((name) => NOUNS[thing.noun]?.verbs[name]);
  if (deeds.length > 0) await verb(pick.of(...deeds))(u, waiting, pick);
  await u.pass(pick.of(0, HOUR, 5 * HOUR));
  await goOn();
  if (pick.oneIn(4)) await flicker(u, waiting);
  await u.pass(pick.of(0, HOUR, DAY));
  await verb("resume")(u, waiting, pick);
}

/** Makes a thing, and tells whether it could. */
async function makeFor(u: Universe, wanted: Pick<Thing, "noun" | "tenant" | "label">, pick: Chances): Promise<boolean> {
  const made = await NOUNS[wanted.noun]?.make({ universe: u, tenant: wanted.tenant, pick, label: wanted.label });
  if (made) await u.add({ ...wanted, ...made });
  return made !== null && made !== undefined;
}

/** Pauses a campaign and lets it go on, several times and at once, while its mail is on its way. */
async function flicker(u: Universe, { noun, tenant, id }: Thing): Promise<void> {
  if (!noun.endsWith("ampaign")) return;
  const { campaigns } = u.sdk(tenant);
  u.ledger.go(id);
  for (let i = 0; i < 6; i += 1) {
    await u.call(() => campaigns.pause(id));
    await u.call(() => campaigns.resume(id));
  }
}

/** Lets the webhook of an agent refuse an event for good, which pauses the agent. Returns whether there was an event. */
async function failOnce(u: Universe, { tenant, id, label }: Thing): Promise<boolean> {
  const mode = u.hooks.modes.get(label) ?? "works";
  u.hooks.modes.set(label, "quits");
  const posted = await u.value(() => u.sdk(tenant).messages.create(id, { text: `Hello ${MARKS[tenant]}` }));
  await u.settle();
  u.hooks.modes.set(label, mode);
  return posted !== null;
}

/** The address that a disturbance about people concerns: that of the thing, or anybody's. */
const someone = ({ also }: Thing, pick: Chances): string => also["email"] ?? also["address"] ?? addressOf(pick.int(0, 23));

const operator = (u: Universe) => u.sdk("a", u.operatorKey);

/** Everything that can disturb a world. Each is tried beside each noun. */
export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  ...Object.fromEntries(VERBS.map((name) => [name, verb(name)])),
  ...INSTALLATION_DISTURBANCES,
  import: async (u, { tenant }, pick) => {
    const rows = Array.from({ length: 10 }, (_, i) => ({ email: addressOf(i + pick.int(0, 13)), tags: [pick.of("vip", "imported")] }));
    // One that can be undone, now and then.
    const begun = pick.oneIn(2) ? await u.value(() => u.sdk(tenant).contacts.startImport({ file: "people.csv" })) : null;
    return u.call(() => u.sdk(tenant).contacts.import({ rows, ...(begun && { import: begun.id }) }));
  },
  bulkTag: async (u, { tenant }, pick) => {
    const contacts = Array.from({ length: 8 }, (_, i) => addressOf(i));
    // The tag that segments look for comes or goes.
    const [add, remove] = pick.of(["vip", "trial"], ["vip", "customer"], ["bulk", "vip"], ["trial", "vip"]);
    return u.call(() => u.sdk(tenant).contacts.tag({ contacts, add: [add as string], remove: [remove as string] }));
  },
  suppress: async (u, thing, pick) => {
    const { tenant } = thing;
    const [email, scope] = [someone(thing, pick), pick.of("marketing" as const, "all" as const)];
    const made = await u.value(() => u.sdk(tenant).suppressions.create({ email, scope, reason: "manual" }));
    if (made) u.ledger.refuse({ tenant, address: email, scope });
    return made !== null;
  },
  unsubscribe: async (u, thing, pick) => {
    const { tenant } = thing;
    const email = someone(thing, pick);
    const set = Boolean(await u.value(() => setStatus(u, thing, email, "UNSUBSCRIBED")));
    if (set) u.ledger.refuse({ tenant, address: email, scope: "marketing" });
    return set;
  },
  resubscribe: async (u, thing, pick) => {
    const email = someone(thing, pick);
    u.ledger.allow(thing.tenant, email);
    return Boolean(await u.value(() => setStatus(u, thing, email, "SUBSCRIBED")));
  },
  undo: async (u, { tenant }, pick) => {
    const { contacts } = u.sdk(tenant);
    const rows = Array.from({ length: 12 }, (_, i) => ({ email: addressOf(i + pick.int(0, 13)), tags: [pick.of("undone", "vip")] }));
    await u.settle();
    const known = (await u.value(() => contacts.list({ limit: 100 }).toArray())) ?? [];
    const before = new Set(known.map(({ email }) => email));
    const untagged = new Set(known.flatMap(({ email, tags }) => (tags.includes("undone") ? [] : email)));
    const begun = await u.value(() => contacts.startImport({ file: "people.csv" }));
    const imported = begun && (await u.value(() => contacts.import({ rows, import: begun.id })));
    await u.pass(pick.of(0, HOUR));
    const imports = await u.value(async () => (await contacts.imports({ limit: 5 })).data);
    if (!imports || imports.length === 0) return false;
    const chosen = pick.of(...imports);
    const undone = await u.call(() => contacts.undoImport(chosen.id));
    await u.settle();
    if (imported && chosen.id === begun?.id && "value" in undone) {
      const now = await u.value(() => contacts.list({ limit: 100 }).toArray());
      const left = now?.filter(({ email }) => rows.some((row) => row.email === email) && !before.has(email)) ?? [];
      for (const { id, email } of left) {
        // A contact that an automation put into a list meanwhile stays.
        const contact = await u.value(() => contacts.get(id));
        if (contact && contact.lists.length === 0)
          u.ledger.note("follows", `${email} is a contact, and the import that has brought them was undone.`);
      }
      for (const { email, tags } of now ?? [])
        if (untagged.has(email) && tags.includes("undone")) u.ledger.note("follows", `${email} has a tag of an import that was undone.`);
    }
    return undone;
  },
  erase: async (u, thing, pick) => {
    const email = someone(thing, pick);
    const person = { ...thing, also: { email } };
    // Others got the same mail, which names them all.
    const together = { from: "hello@acme.test", to: [email, addressOf(24)], subject: `All ${MARKS[thing.tenant]}`, text: "Hello" };
    if (!pick.oneIn(3)) await u.call(() => u.sdk(thing.tenant).emails.send({ ...together, together: true }));
    // Their no outlives what is known of them.
    if (!pick.oneIn(3)) await DISTURBANCES[pick.of("suppress", "unsubscribe")]?.(u, person, pick);
    if (!(await u.value(() => u.sdk(thing.tenant).people.erase(email)))) return false;
    await u.settle();
    u.ledger.note("forgotten", ...(await listTraces(u, thing.tenant, email)));
    if (pick.oneIn(2)) {
      await u.pass(1000);
      await writeAgain(u, thing.tenant, email);
    }
    return true;
  },
  hours: (u, _thing, pick) => done(u.pass(pick.int(1, 48) * HOUR)),
  days: (u) => done(u.pass(32 * DAY)),
  // To the hours around the next change to or from summer time.
  summerTime: async (u, _thing, pick) => {
    const next = nextChangeOfTime(u.now());
    if (next - u.now() > 60 * DAY) return false;
    await u.pass(Math.max(0, next - u.now() + pick.int(-2, 3) * HOUR));
    return true;
  },
  // Pauses something and lets it go on: the agent that a thing is from, the thing itself, or another one that can.
  pauseForAWhile: async (u, thing, pick) => {
    const others = [...u.things.values()].filter(({ noun }) => NOUNS[noun]?.verbs.pause);
    const agent = u.things.get(thing.also["agent"] ?? "");
    const paused = agent ?? (NOUNS[thing.noun]?.verbs.pause || others.length === 0 ? thing : pick.of(...others));
    // Now and then there is a second reason, which is over before the first one.
    const isFailing = paused.noun === "agent" && pick.oneIn(2) && (await failOnce(u, paused));
    const acted = await verb("pause")(u, paused, pick);
    await u.pass(pick.of(0, HOUR, HOUR, 2 * DAY));
    if (isFailing) await u.call(() => u.builder().listings.resume(paused.also["slug"] ?? "", paused.id));
    await verb("resume")(u, paused, pick);
    return acted;
  },
  pauseSending: async (u, thing, pick) => {
    const paused = await u.value(() => operator(u).queue.pause({ reason: "maintenance" }));
    // Mail that a server has claimed still leaves.
    await u.settle();
    if (paused) u.ledger.stop("sending");
    await whileMailWaits(u, thing, pick, async () => {
      await u.pass(pick.of(0, 3 * DAY));
      u.ledger.go("sending");
      await u.call(() => operator(u).queue.resume());
    });
    return paused !== null;
  },
  holdDomain: async (u, { tenant, label }, pick) => {
    await holdDomain(u);
    await makeFor(u, { noun: "mail", tenant, label: `${label}-on-hold` }, pick);
    await u.pass(pick.of(0, HOUR, 3 * DAY));
    return releaseDomain(u);
  },
  requeue: (u) => u.call(() => operator(u).queue.requeue({})),
  relayDead: relay("dead"),
  relaySlow: relay("slow"),
  relayRefuses: relay("refusing"),
  // Something is done to a thing between what the service has read of it and what it stores of that.
  between: async (u, thing, pick) => {
    const own = VERBS.filter((name) => NOUNS[thing.noun]?.verbs[name]);
    const paused = await u.value(() => operator(u).queue.pause({ reason: "maintenance" }));
    const label = `${thing.label}-between`;
    await makeFor(u, { noun: thing.noun, tenant: thing.tenant, label }, pick);
    const under = u.things.get(label) ?? thing;
    const canPause = own.includes("pause") && own.includes("resume") && !pick.oneIn(4);
    // Its mail is claimed before it is paused, or not.
    const isLate = canPause && under.noun.endsWith("ampaign") && pick.oneIn(2);
    if (isLate) stopOnItsWay(u, under, pick);
    else if (canPause) await verb("pause")(u, under, pick);
    const deed = canPause ? "resume" : pick.of(...own, null);
    let doing: Promise<unknown> = Promise.resolve();
    const act = async (): Promise<void> => {
      if (deed !== null) await verb(deed)(u, under, pick);
      else await DISTURBANCES[pick.of("unsubscribe", "suppress", "bulkTag", "resubscribe")]?.(u, under, pick);
    };
    // The first transactions from now on claim what waits, and store what became of it.
    const between = { at: pick.int(1, 6), moment: "before", deed: () => (doing = act()), more: pick.int(0, 6) } as const;
    const putOff = isLate ? () => {} : pick.of(...u.servers).interrupt(between);
    if (paused) await u.call(() => operator(u).queue.resume());
    await u.pass(pick.of(0, 60_000, HOUR));
    putOff();
    await doing;
    return true;
  },
  // Each transaction waits for a while, so that others come between what it has read and what it writes.
  slowDisk: async (u, thing, pick) => {
    const set = (ms: number): void => {
      for (const server of u.servers) server.lagMs = ms;
    };
    set(pick.of(2, 5, 12));
    await whileMailWaits(u, thing, pick, () => set(0));
    set(0);
    return true;
  },
  webhooksDead: async (u, _thing, pick) => {
    const modes = new Map(u.hooks.modes);
    for (const name of modes.keys()) u.hooks.modes.set(name, pick.of("fails", "hangs", "gone"));
    await u.pass(pick.of(60_000, 2 * HOUR));
    for (const [name, mode] of modes) u.hooks.modes.set(name, mode);
    await followAll(u);
    return modes.size > 0;
  },
  role: changeRole,
  plan: async (u, { tenant }, pick) => {
    const changed = await u.call(() => u.sdk(tenant).plans.change({ plan: pick.of("free", "starter", "scale") }));
    await followAll(u);
    return changed;
  },
  tenant: async (u, thing, pick) => {
    const tenant = other(thing.tenant);
    const isThere = (noun: string): boolean => [...u.things.values()].some((one) => one.noun === noun && one.tenant === tenant);
    for (const noun of ["crowd", ...(NEEDS[thing.noun] ?? [])])
      if (noun !== thing.noun && !isThere(noun)) await makeFor(u, { noun, tenant, label: `${thing.label}-${noun}-of-the-other` }, pick);
    return makeFor(u, { noun: thing.noun, tenant, label: `${thing.label}-of-the-other` }, pick);
  },
  again: (u, { noun, tenant, label }, pick) => makeFor(u, { noun, tenant, label: `${label}-again` }, pick),
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
    return true;
  },
  scopes: async (u, _thing, pick) => {
    const agent = [...u.things.values()].find(({ noun }) => noun === "agent");
    if (!agent) return false;
    const permissions = AGENT_SCOPES.filter(() => !pick.oneIn(4));
    const changed = await u.value(() => u.builder().listings.update(agent.also["slug"] ?? "", { permissions }));
    // The brand accepts what is asked for, keeps what it has accepted, or says nothing.
    const answer = pick.of("accept" as const, "keep" as const, null);
    if (changed && answer) await u.call(() => u.sdk(agent.tenant).activations[answer](agent.id, { version: changed.version }));
    await followAll(u);
    return changed !== null;
  },
  rebuild: async (u, _thing, pick) => {
    const rebuilt = await u.call(() => operator(u).readers.rebuild(pick.of("metrics" as const, "engagement" as const), {}));
    // Now and then the next things happen while it is under way.
    await u.pass(pick.of(0, 1000, HOUR));
    return rebuilt;
  },
  report: async (u, { tenant }, pick) => {
    if (u.peer) return false;
    const { inbox } = u.sdk(tenant);
    const mails = await u.value(async () => (await inbox.list({ limit: 20 })).data);
    if (!mails || mails.length === 0) return false;
    const outcome = pick.of("bounced" as const, "complained" as const);
    const reported = await u.call(() => inbox.report(pick.of(...mails).id, { outcome }));
    await u.settle();
    if ("value" in reported) await findUnlisted(u, reported.value);
    return reported;
  },
};

/** Says whether an address that was reported is not on the list of suppressions of those who have written to it. */
async function findUnlisted(u: Universe, { to, emailId }: { readonly to: string; readonly emailId: string | null }): Promise<void> {
  for (const tenant of TENANTS) {
    const { emails, suppressions } = u.sdk(tenant);
    const sent = await u.value(() => emails.get(emailId ?? ""));
    const listed = sent && (await u.value(async () => (await suppressions.list({ search: to, limit: 10 })).data));
    // Simulated complaints of some addresses suppress nobody.
    if (listed && to.endsWith("@people.test") && !listed.some(({ email }) => email === to))
      u.ledger.note("follows", `${to} was reported, and is not on the list of suppressions of ${tenant}.`);
  }
}

/** Brings the address of an erased person back as a contact, as a file of an earlier time does, and writes to it. */
async function writeAgain(u: Universe, tenant: Tenant, email: string): Promise<void> {
  const { contacts, emails, campaigns } = u.sdk(tenant);
  await u.call(() => contacts.import({ rows: [{ email, firstName: `Ann ${MARKS[tenant]}` }] }));
  await u.call(() => emails.send({ from: "hello@acme.test", to: email, subject: `Hello ${MARKS[tenant]}`, text: "Hello" }));
  const made = await u.value(() => campaigns.create(draft({ tenant })));
  if (made) await u.call(() => campaigns.send(made.id));
}

async function setStatus(u: Universe, { tenant }: Thing, email: string, status: "SUBSCRIBED" | "UNSUBSCRIBED"): Promise<unknown> {
  const { contacts } = u.sdk(tenant);
  const [contact] = (await contacts.list({ search: email, limit: 1 })).data;
  return contact && contacts.update(contact.id, { status });
}

async function followAll(u: Universe): Promise<void> {
  for (const thing of u.things.values()) if (thing.noun === "agent") await followActivation(u, thing);
}
