import type { AutomationTrigger } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Universe } from "../universe.ts";

type Tables = Universe["world"]["app"]["deps"]["db"]["read"]["t"];
type Event = Tables["events"]["$inferSelect"];
type Entry = Tables["automationEntries"]["$inferSelect"];

/** Says which contacts have entered automations, or have not, in spite of what has happened for them. */
export async function findWrongEntries(universe: Universe): Promise<string[]> {
  return [
    ...(await entered(universe)),
    ...(await enteredUnasked(universe)),
    ...(await entriesApart(universe)),
    ...(await goalsReached(universe)),
    ...(await answersHeard(universe)),
    ...(await answersAwaited(universe)),
    ...(await revenueCounted(universe)),
    ...(await stepsOnce(universe)),
  ];
}

async function entered({ world, things, workspaces }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const automations = new Set(
    (await read.select().from(read.t.automations)).flatMap(({ id, deletedAt }) => (deletedAt === null ? id : [])),
  );
  const contacts = new Map((await read.select().from(read.t.contacts)).map((row) => [`${row.workspaceId} ${row.emailKey}`, row.id]));
  const known = new Set((await read.select().from(read.t.automationContacts)).map((row) => `${row.automationId} ${row.contactId}`));
  return [...things.values()].flatMap(({ label, tenant, id, also: { entrant } }) => {
    const contactId = contacts.get(`${workspaces[tenant]} ${entrant}`);
    if (entrant === undefined || !contactId || !automations.has(id) || known.has(`${id} ${contactId}`)) return [];
    return [`What starts ${label} has happened for ${entrant}, who never entered.`];
  });
}

/** Says which contacts have entered automations more often than what starts these has happened for them. Worlds import nobody who is to enter. */
async function enteredUnasked({ world, script }: Universe): Promise<string[]> {
  // Deleted events no longer tell what has happened.
  if (script.keepDays !== null) return [];
  const { read } = world.app.deps.db;
  const automations = new Map((await read.select().from(read.t.automations)).map((row) => [row.id, row]));
  const readers = new Map((await read.select().from(read.t.emails)).map(({ id, contactId }) => [id, contactId]));
  const events = Map.groupBy(
    (await read.select().from(read.t.events)).filter(({ data }) => data?.["source"] !== "import"),
    ({ contactId, emailId }) => contactId ?? readers.get(emailId ?? ""),
  );
  const entries = await read.select().from(read.t.automationEntries);
  return [...Map.groupBy(entries, ({ automationId, contactId }) => `${automationId} ${contactId}`).values()].flatMap((own) => {
    const [{ automationId, contactId } = { automationId: "", contactId: "" }] = own;
    const automation = automations.get(automationId);
    if (!automation || automation.trigger.type === "date") return [];
    const causes = (events.get(contactId) ?? []).filter((event) => event.at >= automation.createdAt && starts(automation.trigger, event));
    return own.length > causes.length
      ? [`The contact ${contactId} has entered ${automationId} ${own.length} times, and what starts it happened ${causes.length} times.`]
      : [];
  });
}

function starts(trigger: AutomationTrigger, { type, data, machine }: Event): boolean {
  switch (trigger.type) {
    case "tag.added":
      return ["contact.created", "contact.updated"].includes(type) && ((data?.["tagsAdded"] ?? []) as string[]).includes(trigger.tag);
    case "event":
      return trigger.name.startsWith("email.") ? type === trigger.name && machine !== true : data?.["name"] === trigger.name;
    case "list.joined":
      return type === trigger.type && data?.["listId"] === trigger.listId;
    case "segment.entered":
      return type === trigger.type && data?.["segmentId"] === trigger.segmentId;
    default:
      return type === trigger.type;
  }
}

