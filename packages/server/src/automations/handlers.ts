import type { contract, DryRun } from "@mailsvc/sdk/contract";
import { getContactRow, holdContacts } from "../contacts/contacts.ts";
import type { Handlers } from "../http/handler.ts";
import { createAutomation, deleteAutomation, getAutomation, listAutomations, updateAutomation } from "./automations.ts";
import type { AutomationDeps } from "./deps.ts";
import { dryRun } from "./dry-run.ts";
import { listEntries } from "./entries.ts";
import { activateAutomation, pauseAutomation, setArchived } from "./states.ts";
import { getStats } from "./stats.ts";

import { track } from "./track.ts";
import { listVersions } from "./versions.ts";

export const automationHandlers: Handlers<typeof contract.automations, AutomationDeps> = {
  list: (input, { read, workspaceId }) => listAutomations(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createAutomation(tx, deps, workspaceId, input),
  get: (input, { read, workspaceId }) => getAutomation(read, workspaceId, input),
  update: (input, { tx, deps, workspaceId }) => updateAutomation(tx, deps, workspaceId, input),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteAutomation(tx, deps, workspaceId, id),
  activate: (input, { tx, deps, workspaceId }) => activateAutomation(tx, deps, workspaceId, input),
  pause: ({ id }, { tx, deps, workspaceId }) => pauseAutomation(tx, deps, workspaceId, id),
  archive: ({ id }, { tx, deps, workspaceId }) => setArchived(tx, deps, workspaceId, id, true),
  unarchive: ({ id }, { tx, deps, workspaceId }) => setArchived(tx, deps, workspaceId, id, false),
  versions: (input, { read, workspaceId }) => listVersions(read, workspaceId, input),
  stats: ({ id }, { read, workspaceId }) => getStats(read, workspaceId, id),
  // It writes nothing, so it runs before the transaction, which only stores the response; that names the contact.
  test: {
    prepare: (input, { read, deps, workspaceId }) => dryRun(read, deps, workspaceId, input),
    run: async (_input, { tx, workspaceId }, result: DryRun) => {
      await holdContacts(tx, workspaceId, [await getContactRow(tx, workspaceId, result.contactId)]);
      return result;
    },
  },
  entries: (input, { read, workspaceId }) => listEntries(read, workspaceId, input),
};

export const trackHandlers: Pick<Handlers<typeof contract.events, AutomationDeps>, "track"> = {
  track: (input, { tx, deps, workspaceId }) => track(tx, deps, workspaceId, input),
};
