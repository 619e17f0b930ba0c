import type { AutomationStep, AutomationTrigger, NewAutomation } from "@mailsvc/sdk/contract";
import { type Acted, find, known, type Making, type Noun } from "../noun.ts";
import { MARKS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import { holdDomain, releaseDomain } from "./operator.ts";

const HOUR = 3_600_000;

const TRIGGERS: readonly AutomationTrigger[] = [
  { type: "contact.created" },
  { type: "tag.added", tag: "vip" },
  { type: "event", name: "purchase" },
  { type: "event", name: "email.opened" },
  { type: "date", field: "customFields.renewsOn", time: "02:30", timeZone: "Europe/Berlin" },
];

/** An automation with these steps in a row, which ends after the last; a branch leads to the next step as well. */
function automation(
  build: (making: Making) => readonly AutomationStep[],
  { triggers, goal }: { readonly triggers?: readonly AutomationTrigger[]; readonly goal?: NewAutomation["goal"] } = {},
): Noun {
  return {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const steps = [...build(making)];
      const trigger = pick.of(...(triggers ?? triggersOf(making)));
      const fields: NewAutomation = {
        name: `Welcome ${MARKS[tenant]}`,
        trigger,
        steps,
        connections: connect(steps),
        allowReEntry: pick.oneIn(2),
        reEntryDelayHours: pick.of(1, 1, 24),
        currency: "EUR",
        ...(goal ? { goal } : pick.oneIn(3) && { goal: { type: "event", name: "purchase" } }),
      };
      const made = await universe.value(() => universe.sdk(tenant).automations.create(fields));
      const active = made && (await universe.value(() => universe.sdk(tenant).automations.activate(made.id)));
      const entrant = active ? await startFor(making, trigger) : null;
      if (entrant !== null) {
        await universe.settle();
        // It ends a wait, reaches the goal, and starts nothing for who is inside.
        await universe.pass(1000);
        await universe.call(() =>
          universe.sdk(tenant).events.track({ name: "purchase", contact: entrant, value: pick.int(1, 90), currency: "EUR" }),
        );
        if (pick.oneIn(3)) await repeat(universe, tenant, entrant, trigger);
      }
      // Nobody enters because of a file.
      const [email, tags] = [`fine-${pick.int(1000, 1999)}@people.test`, ["vip"]];
      if (active) await universe.call(() => universe.sdk(tenant).contacts.import({ rows: [{ email, tags }] }));
      return known(made, entrant === null ? {} : { entrant, trigger: JSON.stringify(trigger) });
    },
    verbs: {
      pause: (u, { tenant, id }) => pause(u, tenant, id),
      resume: async (u, { tenant, id }) => {
        u.ledger.go(id);
        return u.call(() => u.sdk(tenant).automations.activate(id));
      },
      edit: async (u, { tenant, id }) => {
        const steps: AutomationStep[] = [{ id: "tag", type: "add_tag", tag: "edited" }];
        await u.call(() => u.sdk(tenant).automations.update(id, { steps, connections: connect(steps) }));
        u.ledger.go(id);
        return u.call(() => u.sdk(tenant).automations.activate(id));
      },
      duplicate: async (u, { tenant, also: { entrant, trigger } }) => {
        if (entrant === undefined || trigger === undefined) return false;
        return repeat(u, tenant, entrant, JSON.parse(trigger) as AutomationTrigger);
      },
      // Only what does not run is put away.
      cancel: async (u, { tenant, id }) => {
        await pause(u, tenant, id);
        return u.call(() => u.sdk(tenant).automations.archive(id));
      },
      delete: async (u, { tenant, id }) => {
        await pause(u, tenant, id);
        return u.call(() => u.sdk(tenant).automations.delete(id));
      },
    },
  };
}

async function pause(u: Universe, tenant: Tenant, id: string): Promise<boolean> {
  const paused = await u.value(() => u.sdk(tenant).automations.pause(id));
  if (paused) u.ledger.stop(id);
  return paused !== null;
}

