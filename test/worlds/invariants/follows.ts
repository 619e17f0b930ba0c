import type { Universe } from "../universe.ts";
import { findLeftOut, findWrongWinners } from "./audiences.ts";
import { findWrongEntries } from "./entries.ts";
import type { Invariant } from "./invariant.ts";
import { findWrongSteps } from "./steps.ts";
import { findWrongWays } from "./ways.ts";

export const FOLLOWS: Invariant = {
  name: "follows",
  promise: "What is to follow from an event has followed.",
  says: [
    "Where what starts an automation has happened for a contact while it was active, the contact has entered it; without that nobody enters, and not by an import that is to start nothing. An address whose mailbox does not exist is suppressed. An agent that is on and whose webhook works has been told each decision about its questions, and each of its wakeups. Where a reader has opened a mail or followed a link in it, an event tells so.",
    "Who was in the audience of a campaign when it started, and was not changed since, has a mail of it, or is listed as skipped. Who was not in it, or was excluded, has none. Who had unsubscribed by then has none but one that was skipped. Who said no is on the list of suppressions. Who signs up on a page is a contact, and who confirms a list is a member of it; by a form that asks first nobody is a member without that. A person who gets another address stays the same contact. An import that is undone leaves nobody whom it has brought.",
    "An A/B test is won by the variant of which the largest share of its readers had opened the mail, or followed a link, by the time of the decision.",
    "What an agent proposes is made once when the brand approves it, and never otherwise.",
    "An entry of an automation goes along the connections of its version to their end, and is at a delay for as long as it says, to the second from a minute on. A wait for a time of a weekday is over then, by the clock of its zone. A question about a contact is answered as the contact is, and a step that changes one has changed it. The opposite holds too: an entry takes each step once, and a contact is inside an automation once at a time, enters again only where that is allowed, and as long after the time before as it says. Who reaches its goal while inside counts as having reached it. Where an answer of the reader is the goal, it ends the entry, of whose mail none leaves any more; where a step waits for an answer, the entry goes on with it. An answer that a program has written does neither. Its revenue is the value of what was reported, in its currency, for those who were inside.",
  ],
  check: async (universe) => {
    if (universe.rewound) return [];
    return [
      ...(await findWrongEntries(universe)),
      ...(await suppressed(universe)),
      ...(await agentsTold(universe)),
      ...(await reactionsTold(universe)),
      ...(await findWrongWays(universe)),
      ...(await findWrongSteps(universe)),
      ...(await findLeftOut(universe)),
      ...(await findWrongWinners(universe)),
      ...(await noesListed(universe)),
      ...(await proposalsMade(universe)),
      ...(universe.ledger.notes.get("follows") ?? []),
    ];
  },
};

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

async function reactionsTold({ world, ledger, script }: Universe): Promise<string[]> {
  // Events of people who were erased are gone, and so are those that are older than they are kept.
  if (script.keepDays !== null || script.steps.some((step) => step.do === "disturb" && step.by === "erase")) return [];
  const { read } = world.app.deps.db;
  const told = new Set((await read.select().from(read.t.events)).map(({ type, emailId }) => `${type} ${emailId}`));
  return ledger.reactions.flatMap(({ emailId, type }) =>
    told.has(`${type} ${emailId}`) ? [] : [`A reader did what ${type} tells with the mail ${emailId}, and no event tells it.`],
  );
}

async function proposalsMade({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const approvals = new Map((await read.select().from(read.t.approvals)).map((row) => [row.messageId, row.status]));
  const made = [...(await read.select().from(read.t.campaigns)), ...(await read.select().from(read.t.templates))];
  const times = Map.groupBy(made, ({ proposedBy }) => proposedBy?.approvalId);
  return (await read.select().from(read.t.proposals)).flatMap(({ messageId, created }) => {
    const status = approvals.get(messageId) ?? "gone";
    const count = times.get(messageId)?.length ?? 0;
    const isRight = status === "APPROVED" ? created !== null && count <= 1 : created === null && count === 0;
    return isRight ? [] : [`The proposal ${messageId} is ${status}, and ${count} were made of it.`];
  });
}

async function noesListed({ world, ledger, script, workspaces }: Universe): Promise<string[]> {
  if (script.steps.some((step) => step.do === "disturb" && step.by === "erase")) return [];
  const { read } = world.app.deps.db;
  const listed = new Set(
    (await read.select().from(read.t.suppressions)).map(({ workspaceId, email }) => `${workspaceId} ${email.toLowerCase()}`),
  );
  return ledger.refusals.flatMap(({ tenant, address }) =>
    listed.has(`${workspaces[tenant]} ${address}`) ? [] : [`${address} has said no to ${tenant}, and is not on its list of suppressions.`],
  );
}
