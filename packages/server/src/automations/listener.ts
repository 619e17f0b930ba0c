import type { AutomationStart } from "@mailsvc/sdk/contract";
import { and, eq, inArray, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findEmailRows } from "../emails/emails.ts";
import { type EventReader, markOf, type NewEvent, type ReadEvent } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import type { AutomationDeps } from "./automations.ts";
import { type Entrant, endEntries, enter, listAdmitted, listEntriesInside, reachGoal } from "./entries.ts";
import type { AutomationRow } from "./store.ts";
import { INSIDE } from "./tables.ts";
import { LISTENED, listKeys, type Occurrence, passesFilter, toEntryEvent } from "./triggers.ts";
import { endWaits } from "./waits.ts";

/**
 * Lets contacts enter automations, reach their goals, and go on where they wait, as the events say. Nothing follows from events of test
 * mail.
 */
export function automationsReader(deps: () => AutomationDeps): EventReader {
  return {
    name: "automations",
    types: LISTENED,
    plan: async (q, workspaceId, events) => {
      // Tracked events that start nothing are of the past.
      const own = events.filter(
        (event) => !isTestMail(event.emailId) && !(event.type === "contact.tracked" && event.startsNothing === true),
      );
      if (own.length === 0 || !(await hasAutomations(q, workspaceId))) return null;
      return async (tx) => {
        for (const round of splitByContact(await addContacts(tx, workspaceId, own))) await react(tx, deps(), workspaceId, round);
      };
    },
  };
}

/** Adds the contacts of events about emails, which the emails know. */
async function addContacts(tx: Tx, workspaceId: string, events: readonly ReadEvent[]): Promise<ReadEvent[]> {
  const emailIds = events.flatMap(({ contactId, emailId }) => (contactId === null && emailId !== null ? emailId : []));
  const rows = await findEmailRows(tx, workspaceId, [...new Set(emailIds)]);
  const contacts = new Map(rows.map(({ id, contactId }) => [id, contactId]));
  return events.map((event) => ({ ...event, contactId: event.contactId ?? contacts.get(event.emailId ?? "") ?? null }));
}

/** Splits events so that each round has one of a contact: what follows from the first one counts for the next. */
function splitByContact(events: readonly ReadEvent[]): ReadEvent[][] {
  const rounds: ReadEvent[][] = [];
  const before = new Map<string, number>();
  for (const event of events) {
    if (event.contactId === null) continue;
    const round = before.get(event.contactId) ?? 0;
    before.set(event.contactId, round + 1);
    const own = rounds[round];
    if (own) own.push(event);
    else rounds.push([event]);
  }
  return rounds;
}

/** An event that is a trigger and the goal of the same automation counts as the goal for those that are inside already. */
async function react(tx: Tx, deps: AutomationDeps, workspaceId: string, events: readonly ReadEvent[]): Promise<void> {
  const eventsByKey = groupEvents(events);
  await addRevenue(tx, events);
  await endWaits(tx, deps, eventsByKey);
  await reactToKeys(tx, deps, workspaceId, eventsByKey);
}

/** For each active automation how many contacts would enter it by some events, which are not recorded. */
export async function foreseeEntries(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  events: readonly NewEvent[],
): Promise<AutomationStart[]> {
  const eventsByKey = groupEvents(events);
  if (eventsByKey.size === 0 || !(await hasAutomations(tx, workspaceId))) return [];
  const keys = await keepListened(tx, workspaceId, [...eventsByKey.keys()]);
  const starts: AutomationStart[] = [];
  for (const automation of await listListening(tx, workspaceId, "triggerKey", keys)) {
    const own = (eventsByKey.get(automation.triggerKey) ?? []).filter((event) => passesFilter(automation.trigger, event));
    let contacts = 0;
    for (const ids of splitIntoChunks([...new Set(own.map(({ contactId }) => contactId ?? ""))]))
      contacts += (await listAdmitted(tx, deps, automation, ids)).length;
    if (contacts > 0) starts.push({ id: automation.id, name: automation.name, contacts });
  }
  return starts;
}

/** The events about contacts, by what listens to them. */
function groupEvents<Event extends Occurrence>(events: readonly Event[]): Map<string, Event[]> {
  const found = new Map<string, Event[]>();
  for (const event of events) {
    if (!event.contactId) continue;
    for (const key of listKeys(event)) {
      const own = found.get(key);
      if (own) own.push(event);
      else found.set(key, [event]);
    }
  }
  return found;
}

async function reactToKeys(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  eventsByKey: ReadonlyMap<string, readonly ReadEvent[]>,
): Promise<void> {
  const keys = await keepListened(tx, workspaceId, [...eventsByKey.keys()]);
  for (const automation of await listListening(tx, workspaceId, "goalKey", keys)) {
    const { goal, goalKey } = automation;
    if (goal === null) continue;
    const events = (eventsByKey.get(goalKey ?? "") ?? []).filter((event) => passesFilter(goal, event));
    for (const some of splitIntoChunks(events)) {
      const inside = (await listEntriesInside(tx, some)).filter(({ automationId }) => automationId === automation.id);
      await reachGoal(tx, deps, inside);
      // The contact replied and waits for a person now, so the series must send them nothing more.
      if (goal.type === "replied") await endEntries(tx, deps, inside, "EXITED", goal.type);
    }
  }
  for (const automation of await listListening(tx, workspaceId, "triggerKey", keys)) {
    const started = (eventsByKey.get(automation.triggerKey) ?? []).filter(
      (event) => event.startsNothing !== true && markOf(tx, event) > (automation.listensAfter ?? 0),
    );
    const events = started.filter((event) => passesFilter(automation.trigger, event));
    const latest = new Map(events.map((event) => [event.contactId ?? "", event]));
    for (const chunk of splitIntoChunks([...latest])) await enter(tx, deps, automation, await loadEntrants(tx, workspaceId, chunk));
  }
}