/** Lets the trigger happen for somebody, who enters. Returns the address; null where that is not for a call to do, or did not succeed. */
async function startFor({ universe, tenant, pick }: Making, trigger: AutomationTrigger): Promise<string | null> {
  const { contacts, events } = universe.sdk(tenant);
  const email = `fine-${pick.int(100, 999)}@people.test`;
  const added = await universe.value(() => contacts.create({ email, firstName: `New ${MARKS[tenant]}` }));
  if (!added || trigger.type === "contact.created") return added && email;
  if (trigger.type === "event" && !trigger.name.startsWith("email."))
    return (await universe.value(() => events.track({ name: trigger.name, contact: email }))) && email;
  if (trigger.type === "tag.added") return (await universe.value(() => contacts.update(added.id, { tags: [trigger.tag] }))) && email;
  if (trigger.type === "list.joined") return joinByTrigger(universe, tenant, trigger.listId, email);
  return null;
}

/** Adds somebody to a list. Returns the address; null where they have not joined, as those whom the list asks to confirm. */
async function joinByTrigger(u: Universe, tenant: Tenant, list: string, email: string): Promise<string | null> {
  const { lists } = u.sdk(tenant);
  if (!(await u.value(() => lists.add(list, { contacts: [email] })))) return null;
  const members = await u.value(() => lists.contacts(list, { limit: 100 }).toArray());
  return members?.some(({ contact, status }) => contact.email === email && status === "MEMBER") ? email : null;
}

/** Repeats what has started an automation, at once and later, for a contact who may be inside. */
async function repeat(u: Universe, tenant: Tenant, entrant: string, trigger: AutomationTrigger): Promise<Acted> {
  let acted: Acted = false;
  for (const hours of [0, 2, 24]) {
    await u.pass(hours * HOUR);
    acted = await happenAgain(u, tenant, entrant, trigger);
  }
  return acted;
}

/** Lets a trigger happen once more for a contact. */
async function happenAgain(u: Universe, tenant: Tenant, entrant: string, trigger: AutomationTrigger): Promise<Acted> {
  const { contacts, events } = u.sdk(tenant);
  if (trigger.type === "event") return u.call(() => events.track({ name: trigger.name, contact: entrant }));
  if (trigger.type === "list.joined") {
    const { lists } = u.sdk(tenant);
    await u.call(() => lists.remove(trigger.listId, { contacts: [entrant] }));
    return u.call(() => lists.add(trigger.listId, { contacts: [entrant] }));
  }
  if (trigger.type !== "tag.added") return false;
  await u.call(() => contacts.tag({ contacts: [entrant], remove: [trigger.tag] }));
  return u.call(() => contacts.tag({ contacts: [entrant], add: [trigger.tag] }));
}

function triggersOf(making: Making): readonly AutomationTrigger[] {
  const list = find(making, "list");
  const segment = find(making, "segment");
  return [
    ...TRIGGERS,
    ...(list ? [{ type: "list.joined", listId: list.id } as const] : []),
    ...(segment ? [{ type: "segment.entered", segmentId: segment.id } as const] : []),
  ];
}

const BRANCHES: Partial<Record<AutomationStep["type"], readonly string[]>> = {
  condition: ["yes", "no"],
  wait_for_event: ["event", "timeout"],
  split: ["left", "right"],
};

function connect(steps: readonly AutomationStep[]): NewAutomation["connections"] {
  const [first] = steps;
  if (!first) return [];
  return [
    { from: "trigger", to: first.id },
    ...steps.slice(0, -1).flatMap(({ id, type }, i) => {
      const to = (steps[i + 1] as AutomationStep).id;
      return (BRANCHES[type] ?? [undefined]).map((branch) => ({ from: id, to, ...(branch !== undefined && { branch }) }));
    }),
  ];
}

const send = (making: Making, id: string): readonly AutomationStep[] => {
  const template = find(making, "template");
  return template ? [{ id, type: "send_email", templateId: template.id }] : [];
};

/** A template whose mails can be answered. */
async function makeAnswerable({ universe, tenant, label }: Making): Promise<string | null> {
  const content = { subject: `Well? ${MARKS[tenant]}`, text: `Tell ${MARKS[tenant]}. {{unsubscribeUrl}}`, from: "hello@acme.test" };
  const slug = `${label.toLowerCase()}-answerable`;
  const made = await universe.value(() =>
    universe.sdk(tenant).templates.create({ name: slug, slug, ...content, replyTo: "auto", publish: true }),
  );
  return made?.id ?? null;
}

