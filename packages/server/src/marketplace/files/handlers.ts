import type { contract } from "@mailsvc/sdk/contract";
import type { AgentContext, Handlers } from "../../http/handler.ts";
import type { AgentDeps, AgentHandlers } from "../agent-access.ts";
import { checkImage, deleteAsset, type StagedImage, saveAsset, showAsset } from "./assets.ts";
import type { Staged } from "./contents.ts";
import { checkLeadMagnet, deleteLeadMagnet, type StagedFile, saveLeadMagnet, showLeadMagnet, updateLeadMagnet } from "./lead-magnets.ts";
import { getFileRow, listFiles } from "./library.ts";
import type { FileOwner } from "./quota.ts";
import type { FileDeps } from "./staging.ts";
import type { Upload } from "./upload.ts";

export const assetHandlers: Handlers<typeof contract.assets, FileDeps> = {
  list: (input, { read, deps, workspaceId }) => listFiles(read, "assets", workspaceId, input, (row) => showAsset(deps, row)),
  create: {
    prepare: (input, context) => stage(context, ownedByPerson(context), checkImage(input, context.file)),
    run: (input, context, image: StagedImage) => saveAsset(context.tx, context.deps, ownedByPerson(context), input, image),
    undo: dropStaged,
  },
  get: async ({ id }, { read, deps, workspaceId }) => showAsset(deps, await getFileRow(read, "assets", workspaceId, id)),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteAsset(tx, deps, workspaceId, id),
};

export const leadMagnetHandlers: Handlers<typeof contract.leadMagnets, FileDeps> = {
  list: (input, { read, deps, workspaceId }) => listFiles(read, "leadMagnets", workspaceId, input, (row) => showLeadMagnet(deps, row)),
  create: {
    prepare: (input, context) => stage(context, ownedByPerson(context), checkLeadMagnet(input, context.file)),
    run: (input, context, file: StagedFile) => saveLeadMagnet(context.tx, context.deps, ownedByPerson(context), input, file),
    undo: dropStaged,
  },
  get: async ({ id }, { read, deps, workspaceId }) => showLeadMagnet(deps, await getFileRow(read, "leadMagnets", workspaceId, id)),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteLeadMagnet(tx, deps, workspaceId, id),
};

export const agentAssetHandlers: AgentHandlers<"assets"> = {
  create: {
    prepare: (input, context) => stage(context, ownedByAgent(context), checkImage(input, context.file)),
    run: (input, context, image: StagedImage) => saveAsset(context.tx, context.deps, ownedByAgent(context), input, image),
    undo: dropStaged,
  },
};

export const agentLeadMagnetHandlers: AgentHandlers<"leadMagnets"> = {
  create: {
    prepare: (input, context) => stage(context, ownedByAgent(context), checkLeadMagnet(input, context.file)),
    run: (input, context, file: StagedFile) => saveLeadMagnet(context.tx, context.deps, ownedByAgent(context), input, file),
    undo: dropStaged,
  },
  update: ({ id, ...change }, context) => updateLeadMagnet(context.tx, context.deps, ownedByAgent(context), id, change),
};

function ownedByPerson({ workspaceId }: { readonly workspaceId: string }): FileOwner {
  return { workspaceId, activationId: null };
}

function ownedByAgent({ workspaceId, agent }: AgentContext<AgentDeps>): FileOwner {
  return { workspaceId, activationId: agent.activationId };
}

/** Writes a file's bytes before the transaction that stores the file. */
async function stage<F extends Upload>(
  { deps, signal }: { readonly deps: AgentDeps; signal(): AbortSignal },
  owner: FileOwner,
  file: F,
): Promise<F & { readonly staged: Staged | null }> {
  return { ...file, staged: await deps.staging.stage(owner, file, signal()) };
}

function dropStaged({ deps }: { readonly deps: AgentDeps }, { staged }: { readonly staged: Staged | null }): Promise<void> {
  return deps.staging.drop(staged);
}
