import { and, isNotNull } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { markOf, type ReadEvent } from "../events/events.ts";
import type { AutomationDeps } from "./automations.ts";
import { buildRunJob } from "./due.ts";
import type { EntryRow } from "./entries.ts";
import { getVersionRow, type VersionRow } from "./store.ts";
import { passesFilter, toEntryEvent } from "./triggers.ts";

/**
 * Lets entries go on that wait for one of these events, given by their keys. The events are those of one workspace. An event after the
 * timeout comes too late, even if the entry is still at its step because its automation is paused or the worker is behind.
 */
export async function endWaits(tx: Tx, deps: AutomationDeps, eventsByKey: ReadonlyMap<string, readonly ReadEvent[]>): Promise<void> {
  const { automationEntries: e } = tx.t;
  const contacts = [...new Set([...eventsByKey.values()].flat().map(({ contactId }) => contactId ?? ""))];
  // By contact alone: an import can bring a hundred thousand keys, while a contact waits in few entries.
  const waiting = (await listWaiting(tx, contacts)).filter(({ waitsFor }) => eventsByKey.has(waitsFor ?? ""));
  if (waiting.length === 0) return;
  const versions = await loadVersions(tx, waiting);
  const now = deps.clock.now();
  const met = waiting.flatMap((entry) => {
    const step = versions.get(`${entry.automationId} ${entry.version}`)?.steps.find(({ id }) => id === entry.waitingIn);
    if (step?.type !== "wait_for_event") return [];
    const event = eventsByKey
      .get(entry.waitsFor ?? "")
      ?.findLast(
        (one) =>
          one.contactId === entry.contactId &&
          one.at < (entry.dueAt ?? 0) &&
          markOf(tx, one) > (entry.waitsAfter ?? 0) &&
          passesFilter(step.event, one),
      );
    return event ? [{ entry, event: toEntryEvent(event) ?? entry.event }] : [];
  });
  await tx.updateAll(
    e,
    met.map(({ entry: { id, waitsFor }, event }) => ({ where: { id, waitsFor }, set: { dueAt: now, waitsFor: null, met: true, event } })),
  );
  for (const [id, [first]] of Map.groupBy(met, ({ entry }) => entry.automationId))
    if (first) await deps.queue.enqueue(tx, buildRunJob({ id, workspaceId: first.entry.workspaceId }, now, now));
}

/** The entries of contacts that wait for an event. */
function listWaiting(tx: Tx, contactIds: readonly string[]): Promise<EntryRow[]> {
  return tx
    .prepared("waiting_entries", (q, { automationEntries: t }, arg) =>
      q
        .select()
        .from(t)
        .where(and(tx.sqlDialect.among(t.contactId, arg("contactIds")), isNotNull(t.waitsFor))),
    )
    .execute({ contactIds: JSON.stringify(contactIds) });
}

/** The definitions of entries, by automation and version. */
async function loadVersions(tx: Tx, entries: readonly EntryRow[]): Promise<Map<string, VersionRow>> {
  const versions = new Map<string, VersionRow>();
  for (const { automationId, version } of entries) {
    const key = `${automationId} ${version}`;
    if (!versions.has(key)) versions.set(key, await getVersionRow(tx, automationId, version));
  }
  return versions;
}
