import type { AutomationStart } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { NewEvent } from "../events/events.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { addRevenue } from "./attribution.ts";
import type { AutomationDeps } from "./deps.ts";
import { type Entrant, endEntries, enter, listAdmitted, listEntriesInside, reachGoal } from "./entries.ts";
import type { AutomationRow } from "./store.ts";
import { INSIDE } from "./tables.ts";
import { listKeys, passesFilter, toEntryEvent } from "./triggers.ts";
import { endWaits } from "./waits.ts";

/**
 * Lets contacts enter automations, reach their goals, and go on where they wait, as the events say. An event
 * that is a trigger and the goal of the same automation counts as the goal for those that are inside already.
 */
export async function reactToEvents(tx: Tx, deps: AutomationDeps, events: readonly NewEvent[]): Promise<void> {
  await addRevenue(tx, events);
  for (const [workspaceId, own] of Map.groupBy(events, (event) => event.workspaceId)) {
    const eventsByKey = groupEvents(own);
    if (eventsByKey.size === 0 || !(await hasAutomations(tx, workspaceId))) continue;
    await endWaits(tx, deps, eventsByKey);
    await reactToKeys(tx, deps, workspaceId, eventsByKey);
  }
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
function groupEvents(events: readonly NewEvent[]): Map<string, NewEvent[]> {
  const found = new Map<string, NewEvent[]>();
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
  eventsByKey: ReadonlyMap<string, readonly NewEvent[]>,
): Promise<void> {
  const keys = await keepListened(tx, workspaceId, [...eventsByKey.keys()]);
  for (const automation of await listListening(tx, workspaceId, "goalKey", keys)) {
    const { goal, goalKey } = automation;
    if (goal === null) continue;
    const events = (eventsByKey.get(goalKey ?? "") ?? []).filter((event) => passesFilter(goal, event));
    for (const ids of splitIntoChunks([...new Set(events.map(({ contactId }) => contactId ?? ""))])) {
      const inside = (await listEntriesInside(tx, ids)).filter(({ automationId }) => automationId === automation.id);
      await reachGoal(tx, deps, inside);
      // Who answered waits for a person now, and must not get the next mail of the series.
      if (goal.type === "replied") await endEntries(tx, deps, inside, "EXITED", goal.type);
    }
  }
  for (const automation of await listListening(tx, workspaceId, "triggerKey", keys)) {
    const started = (eventsByKey.get(automation.triggerKey) ?? []).filter(({ startsNothing }) => startsNothing !== true);
    const events = started.filter((event) => passesFilter(automation.trigger, event));
    const latest = new Map(events.map((event) => [event.contactId ?? "", event]));
    for (const chunk of splitIntoChunks([...latest])) await enter(tx, deps, automation, await loadEntrants(tx, workspaceId, chunk));
  }
}

/** Whether a workspace has automations. Without one nothing listens, and nothing waits: a deleted one stays until its entries are gone. */
async function hasAutomations(tx: Tx, workspaceId: string): Promise<boolean> {
  const found = await tx
    .prepared("has_automations", (q, { automations: t }, arg) =>
      q
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

async function loadEntrants(tx: Tx, workspaceId: string, events: readonly (readonly [string, NewEvent])[]): Promise<Entrant[]> {
  const found = await tx.lookUp(
    tx.t.contacts,
    events.map(([id]) => ({ workspaceId, id })),
  );
  return found.flatMap(([contact], i) => {
    const [, event] = events[i] as readonly [string, NewEvent];
    return contact ? [{ id: contact.id, seq: contact.seq, event: toEntryEvent(event) }] : [];
  });
}
