import { type contract, type DryRun, TrackedEvent } from "@mailsvc/sdk/contract";
import { getContactRow, holdContacts } from "../contacts/contacts.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import {
  type AutomationDeps,
  createAutomation,
  deleteAutomation,
  getAutomation,
  listAutomations,
  listVersions,
  updateAutomation,
} from "./automations.ts";
import { dryRun } from "./dry-run.ts";
import { listEntries } from "./entries.ts";
import { activateAutomation, pauseAutomation, setArchived } from "./states.ts";
import { getStats } from "./step-counts.ts";
import { type TrackedItem, track, trackBatch } from "./track.ts";

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

// Large events that are validated in one stretch: a few milliseconds.
const EVENTS_PER_TURN = 50;

export const trackHandlers: Pick<Handlers<typeof contract.events, AutomationDeps>, "track" | "trackBatch"> = {
  track: (input, { tx, deps, workspaceId }) => track(tx, deps, workspaceId, input),
  trackBatch: {
    // Validated before the transaction begins and in turns.
    prepare: async ({ events, createContacts }, { check, key }) => {
      if (createContacts && !key.owner && !key.permissions.has("contacts:write"))
        throw new ApiError("forbidden", "This API key lacks the permission contacts:write, which createContacts needs.", {
          details: [{ path: "createContacts", code: "missing_permission", message: "contacts:write" }],
        });
      const items: TrackedItem[] = [];
      for (const event of events) {
        const checked = check(TrackedEvent, event);
        items.push("details" in checked ? { errors: checked.details } : { event: checked.value });
        if (items.length % EVENTS_PER_TURN === 0) await yieldToEventLoop();
      }
      return items;
    },
    run: ({ createContacts }, { tx, deps, workspaceId }, items: TrackedItem[]) => trackBatch(tx, deps, workspaceId, items, createContacts),
  },
};
