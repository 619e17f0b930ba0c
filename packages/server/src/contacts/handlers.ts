import { ContactImportRow, type contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import { createContact, deleteContact, getContactRow, showContact, updateContact, upsertContact } from "./contacts.ts";
import type { ContactDeps } from "./deps.ts";
import { type ImportRow, importContacts } from "./import.ts";
import { getImportRecord, listImports, showImport, startImport } from "./imports.ts";
import { listContacts } from "./list.ts";
import { tagContacts } from "./tagging.ts";
import { undoImport } from "./undo.ts";

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