async function entriesApart({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const automations = new Map((await read.select().from(read.t.automations)).map((row) => [row.id, row]));
  const entries = (await read.select().from(read.t.automationEntries)).sort((one, other) => one.enteredAt - other.enteredAt);
  return [...Map.groupBy(entries, ({ automationId, contactId }) => `${automationId} ${contactId}`).values()].flatMap((own) =>
    own.flatMap(({ id, automationId, enteredAt }, i) => {
      const before = own[i - 1];
      const { allowReEntry, reEntryDelayHours = 0 } = automations.get(automationId) ?? {};
      if (before === undefined) return [];
      if (before.endedAt === null || before.endedAt > enteredAt) return [`The entry ${id} began while ${before.id} was inside.`];
      if (allowReEntry === false) return [`The entry ${id} began after ${before.id}, and nobody may enter again.`];
      const hours = (enteredAt - before.enteredAt) / 3_600_000;
      return hours < reEntryDelayHours
        ? [`The entry ${id} began ${hours} hours after ${before.id}, and may after ${reEntryDelayHours}.`]
        : [];
    }),
  );
}

/** The automations that have listened to each event while they had entries, as far as anybody knows; null where that is not known. */
async function listListening({ world, script, ledger }: Universe) {
  // While it is paused an automation does not listen, and a pause may have been lost.
  const isUnsure = script.steps.some((step) => step.do === "disturb" && /^(kill|fullDisk|faults)/.test(step.by));
  if (script.keepDays !== null || isUnsure) return null;
  const paused = new Set(ledger.stops.map(({ what }) => what));
  const { read } = world.app.deps.db;
  return (await read.select().from(read.t.automations)).filter(({ id, status }) => status === "ACTIVE" && !paused.has(id));
}

/** Events of the contact of an entry while it was inside. Those at its first or last instant may have been outside. */
const isInside = ({ contactId, enteredAt, endedAt }: Entry, one: Event): boolean =>
  one.contactId === contactId && one.at > enteredAt && one.at < (endedAt ?? Number.POSITIVE_INFINITY);

/** Says who has reached the goal of an automation while they were inside, and does not count. */
async function goalsReached(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const goals = new Map(
    ((await listListening(universe)) ?? []).flatMap(({ id, goal }) => (goal?.type === "event" ? [[id, goal.name] as const] : [])),
  );
  const tracked = (await read.select().from(read.t.events)).filter(({ type }) => type === "contact.tracked");
  return (await read.select().from(read.t.automationEntries)).flatMap((entry) => {
    const name = goals.get(entry.automationId);
    if (name === undefined || entry.goalReachedAt !== null) return [];
    const reached = tracked.find((one) => one.data?.["name"] === name && isInside(entry, one));
    return reached ? [`The entry ${entry.id} does not count as at its goal, although ${name} happened meanwhile.`] : [];
  });
}

/**
 * Says which entries go on although their contact has answered a mail, where that is the goal or what their step waits for; which have ended
 * without that, such as by the answer of a program; and which mail of theirs left all the same.
 */
async function answersHeard(universe: Universe): Promise<string[]> {
  const listening = await listListening(universe);
  if (listening === null) return [];
  const { read } = universe.world.app.deps.db;
  const mails = await read.select().from(read.t.emails).innerJoin(read.t.contents, eq(read.t.contents.id, read.t.emails.contentsId));
  const readers = new Map(mails.map(({ emails: { id, contactId } }) => [id, contactId]));
  const answers = universe.ledger.answers.filter(({ isAutomatic }) => !isAutomatic);
  const goals = new Set(listening.flatMap(({ id, goal }) => (goal?.type === "replied" ? id : [])));
  const entries = await read.select().from(read.t.automationEntries);
  return entries.flatMap(({ id, automationId, contactId, enteredAt, endedAt, reason, goalReachedAt }) => {
    if (!goals.has(automationId)) return [];
    const own = answers.filter(({ emailId, at }) => readers.get(emailId) === contactId && at > enteredAt);
    if (reason !== "replied" || goalReachedAt === null)
      return own.some(({ at }) => at < (endedAt ?? Number.POSITIVE_INFINITY))
        ? [`The entry ${id} went on, although its contact has answered.`]
        : [];
    const end = endedAt ?? 0;
    if (!own.some(({ at }) => at <= end) && readers.size > 0) return [`The entry ${id} has ended by an answer that no person has written.`];
    return mails.flatMap(({ emails: mail, contents }) =>
      contents.automationId === automationId &&
      mail.contactId === contactId &&
      mail.createdAt >= enteredAt &&
      mail.createdAt <= end &&
      (mail.sentAt ?? 0) > end + 1000
        ? [`The mail ${mail.id} of the entry ${id} left after its contact had answered.`]
        : [],
    );
  });
}

/** Says which entries still waited for an answer when there was one, or went on as if there was one. */
async function answersAwaited(universe: Universe): Promise<string[]> {
  const listening = await listListening(universe);
  if (listening === null) return [];
  const { read } = universe.world.app.deps.db;
  const readers = new Map((await read.select().from(read.t.emails)).map(({ id, contactId }) => [id, contactId]));
  const versions = new Map((await read.select().from(read.t.automationVersions)).map((row) => [`${row.automationId} ${row.version}`, row]));
  const moves = Map.groupBy(await read.select().from(read.t.automationMoves), ({ entryId }) => entryId);
  const ids = new Set(listening.map(({ id }) => id));
  return (await read.select().from(read.t.automationEntries)).flatMap((entry) => {
    const path = (moves.get(entry.id) ?? []).sort((one, other) => one.move - other.move);
    const { steps = [] } = versions.get(`${entry.automationId} ${entry.version}`) ?? {};
    const answers = universe.ledger.answers.filter(({ emailId, isAutomatic }) => readers.get(emailId) === entry.contactId && !isAutomatic);
    return path.flatMap(({ stepId, at: from, branch }, i) => {
      const step = steps.find(({ id }) => id === stepId);
      if (step?.type !== "wait_for_event" || step.event.type !== "replied" || !ids.has(entry.automationId)) return [];
      const until = path[i + 1]?.at ?? entry.endedAt ?? Number.POSITIVE_INFINITY;
      const isAnswered = answers.some(({ at }) => at > from && at < until);
      if (isAnswered) return [`The entry ${entry.id} stayed at ${stepId} after its contact had answered.`];
      return branch === "event" && !answers.some(({ at }) => at >= from && at <= until)
        ? [`The entry ${entry.id} went on from ${stepId} as if its contact had answered.`]
        : [];
    });
  });
}

/** Says which automations have counted less or more revenue than was reported while contacts were inside. */
async function revenueCounted(universe: Universe): Promise<string[]> {
  const automations = await listListening(universe);
  // Sums that erased people have brought stay counted.
  if (automations === null || universe.script.steps.some((step) => step.do === "disturb" && step.by === "erase")) return [];
  const { read } = universe.world.app.deps.db;
  const events = (await read.select().from(read.t.events)).filter(({ type }) => type === "contact.tracked");
  const entries = await read.select().from(read.t.automationEntries);
  const found: string[] = [];
  for (const { id, workspaceId, currency } of automations) {
    const tenant = universe.workspaces.a === workspaceId ? "a" : "b";
    const shown = await universe.value(() => universe.sdk(tenant).automations.get(id));
    if (shown === null) continue;
    let [least, most] = [0, 0];
    for (const entry of entries.filter(({ automationId }) => automationId === id))
      for (const one of events) {
        const value = one.data?.["currency"] === currency && one.contactId === entry.contactId ? Number(one.data["value"] ?? 0) : 0;
        const isAtEdge = one.at === entry.enteredAt || one.at === entry.endedAt;
        // An event of the past is no revenue, and its time is all that is known of it.
        const isPast = (one.data?.["properties"] as { readonly batch?: string } | undefined)?.batch !== undefined;
        if (isInside(entry, one) && !isPast) least += value;
        if (isInside(entry, one) || isAtEdge) most += value;
      }
    const { revenueGenerated } = shown;
    if (revenueGenerated < least || revenueGenerated > most)
      found.push(`The automation ${id} says that it brought ${revenueGenerated}, and ${least} to ${most} were reported.`);
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
