import { AgentClient } from "@mailsvc/sdk";
import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import { type Acted, find, known, type Making, type Noun } from "../noun.ts";
import { MARKS, type Tenant } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";
import { takeDown } from "./reading.ts";

/** Turns an agent on in a workspace, lists it first, and waits for its key. */
async function activate({ universe, tenant, label }: Making): Promise<Pick<Thing, "id" | "also"> | null> {
  const slug = label.toLowerCase();
  const webhookUrl = universe.hooks.urlOf(label);
  const listing = { slug, name: slug, description: "It writes.", webhookUrl, permissions: [...AGENT_SCOPES] };
  if (!(await universe.value(() => universe.builder().listings.create(listing)))) return null;
  if (!(await payMonth(universe, slug))) return null;
  const made = await universe.value(() =>
    universe.sdk(tenant).activations.create({ agentSlug: slug, acceptedPermissions: [...AGENT_SCOPES] }),
  );
  if (!made) return null;
  await universe.call(() => universe.sdk(tenant).credits.grant({ amount: 100 }));
  await universe.settle();
  const key = keyIn(universe, label);
  if (key !== null) universe.ledger.keys.push({ tenant, key, path: `/api/agents/activations/${made.id}/messages`, works: true });
  return { id: made.id, also: { slug, key: key ?? "", name: label } };
}

/** Pays for one more month of a listing. Returns whether that was acknowledged. */
export async function payMonth(u: Universe, slug: string): Promise<boolean> {
  const payment = await u.value(() => u.builder().listings.checkout(slug));
  return payment !== null && (await u.value(() => u.builder().payments.confirm(payment.id))) !== null;
}

/** The key that the webhook of an agent was sent. */
function keyIn({ ledger }: Universe, name: string): string | null {
  for (const call of ledger.calls) {
    if (call.name !== name) continue;
    const event = JSON.parse(call.body) as { type: string; apiKey?: string };
    if (event.type === "agent.activated" && event.apiKey) return event.apiKey;
  }
  return null;
}

export function clientOf(universe: Universe, { tenant, id, also }: Thing): AgentClient {
  return new AgentClient({
    activationId: id,
    apiKey: also["key"] || "ms_agent_none",
    baseUrl: universe.world.url,
    fetch: universe.fetchAs(tenant),
    maxRetries: 0,
  });
}

/** Something that an agent has begun, and facts about it. */
interface Begun {
  readonly id: string;
  readonly also?: Readonly<Record<string, string>>;
}

/** Something that an agent does for its brand. */
function work(begin: (client: AgentClient, making: Making) => Promise<Begun>, verbs: Noun["verbs"] = {}): Noun {
  return {
    make: async (making) => {
      const agent = find(making, "agent");
      if (!agent) return null;
      const begun = await making.universe.value(() => begin(clientOf(making.universe, agent), making));
      return known(begun, { ...begun?.also, agent: agent.label });
    },
    // Its agent is turned off.
    verbs: { delete: (u, thing) => endAgentOf(u, thing), ...verbs },
  };
}

const setWorking = ({ ledger }: Universe, { also }: Thing, works: boolean): void => {
  const record = ledger.keys.find(({ key }) => key === also["key"]);
  if (record) record.works = works;
};

/**
 * Asks the service in which state an activation is, and what it may do: other things than this call may pause it, and a listing may no
 * longer ask for what was accepted.
 */
export async function followActivation(u: Universe, thing: Thing): Promise<void> {
  const state = await u.value(() => u.sdk(thing.tenant).activations.get(thing.id));
  if (state) setWorking(u, thing, state.status === "active" && state.scopes.includes("agent:read_messages"));
}

const change = (verb: "pause" | "resume" | "deactivate") => async (u: Universe, thing: Thing) => {
  const outcome = await u.call(() => u.sdk(thing.tenant).activations[verb](thing.id));
  await followActivation(u, thing);
  return outcome;
};

async function endAgentOf(u: Universe, thing: Thing): Promise<Acted> {
  const agent = agentOf(u, thing);
  return agent ? change("deactivate")(u, agent) : false;
}

export const agentOf = (u: Universe, { also }: Thing): Thing | undefined => u.things.get(also["agent"] ?? "");

const brandOf = (tenant: Tenant): string => `for ${MARKS[tenant]}`;

const ANSWERED: Noun["verbs"] = {
  resume: (u, { tenant, id }, pick) => u.call(() => u.sdk(tenant).messages.answer(id, { decision: pick.of("approve", "reject") })),
  cancel: (u, thing) => {
    const agent = agentOf(u, thing);
    return agent ? u.call(() => clientOf(u, agent).messages.cancel(thing.id)) : Promise.resolve(false);
  },
};

function propose(making: Making): Parameters<AgentClient["messages"]["create"]>[0] {
  const { tenant, pick } = making;
  const list = find(making, "list");
  const content = { name: `Idea ${brandOf(tenant)}`, subject: "Hello", html: `<p>Dear {{firstName}} of ${MARKS[tenant]}</p>` };
  const proposal = pick.oneIn(3)
    ? { kind: "template" as const, ...content }
    : { kind: "campaign" as const, ...content, lists: list ? [list.id] : [] };
  return { type: "APPROVAL_REQUEST", text: "Shall I?", approval: { title: brandOf(tenant), proposal } };
}

