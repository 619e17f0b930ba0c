import type { PersonEntry } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { AutomationDeps } from "./automations.ts";
import { endEntries, listLatestEntries, readPaths, showEntry } from "./entries.ts";

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
