import type { AgentContract, contract } from "@mailsvc/sdk/contract";
import type { AgentDeps } from "../../deps.ts";
import type { AgentContext, Handlers } from "../../http/handler.ts";
import { checkImage, deleteAsset, findAsset, listAssets, type StagedImage, saveAsset, showAsset } from "./assets.ts";
import type { Staged } from "./contents.ts";
import {
  checkLeadMagnet,
  deleteLeadMagnet,
  findLeadMagnet,
  listLeadMagnets,
  type StagedFile,
  saveLeadMagnet,
  showLeadMagnet,
  updateLeadMagnet,
} from "./lead-magnets.ts";
import type { FileOwner } from "./room.ts";
import type { Upload } from "./upload.ts";

export const assetHandlers: Handlers<typeof contract.assets> = {
  list: (input, { read, deps, workspaceId }) => listAssets(read, deps, workspaceId, input),
  create: {
    prepare: (input, context) => stage(context, byPerson(context.workspaceId), checkImage(input, context.file)),
    run: (input, { tx, deps, workspaceId }, image: StagedImage) => saveAsset(tx, deps, byPerson(workspaceId), input, image),
    undo: ({ deps }, { staged }: StagedImage) => deps.staging.drop(staged),
  },
  get: async ({ id }, { read, deps, workspaceId }) => showAsset(deps, await findAsset(read, workspaceId, id)),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteAsset(tx, deps, workspaceId, id),
};

export const leadMagnetHandlers: Handlers<typeof contract.leadMagnets> = {
  list: (input, { read, deps, workspaceId }) => listLeadMagnets(read, deps, workspaceId, input),
  create: {
    prepare: (input, context) => stage(context, byPerson(context.workspaceId), checkLeadMagnet(input, context.file)),
    run: (input, { tx, deps, workspaceId }, file: StagedFile) => saveLeadMagnet(tx, deps, byPerson(workspaceId), input, file),
    undo: ({ deps }, { staged }: StagedFile) => deps.staging.drop(staged),
  },
  get: async ({ id }, { read, deps, workspaceId }) => showLeadMagnet(deps, await findLeadMagnet(read, workspaceId, id)),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteLeadMagnet(tx, deps, workspaceId, id),
};

export const agentAssetHandlers: Handlers<AgentContract["assets"]> = {
  create: {
    prepare: (input, context) => stage(context, byAgent(context), checkImage(input, context.file)),
    run: (input, context, image: StagedImage) => saveAsset(context.tx, context.deps, byAgent(context), input, image),
    undo: ({ deps }, { staged }: StagedImage) => deps.staging.drop(staged),
  },
};

export const agentLeadMagnetHandlers: Handlers<AgentContract["leadMagnets"]> = {
  create: {
    prepare: (input, context) => stage(context, byAgent(context), checkLeadMagnet(input, context.file)),
    run: (input, context, file: StagedFile) => saveLeadMagnet(context.tx, context.deps, byAgent(context), input, file),
    undo: ({ deps }, { staged }: StagedFile) => deps.staging.drop(staged),
  },
  update: ({ id, ...change }, context) => updateLeadMagnet(context.tx, context.deps, byAgent(context), id, change),
};

function byPerson(workspaceId: string): FileOwner {
  return { workspaceId, activationId: null };
}

function byAgent({ workspaceId, agent }: AgentContext): FileOwner {
  return { workspaceId, activationId: agent.activationId };
}

/** A file whose bytes are on their way into the database before the transaction that keeps it. */
async function stage<F extends Upload>(
  { deps, signal }: { readonly deps: AgentDeps; signal(): AbortSignal },
  owner: FileOwner,
  file: F,
): Promise<F & { readonly staged: Staged | null }> {
  return { ...file, staged: await deps.staging.stage(owner, file, signal()) };
}
