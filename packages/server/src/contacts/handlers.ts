import { CONTACT_LIMITS, ContactImportRow, type ContactTagging, type contract } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Handlers } from "../http/handler.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import { createContact, deleteContact, getContactRow, showContact, updateContact, upsertContact } from "./contacts.ts";
import type { ContactDeps } from "./deps.ts";
import { type ImportRow, importContacts } from "./import.ts";
import { getImportRecord, listImports, showImport, startImport } from "./imports.ts";
import { listContacts } from "./list.ts";
import { tagKeys } from "./normalize.ts";
import { type ContactRow, resolveContacts } from "./store.ts";
import { undoImport } from "./undo.ts";
import { type ContactChange, patchContact, saveContacts } from "./write.ts";

// Large rows that are validated in one stretch: a few milliseconds.
const ROWS_PER_TURN = 20;

export const contactHandlers: Handlers<typeof contract.contacts, ContactDeps> = {
  list: (input, { read, deps, workspaceId }) => listContacts(read, deps, workspaceId, input),
  create: async (input, { tx, deps, workspaceId }) => showContact(await createContact(tx, deps, workspaceId, input)),
  upsert: async (input, { tx, deps, workspaceId }) => {
    const { contact, created } = await upsertContact(tx, deps, workspaceId, input);
    return { status: created ? 201 : 200, body: showContact(contact) };
  },
  import: {
    // Validated before the transaction begins and in turns: a thousand large rows take 0.2 s.
    prepare: async ({ rows }, { check }) => {
      const checkedRows: ImportRow[] = [];
      for (const row of rows) {
        const checked = check(ContactImportRow, row);
        checkedRows.push("details" in checked ? { errors: checked.details } : { contact: checked.value });
        if (checkedRows.length % ROWS_PER_TURN === 0) await yieldToEventLoop();
      }
      return checkedRows;
    },
    run: (input, { tx, deps, workspaceId }, rows: ImportRow[]) => importContacts(tx, deps, workspaceId, rows, input),
  },
  startImport: (input, { tx, deps, workspaceId }) => startImport(tx, deps, workspaceId, input),
  imports: (input, { read, deps, workspaceId }) => listImports(read, deps, workspaceId, input),
  getImport: async ({ id: ref }, { read, deps, workspaceId }) => showImport(read, await getImportRecord(read, deps, workspaceId, ref)),
  undoImport: ({ id: ref }, { tx, deps, workspaceId }) => undoImport(tx, deps, workspaceId, ref),
  export: (input, { read, deps, workspaceId }) => listContacts(read, deps, workspaceId, { page: 1, ...input }),
  get: async ({ id }, { read, deps, workspaceId }) => {
    const contact = await getContactRow(read, workspaceId, id);
    return { ...showContact(contact), ...(await deps.contactHooks.listMemberships(read, contact)) };
  },
  update: async ({ id, ...patch }, { tx, deps, workspaceId }) => showContact(await updateContact(tx, deps, workspaceId, id, patch)),
  tag: (input, { tx, deps, workspaceId }) => tagContacts(tx, deps, workspaceId, input),
  delete: async ({ id }, { tx, deps, workspaceId }) => showContact(await deleteContact(tx, deps, workspaceId, id)),
};

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
async function tagContacts(
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
