import { eq } from "drizzle-orm";
import { forgetEntries, listEntriesOfContact } from "../automations/clear.ts";
import { listFormerValues } from "../contacts/imports.ts";
import { deleteContactRow } from "../contacts/store.ts";
import { exportContact } from "../data-subjects/walk.ts";
import { listMembershipsOfContact, removeFromLists } from "../lists/lists.ts";
import { listByKey } from "../retention/retention.ts";
import { clearEngagement, forgetActions, removeFromSegments } from "../segments/segments.ts";
import type { Parent } from "../workspaces/declarations.ts";
import { SHORT, type TableDataByTable } from "./declarations.ts";

const ID_ONLY = "The numbers of the automation stay; the id leads to nobody.";
const ofAutomation: readonly Parent<"automationId">[] = [{ table: "automations", column: "automationId" }];

/** Contacts, what they are grouped by, and automations. */
export const AUDIENCE_DATA = {
  contacts: {
    person: { contact: "seq", forget: deleteContactRow, export: exportContact },
    retention: "kept",
    workspace: { workspace: "workspaceId", secretless: ["emailKey"] },
  },
  contactImportRows: {
    person: {
      contact: "contactSeq",
      forget: "delete",
      export: async (read, { contact }) => (contact ? { formerValues: await listFormerValues(read, contact.seq) } : {}),
    },
    retention: "kept",
    workspace: { of: [{ table: "contactImports", column: "importSeq", key: "seq" }] },
  },
  contactTags: {
    person: { contact: "contactSeq", forget: { with: "contacts" }, export: { with: "contacts" } },
    retention: "kept",
    workspace: { workspace: "workspaceId", secretless: ["tagKey"] },
  },
  listMembers: {
    person: {
      contact: "contactSeq",
      forget: removeFromLists,
      export: async (read, { contact }) => (contact ? { lists: await listMembershipsOfContact(read, contact.seq) } : {}),
    },
    retention: "kept",
    workspace: { of: [{ table: "lists", column: "listSeq", key: "seq" }], hidden: ["tokenHash"] },
  },
  segmentMembers: {
    person: { contact: "contactSeq", forget: removeFromSegments, export: { with: "contacts" } },
    retention: "kept",
    workspace: { of: [{ table: "segments", column: "segmentSeq", key: "seq" }] },
  },
  engagement: {
    person: {
      contact: "contactSeq",
      forget: clearEngagement,
      export: { none: "The last of the events of each kind of the emails." },
      stays: "On Postgres the number of the contact, without anything else; it leads to nobody.",
    },
    retention: "kept",
    workspace: { of: [{ table: "contacts", column: "contactSeq", key: "seq" }] },
  },
  // Events about what contacts did, by which segments count.
  contactActions: {
    person: {
      contact: "contactSeq",
      forget: { with: "engagement" },
      export: { none: "The events of the emails and of the contact say it." },
    },
    retention: {
      policy: "events",
      list: listByKey(({ contactActions: a }) => ({ table: a, key: a.eventKey, age: a.at })),
      delete: async (tx, keys, before, deps) => {
        await forgetActions(tx, deps, keys.map(Number), before);
        return undefined;
      },
    },
    workspace: { of: [{ table: "contacts", column: "contactSeq", key: "seq" }], secretless: ["eventKey"] },
  },
  automationEntries: {
    person: {
      contact: "contactId",
      forget: forgetEntries,
      export: async (read, { contact }) => (contact ? { automationEntries: await listEntriesOfContact(read, contact.id) } : {}),
      stays: ID_ONLY,
    },
    retention: "kept",
    workspace: { workspace: "workspaceId" },
  },
  automationContacts: {
    person: {
      contact: "contactId",
      forget: { with: "automationEntries" },
      export: { with: "automationEntries" },
      stays: ID_ONLY,
    },
    retention: "kept",
    workspace: { of: ofAutomation },
  },
  automationMoves: {
    person: { nothing: "The id of an email, which leads to nobody once that is gone." },
    retention: "kept",
    workspace: { of: [{ table: "automationEntries", column: "entryId" }] },
  },
  automationRevenue: { person: "nothing", retention: "kept", workspace: { of: ofAutomation } },
  automationVersions: { person: "nothing", retention: "kept", workspace: { of: ofAutomation } },
  automations: {
    person: "nothing",
    retention: "kept",
    workspace: {
      workspace: "workspaceId",
      secretless: ["triggerKey", "goalKey"],
      stop: (tx, { clock }, id) => {
        const { automations: t } = tx.t;
        return tx.update(t).set({ deletedAt: clock.now(), nextDateAt: null }).where(eq(t.workspaceId, id));
      },
    },
  },
  contactCounts: {
    person: { nothing: "Numbers of contacts." },
    retention: "kept",
    workspace: { workspace: "workspaceId", unexported: SHORT },
  },
  contactImports: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  contactImportResults: {
    person: "nothing",
    retention: "kept",
    workspace: { of: [{ table: "contactImports", column: "importSeq", key: "seq" }] },
  },
  counters: {
    person: "nothing",
    retention: "kept",
    workspace: {
      of: [
        { table: "lists", column: "owner" },
        { table: "segments", column: "owner" },
        { table: "campaigns", column: "owner" },
        { table: "automations", column: "owner" },
        { table: "automations", column: "owner", suffix: ":steps" },
      ],
    },
  },
  lists: { person: { nothing: "The address its mail comes from." }, retention: "kept", workspace: { workspace: "workspaceId" } },
  contactActionKinds: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  segmentFields: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId", unexported: SHORT } },
  segments: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
  contactProperties: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId", secretless: ["key"] } },
  eventDefinitions: { person: "nothing", retention: "kept", workspace: { workspace: "workspaceId" } },
} satisfies Partial<TableDataByTable>;
