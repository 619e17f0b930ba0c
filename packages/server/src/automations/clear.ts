import type { PersonEntry } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray } from "drizzle-orm";
import { deleteCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { AutomationDeps } from "./automations.ts";
import { endEntries, listLatestEntries, readPaths, showEntry } from "./entries.ts";
import { deleteStepCounts } from "./step-counts.ts";

/** Job kind: deletes the entries of a deleted automation. */
export const CLEAR_ENTRIES_JOB = "automations.clear";

// Entries deleted in one transaction.
const CHUNK = 500;

/** Deletes the entries of a deleted automation in chunks, then its definitions and numbers. */
export function clearEntries(deps: AutomationDeps): JobHandler {
  return async ({ payload }) => {
    const automationId = String(payload.automationId);
    const { automationEntries: t } = deps.db.read.t;
    const rows = await deps.db.read.select({ id: t.id }).from(t).where(eq(t.automationId, automationId)).limit(CHUNK);
    const ids = rows.map(({ id }) => id);
    return {
      ...(ids.length === CHUNK && { again: deps.clock.now() }),
      commit: async (tx) => {
        const {
          automations: a,
          automationVersions: v,
          automationContacts: c,
          automationEntries: e,
          automationMoves: m,
          automationRevenue: r,
        } = tx.t;
        if (ids.length > 0) {
          await tx.delete(m).where(inArray(m.entryId, ids));
          await tx.delete(e).where(inArray(e.id, ids));
        }
        if (ids.length === CHUNK) return;
        await tx.delete(c).where(eq(c.automationId, automationId));
        await tx.delete(v).where(eq(v.automationId, automationId));
        await tx.delete(r).where(eq(r.automationId, automationId));
        await deleteCounters(tx, automationId);
        await deleteStepCounts(tx, automationId);
        await tx.delete(a).where(eq(a.id, automationId));
      },
    };
  };
}

/** The entries of a contact in all automations, newest first, with the tracked event that each keeps. */
export async function listEntriesOfContact(read: Reader, contactId: string): Promise<PersonEntry[]> {
  const { automations: a, automationContacts: c, automationEntries: e } = read.t;
  // By the automations it has been in: entries have no index by contact alone.
  const rows = await read
    .select({ entry: e, name: a.name })
    .from(c)
    .innerJoin(e, and(eq(e.automationId, c.automationId), eq(e.contactId, c.contactId)))
    .innerJoin(a, eq(a.id, c.automationId))
    .where(eq(c.contactId, contactId))
    .orderBy(desc(e.id));
  const paths = await readPaths(
    read,
    rows.map(({ entry }) => entry.id),
  );
  return rows.map(({ entry, name }) => {
    const { contactId: _, ...shown } = showEntry(entry, paths.get(entry.id));
    return { ...shown, automationId: entry.automationId, automationName: name, event: entry.event };
  });
}

/** Ends the entries of a deleted contact, which clears the events they keep. */
export async function forgetEntries(tx: Tx, { id }: { readonly id: string }, deps: AutomationDeps): Promise<void> {
  const inside = (await listLatestEntries(tx, [id])).filter(({ status }) => status === "ACTIVE");
  await endEntries(tx, deps, inside, "EXITED", "contact_deleted");
}