/** The reader of the last mail of an automation answers it, or a program does so for them. */
async function answer({ universe: u, tenant, pick }: Making, to: string): Promise<void> {
  await u.settle();
  const { inbox } = u.sdk(tenant);
  const [last] = (await u.value(async () => (await inbox.list({ to, limit: 1 })).data)) ?? [];
  if (!last?.emailId || !last.subject.includes(MARKS[tenant])) return;
  const automatic = pick.oneIn(3);
  const { id, emailId } = last;
  const answered = await u.value(() => inbox.reply(id, { text: `Thank you, ${MARKS[tenant]}.`, automatic }));
  if (answered) u.ledger.answers.push({ emailId, isAutomatic: automatic, at: u.now() });
  await u.settle();
}

/** An automation that writes twice to people who may answer: that ends it, or leads on. */
const ANSWERABLE: Noun["make"] = async (making) => {
  const { universe: u, pick } = making;
  const templateId = await makeAnswerable(making);
  if (templateId === null) return null;
  const isGoal = pick.oneIn(2);
  const noun = automation(
    () => [
      { id: "first", type: "send_email", templateId },
      ...(isGoal
        ? ([{ id: "pause", type: "delay", for: "2h" }] as const)
        : ([{ id: "answer", type: "wait_for_event", event: { type: "replied" }, timeout: "2d" }] as const)),
      { id: "second", type: "send_email", templateId },
      { id: "last", type: "delay", for: "2d" },
    ],
    { triggers: [{ type: "contact.created" }, { type: "tag.added", tag: "vip" }], ...(isGoal && { goal: { type: "replied" } }) },
  );
  const made = await noun.make(making);
  const entrant = made?.also["entrant"];
  if (!made || entrant === undefined || u.peer) return made;
  // Its second mail waits while the first is answered, now and then.
  const holds = pick.oneIn(2) && (await holdDomain(u));
  await u.pass(pick.of(1000, 3 * HOUR, 3 * HOUR));
  await answer(making, entrant);
  await u.pass(1000);
  if (holds) await releaseDomain(u);
  return made;
};

/** Automations whose steps together are all that there are. */
export const AUTOMATION_NOUNS = {
  answerable: { make: ANSWERABLE, verbs: automation(() => []).verbs },
  series: automation((making) => [
    ...send(making, "first"),
    { id: "pause", type: "delay", for: making.pick.of("1m", "20h", "3d") },
    ...send(making, "second"),
    { id: "tag", type: "add_tag", tag: "welcomed" },
    { id: "untag", type: "remove_tag", tag: "trial" },
  ]),
  waiting: automation((making) => [
    ...send(making, "ask"),
    {
      id: "answer",
      type: "wait_for_event",
      event: { type: "event", name: making.pick.of("purchase", "purchase", "email.opened") },
      timeout: "2d",
    },
    { id: "stage", type: "update_contact", set: { customFields: { stage: "answered" } } },
    ...send(making, "thanks"),
    { id: "goal", type: "goal" },
  ]),
  branching: automation((making) => {
    const list = find(making, "list");
    return [
      { id: "rich", type: "condition", rule: { field: "customFields.score", operator: "gte", value: 10 } },
      {
        id: "half",
        type: "split",
        branches: [
          { name: "left", weight: 1 },
          { name: "right", weight: 3 },
        ],
      },
      { id: "morning", type: "wait_until", time: "02:30", weekdays: ["sunday"], timeZone: making.pick.of("Europe/Berlin", "contact") },
      ...(list ? ([{ id: "join", type: "add_to_list", listId: list.id }] as const) : []),
      { id: "end", type: "exit", reason: "done" },
    ];
  }),
  calling: automation((making) => {
    const hook = find(making, "webhook", "failingWebhook");
    return [
      { id: "wait", type: "delay", for: "5m" },
      ...(hook ? ([{ id: "call", type: "webhook", webhookId: hook.id, data: { brand: MARKS[making.tenant] } }] as const) : []),
      { id: "tag", type: "add_tag", tag: "called" },
    ];
  }),
} satisfies Record<string, Noun>;
