import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import type { AgentHandlers } from "../agent-access.ts";
import { getListingRow } from "../listings/listings.ts";
import { type ActivationDeps, activate, deactivate, pause, resume, resumeForBuilder } from "./activations.ts";
import { acceptVersion, changeActivation, keepVersion } from "./settings.ts";
import { listActivations, listListingActivations, showActivation, showToAgent } from "./show.ts";
import { getActivation } from "./store.ts";

export const activationHandlers: Handlers<typeof contract.activations, ActivationDeps> = {
  list: (input, { read, deps, workspaceId }) => listActivations(read, workspaceId, deps.clock.now(), input),
  create: (input, { tx, deps, workspaceId }) => activate(tx, deps, workspaceId, input),
  get: async ({ id }, { read, deps, workspaceId }) => showActivation(await getActivation(read, workspaceId, id), deps.clock.now()),
  update: ({ id, ...change }, { tx, deps, workspaceId }) => changeActivation(tx, deps, workspaceId, id, change),
  accept: ({ id, version }, { tx, deps, workspaceId }) => acceptVersion(tx, deps, workspaceId, id, version),
  keep: ({ id, version }, { tx, deps, workspaceId }) => keepVersion(tx, deps, workspaceId, id, version),
  pause: ({ id }, { tx, deps, workspaceId }) => pause(tx, deps, workspaceId, id),
  resume: ({ id }, { tx, deps, workspaceId }) => resume(tx, deps, workspaceId, id),
  deactivate: ({ id }, { tx, deps, workspaceId }) => deactivate(tx, deps, workspaceId, id),
};

/** The endpoints of listings that activations handle. */
export const listingActivationHandlers: Pick<Handlers<typeof contract.listings, ActivationDeps>, "activations" | "resume"> = {
  activations: async ({ slug, ...input }, { read, deps, workspaceId }) =>
    listListingActivations(read, await getListingRow(read, workspaceId, slug), deps.clock.now(), input),
  resume: ({ slug, id }, { tx, deps, workspaceId }) => resumeForBuilder(tx, deps, workspaceId, slug, id),
};

export const selfHandlers: AgentHandlers<"self"> = {
  get: (_input, { read, agent }) => showToAgent(read, agent.activationId),
};