/** Agents, and what they work on. */
export const AGENT_NOUNS = {
  agent: {
    make: activate,
    verbs: {
      pause: change("pause"),
      resume: change("resume"),
      cancel: change("deactivate"),
      edit: (u, { also }) => u.call(() => u.builder().listings.update(also["slug"] ?? "", { description: "It writes well." })),
      delete: async (u, thing) => {
        const outcome = await u.call(() => u.builder().listings.cancel(thing.also["slug"] ?? ""));
        await followActivation(u, thing);
        return outcome;
      },
      rotate: (u, { also }) => u.call(() => u.builder().listings.rotateSecret(also["slug"] ?? "", {})),
    },
  },
  run: work(async (client, { tenant }) => ({ id: (await client.runs.start({ title: `Draft ${brandOf(tenant)}` })).runId }), {
    edit: (u, thing) => {
      const agent = agentOf(u, thing);
      return agent ? u.call(() => clientOf(u, agent).runs.log({ runId: thing.id, entries: [{ message: "On" }] })) : Promise.resolve(false);
    },
    cancel: (u, thing) => {
      const agent = agentOf(u, thing);
      return agent ? u.call(() => u.sdk(thing.tenant).runs.cancel(agent.id, thing.id)) : Promise.resolve(false);
    },
  }),
  wakeup: work(async (client, { pick }) => {
    const delaySeconds = pick.of(10, 600, 86_400);
    const { wakeupId } = await client.wakeups.create({ delaySeconds, reason: "later" });
    return { id: wakeupId, also: { delaySeconds: String(delaySeconds) } };
  }),
  approval: work(
    (client, { tenant }) => client.messages.create({ type: "APPROVAL_REQUEST", text: "Shall I?", approval: { title: brandOf(tenant) } }),
    ANSWERED,
  ),
  // A run that waits for an answer.
  waitingRun: work(async (client, { tenant }) => {
    const { runId } = await client.runs.start({ title: `Ask ${brandOf(tenant)}` });
    const question = { type: "APPROVAL_REQUEST" as const, text: "Shall I?", approval: { title: brandOf(tenant) }, runId };
    return client.messages.create(question);
  }, ANSWERED),
  // A campaign or a template that is made when the brand approves.
  proposal: work((client, making) => client.messages.create(propose(making)), {
    ...ANSWERED,
    resume: async (u, { tenant, id }, pick) => {
      const shown = await u.value(() => u.sdk(tenant).approvals.get(id));
      const hash = shown?.proposal?.hash;
      const ending = shown?.proposal?.kind === "campaign" && {
        create: pick.of("draft" as const, "send" as const),
        fromEmail: "news@acme.test",
      };
      const answer = pick.oneIn(4) ? { decision: "reject" } : { decision: "approve", ...(hash && { hash }), ...ending };
      return u.call(() => u.sdk(tenant).messages.answer(id, answer));
    },
  }),
  // An answer of a person that the brand passes on to an agent, without the person.
  passedOn: {
    make: async (making) => {
      const { universe: u, tenant, label } = making;
      const agent = find(making, "agent");
      const received = await u.value(async () => (await u.sdk(tenant).received.list({ limit: 1 })).data[0]);
      if (!agent || !received) return null;
      const message = await u.value(() => u.sdk(tenant).received.passOn(received.id, { agent: agent.also["slug"] ?? "" }));
      if (message?.text?.includes("@people.test")) u.ledger.note("content", `${label} tells the agent the address of a person.`);
      return message && { id: received.id, also: { agent: agent.label, message: message.id } };
    },
    verbs: {
      // Again: it is the same message.
      duplicate: async (u, thing) => {
        const slug = agentOf(u, thing)?.also["slug"] ?? "";
        const outcome = await u.call(() => u.sdk(thing.tenant).received.passOn(thing.id, { agent: slug }));
        if ("value" in outcome && outcome.value.id !== thing.also["message"] && !u.rewound)
          u.ledger.note("once", `The agent got what ${thing.label} passes on twice.`);
        return outcome;
      },
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).received.delete(id)),
    },
  },
  message: work((client, { tenant }) => client.messages.create({ text: `Hello ${brandOf(tenant)}` })),
  spending: work(async (client) => ({ id: (await client.credits.consume({ amount: 5, action: "draft-page" })).transactionId })),
  landingPage: work(
    (client, { tenant }) =>
      client.landingPages.create({ title: "Guide", html: `<h1>${MARKS[tenant]}</h1><form></form>`, status: "PUBLISHED" }),
    {
      delete: (u, { tenant, id }) => takeDown(u, tenant, () => u.sdk(tenant).landingPages.delete(id)),
      pause: (u, { tenant, id }) => takeDown(u, tenant, () => u.sdk(tenant).landingPages.unpublish(id)),
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).landingPages.publish(id)),
    },
  ),
  plan: {
    make: async (making) => {
      const { universe, tenant, pick, label } = making;
      const plan = pick.of("free" as const, "free" as const, "starter" as const, "scale" as const);
      const changed = await universe.value(() => universe.sdk(tenant).plans.change({ plan }));
      // One agent more than it covers.
      for (const i of changed && plan === "free" ? [1, 2] : []) {
        const name = `agent-${label}-${i}`;
        const made = await activate({ ...making, label: name });
        if (made) await universe.add({ ...made, label: name, noun: "agent", tenant });
      }
      for (const thing of universe.things.values())
        if (thing.noun === "agent" && thing.tenant === tenant) await followActivation(universe, thing);
      return changed && { id: "plan", also: {} };
    },
    verbs: {},
  },
  brand: {
    make: async ({ universe, tenant, pick }) => {
      const timezone = pick.of("Europe/Berlin", "America/New_York");
      const done = await universe.value(() => universe.sdk(tenant).brand.update({ name: MARKS[tenant], timezone }));
      return done && { id: "brand", also: {} };
    },
    verbs: {},
  },
} satisfies Record<string, Noun>;
