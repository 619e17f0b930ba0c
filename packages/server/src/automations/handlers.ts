import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { createAutomation, deleteAutomation, getAutomation, listAutomations, updateAutomation } from "./automations.ts";
import { listEntries } from "./entries.ts";
import { activateAutomation, pauseAutomation } from "./states.ts";
import { track } from "./track.ts";

export const automationHandlers: Handlers<typeof contract.automations> = {
  list: (input, { read, workspaceId }) => listAutomations(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createAutomation(tx, deps, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getAutomation(read, workspaceId, id),
  update: (input, { tx, deps, workspaceId }) => updateAutomation(tx, deps, workspaceId, input),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteAutomation(tx, deps, workspaceId, id),
  activate: ({ id }, { tx, deps, workspaceId }) => activateAutomation(tx, deps, workspaceId, id),
  pause: ({ id }, { tx, deps, workspaceId }) => pauseAutomation(tx, deps, workspaceId, id),
  entries: (input, { read, workspaceId }) => listEntries(read, workspaceId, input),
};

export const trackHandlers: Pick<Handlers<typeof contract.events>, "track"> = {
  track: (input, { tx, deps, workspaceId }) => track(tx, deps, workspaceId, input),
};