/** True if a workspace has automations. Without one nothing listens, and nothing waits: a deleted one stays until its entries are gone. */
async function hasAutomations(q: Reader | Tx, workspaceId: string): Promise<boolean> {
  const found = await q
    .prepared("has_automations", (query, { automations: t }, arg) =>
      query
        .select({ id: t.id })
        .from(t)
        .where(eq(t.workspaceId, arg("workspaceId")))
        .limit(1),
    )
    .execute({ workspaceId });
  return found.length > 0;
}

/** The active automations that listen to keys with their trigger or their goal, in the order of their ids. */
async function listListening(
  tx: Tx,
  workspaceId: string,
  column: "triggerKey" | "goalKey",
  keys: readonly string[],
): Promise<AutomationRow[]> {
  const name = `automations_by_${column}`;
  const found = await tx
    .prepared(name, (q, { automations: t }, arg) =>
      q
        .select()
        .from(t)
        .where(and(INSIDE, eq(t.workspaceId, arg("workspaceId")), tx.sqlDialect.among(t[column], arg("keys")))),
    )
    .execute({ workspaceId, keys: JSON.stringify(keys) });
  // In order by the database, SQLite would read all automations of the workspace, by another index.
  return found.sort((one, other) => (one.id < other.id ? -1 : 1));
}

// Below this, asking for the automations of the keys themselves costs less.
const MANY_KEYS = 500;

/** The keys that an automation may listen to: of the hundred thousand that an import can bring, few are left. */
async function keepListened(tx: Tx, workspaceId: string, keys: readonly string[]): Promise<readonly string[]> {
  if (keys.length <= MANY_KEYS) return keys;
  const { automations: t } = tx.t;
  const rows = await tx
    .select({ trigger: t.triggerKey, goal: t.goalKey })
    .from(t)
    .where(and(INSIDE, eq(t.workspaceId, workspaceId)));
  const listened = new Set(rows.flatMap(({ trigger, goal }) => [trigger, goal]));
  return keys.filter((key) => listened.has(key));
}

async function loadEntrants(tx: Tx, workspaceId: string, events: readonly (readonly [string, ReadEvent])[]): Promise<Entrant[]> {
  const found = await tx.lookUp(
    tx.t.contacts,
    events.map(([id]) => ({ workspaceId, id })),
  );
  return found.flatMap(([contact], i) => {
    const [, event] = events[i] as readonly [string, ReadEvent];
    return contact ? [{ id: contact.id, seq: contact.seq, event: toEntryEvent(event), mark: markOf(tx, event) }] : [];
  });
}

// As with counters: on Postgres, writers of the same row run one after the other.
const PARTS = 16;

/**
 * Adds the values of tracked events to the active automations their contacts are inside, if the currency is theirs. The value of the
 * event that reaches the goal is goal revenue, too; so this comes before goals are marked.
 */
async function addRevenue(tx: Tx, events: readonly ReadEvent[]): Promise<void> {
  for (const event of events) {
    const { contactId, data } = event;
    if (event.type !== "contact.tracked" || !contactId || typeof data?.value !== "number") continue;
    const amount = Math.round(data.value * 100);
    const inside = await listEntriesInside(tx, [event]);
    if (inside.length === 0) continue;
    const { automations: a, automationEntries: e, automationRevenue: r } = tx.t;
    const counting = await tx
      .select({ id: a.id, goal: a.goal, goalKey: a.goalKey })
      .from(a)
      .where(
        and(
          inArray(
            a.id,
            inside.map(({ automationId }) => automationId),
          ),
          eq(a.status, "ACTIVE"),
          eq(a.currency, String(data.currency)),
        ),
      );
    const goals = new Map(counting.map(({ id, goal, goalKey }) => [id, { goal, goalKey }]));
    for (const { id, automationId, contactSeq, goalReachedAt } of inside) {
      const aim = goals.get(automationId);
      if (aim === undefined) continue;
      const { goal, goalKey } = aim;
      const reaches = goal !== null && listKeys(event).includes(goalKey ?? "") && passesFilter(goal, event);
      const goalAmount = goalReachedAt === null && reaches ? amount : 0;
      await tx
        .update(e)
        .set({
          revenue: sql`coalesce(${e.revenue}, 0) + ${amount}`,
          ...(goalAmount > 0 && { goalRevenue: goalAmount }),
        })
        .where(eq(e.id, id));
      await tx
        .insert(r)
        .values({ automationId, part: contactSeq % PARTS, revenue: amount, goalRevenue: goalAmount })
        .onConflictDoUpdate({
          target: [r.automationId, r.part],
          set: { revenue: sql`${r.revenue} + excluded.revenue`, goalRevenue: sql`${r.goalRevenue} + excluded.goal_revenue` },
        });
    }
  }
}
