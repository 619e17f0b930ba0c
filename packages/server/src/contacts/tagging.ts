import { CONTACT_LIMITS, type ContactTagging } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { ContactDeps } from "./deps.ts";
import { tagKeys } from "./normalize.ts";
import { type ContactRow, resolveContacts } from "./store.ts";
import { type ContactChange, patchContact, saveContacts } from "./write.ts";

interface Tagging {
  readonly contacts: readonly string[];
  readonly add: readonly string[];
  readonly remove: readonly string[];
  readonly startAutomations: boolean;
}

/**
 * Adds tags to contacts, named by ids or addresses, and removes others. All their other tags stay, also those that another request
 * changes meanwhile.
 */
export async function tagContacts(
  tx: Tx,
  deps: ContactDeps,
  workspaceId: string,
  { contacts: refs, add, remove, startAutomations }: Tagging,
): Promise<ContactTagging> {
  const contacts = await resolveContacts(tx, workspaceId, refs);
  const changes = new Map<number, ContactChange>();
  const outcome: ContactTagging = { updated: 0, unchanged: 0, failed: [] };
  const fail = (index: number, code: string, message: string): void =>
    void outcome.failed.push({ index, contact: refs[index] ?? "", code, message });
  for (const [index, before] of contacts.entries()) {
    if (before === null) {
      fail(index, "not_found", "Contact not found.");
      continue;
    }
    const tags = changeTags(before, add, remove);
    if (tags.length > CONTACT_LIMITS.tags) {
      fail(index, "too_big", `The contact would have more than ${CONTACT_LIMITS.tags} tags.`);
      continue;
    }
    const after = patchContact(deps, before, { tags }, before.status);
    if (after === before || changes.has(before.seq)) outcome.unchanged += 1;
    else changes.set(before.seq, { before, after });
  }
  await saveContacts(tx, deps, [], [...changes.values()], { source: "api", startsNothing: !startAutomations });
  return { ...outcome, updated: changes.size };
}

/** The tags of a contact, without some and with others. One that is added keeps the spelling that the contact has. */
function changeTags({ tags }: ContactRow, add: readonly string[], remove: readonly string[]): string[] {
  const removed = new Set(tagKeys(remove));
  const kept = tags.filter((tag) => tagKeys([tag]).every((key) => !removed.has(key)));
  const known = new Set(tagKeys(kept));
  return [...kept, ...add.filter((tag) => tagKeys([tag]).every((key) => !known.has(key)))];
}
