import { AUTOMATION_NOUNS } from "../nouns/automations.ts";
import type { Universe } from "../universe.ts";
import { type Invariant, listDeeds } from "./invariant.ts";

export const FOLLOWS: Invariant = {
  name: "follows",
  promise: "What is to follow from an event has followed.",
  says: [
    "An automation that is active and that nobody has paused or changed since is entered by each contact for whom its tracked event came. An address whose mailbox does not exist is suppressed. An agent that is on and whose webhook works has been told each decision about its questions, and each of its wakeups.",
    "The opposite holds too: mail of an automation goes to a contact once for each step that it took, and each step is taken once.",
  ],
  check: async (universe) => {
    if (universe.rewound) return [];
    return [...(await entered(universe)), ...(await suppressed(universe)), ...(await agentsTold(universe)), ...(await stepsOnce(universe))];
  },
};

async function entered(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const rows = new Map((await read.select().from(read.t.automations)).map((row) => [row.id, row]));
  const contacts = new Set((await read.select().from(read.t.contacts)).map(({ id }) => id));
  const known = new Set((await read.select().from(read.t.automationContacts)).map((row) => `${row.automationId} ${row.contactId}`));
  const events = (await read.select().from(read.t.events)).filter(({ type }) => type === "contact.tracked");
  return [...universe.things.values()].flatMap(({ label, noun, id }) => {
    const automation = rows.get(id);
    if (!(noun in AUTOMATION_NOUNS) || automation?.status !== "ACTIVE" || listDeeds(universe, label).length > 0) return [];
    const { trigger, createdAt, workspaceId } = automation;
    if (trigger.type !== "event") return [];
    const missed = events.filter(
      (event) =>
        event.workspaceId === workspaceId &&
        event.data?.["name"] === trigger.name &&
        event.at > createdAt &&
        contacts.has(event.contactId ?? "") &&
        !known.has(`${id} ${event.contactId}`),
    );
    return missed.map(({ contactId }) => `${label} starts with ${trigger.name}, and ${contactId} never entered.`);
  });
}

async function suppressed({ world, script }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  // A person can take a suppression back.
  if (script.steps.some((step) => step.do === "disturb" && (step.by === "delete" || step.by === "erase"))) return [];
  const rows = new Set((await read.select().from(read.t.suppressions)).map(({ workspaceId, email }) => `${workspaceId} ${email}`));
  return (await read.select().from(read.t.emails)).flatMap(({ id, status, lastError, workspaceId, toKey }) =>
    status === "bounced" && lastError?.enhancedCode === "5.1.1" && !rows.has(`${workspaceId} ${toKey}`)
      ? [`The mail ${id} to ${toKey} bounced because there is no such mailbox, and the address is not suppressed.`]
      : [],
  );
}

async function agentsTold(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const states = new Map((await read.select().from(read.t.activations)).map((row) => [row.id, row]));
  const approvals = await read.select().from(read.t.approvals);
  const wakeups = await read.select().from(read.t.wakeups);
  const found: string[] = [];
  for (const { label, noun, id } of universe.things.values()) {
    const state = states.get(id);
    if (noun !== "agent" || state?.status !== "active" || universe.hooks.modes.get(label) !== "works") continue;
    const told = universe.ledger.calls.filter(({ name, status }) => name === label && status === 200).map(({ body }) => body);
    const missed = (word: string): boolean => !told.some((body) => body.includes(word));
    for (const { messageId, status, activationId } of approvals)
      if (activationId === id && ["APPROVED", "REJECTED", "ANSWERED", "EXPIRED"].includes(status) && missed(messageId))
        found.push(`${label} was never told that ${messageId} is ${status}.`);
    for (const wakeup of wakeups)
      if (wakeup.activationId === id && wakeup.status === "FIRED" && missed(wakeup.id))
        found.push(`${label} was never sent its wakeup ${wakeup.id}.`);
  }
  return found;
}

async function stepsOnce({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const moves = await read.select().from(read.t.automationMoves);
  // The automations of a world have no loops.
  return [...Map.groupBy(moves, ({ entryId, stepId }) => `${entryId} the step ${stepId}`)].flatMap(([what, taken]) =>
    taken.length > 1 ? [`The entry ${what} took ${taken.length} times.`] : [],
  );
}
