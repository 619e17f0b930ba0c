import { and, eq, inArray } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { EventListener, NewEvent } from "../events/events.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { addRevenue } from "./attribution.ts";
import type { AutomationRow } from "./automations.ts";
import { type Entrant, endEntries, enter, listEntriesInside, reachGoal } from "./entries.ts";
import { INSIDE } from "./tables.ts";
import { listKeys } from "./triggers.ts";

/**
 * Lets contacts enter automations, and reach their goals, as the events say; entries of deleted contacts end. An event that is a
 * trigger and the goal of the same automation counts as the goal for those that are inside already.
 */
export const reactToEvents: EventListener = async (tx, deps, events) => {
  const deleted = events.flatMap(({ type, contactId }) => (type === "contact.deleted" && contactId ? [contactId] : []));
  await endEntries(tx, deps, await listEntriesInside(tx, deleted), "EXITED", "contact_deleted");
  await addRevenue(tx, events);
  for (const [workspaceId, own] of Map.groupBy(events, (event) => event.workspaceId)) {
    const contactsByKey = groupContacts(own);
    if (contactsByKey.size > 0) await reactToKeys(tx, deps, workspaceId, contactsByKey);
  }
};

/** The ids of the contacts that met a trigger or goal, by its key. */
function groupContacts(events: readonly NewEvent[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const event of events) {
    if (!event.contactId) continue;
    for (const key of listKeys(event)) found.set(key, (found.get(key) ?? new Set()).add(event.contactId));
  }
  return found;
}

async function reactToKeys(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  contactsByKey: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const { automations: t } = tx.t;
  const keys = [...contactsByKey.keys()];
  const select = (column: typeof t.triggerKey | typeof t.goalKey): Promise<AutomationRow[]> =>
    Promise.all(
      splitIntoChunks(keys).map((chunk) =>
        tx
          .select()
          .from(t)
          .where(and(INSIDE, eq(t.workspaceId, workspaceId), inArray(column, [...chunk])))
          .orderBy(t.id),
      ),
    ).then((rows) => rows.flat());
  for (const automation of await select(t.goalKey)) {
    const contacts = contactsByKey.get(automation.goalKey ?? "") ?? new Set<string>();
    for (const ids of splitIntoChunks([...contacts])) {
      const inside = await listEntriesInside(tx, ids);
      await reachGoal(
        tx,
        deps,
        inside.filter(({ automationId }) => automationId === automation.id),
      );
    }
  }
  for (const automation of await select(t.triggerKey)) {
    const contacts = contactsByKey.get(automation.triggerKey) ?? new Set<string>();
    for (const ids of splitIntoChunks([...contacts])) await enter(tx, deps, automation, await loadEntrants(tx, workspaceId, ids));
  }
}

async function loadEntrants(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<Entrant[]> {
  const { contacts: t } = tx.t;
  return tx
    .select({ id: t.id, seq: t.seq })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, [...ids])));
}
