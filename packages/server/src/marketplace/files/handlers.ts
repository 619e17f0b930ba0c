import type { AgentContract, contract } from "@mailsvc/sdk/contract";
import type { AgentWriteContext, Handlers } from "../../http/handler.ts";
import { checkImage, deleteAsset, type FileOwner, findAsset, listAssets, saveAsset, showAsset } from "./assets.ts";
import {
  checkLeadMagnet,
  deleteLeadMagnet,
  findLeadMagnet,
  listLeadMagnets,
  saveLeadMagnet,
  showLeadMagnet,
  updateLeadMagnet,
} from "./lead-magnets.ts";

const byPerson = (workspaceId: string): FileOwner => ({ workspaceId, activationId: null });
const byAgent = ({ workspaceId, agent }: AgentWriteContext): FileOwner => ({ workspaceId, activationId: agent.activationId });

export const assetHandlers: Handlers<typeof contract.assets> = {
  list: (input, { read, deps, workspaceId }) => listAssets(read, deps, workspaceId, input),
  create: {
    prepare: checkImage,
    run: (input, { tx, deps, workspaceId }, image) => saveAsset(tx, deps, byPerson(workspaceId), input, image),
  },
  get: async ({ id }, { read, deps, workspaceId }) => showAsset(deps, await findAsset(read, workspaceId, id)),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteAsset(tx, deps, workspaceId, id),
};

export const leadMagnetHandlers: Handlers<typeof contract.leadMagnets> = {
  list: (input, { read, deps, workspaceId }) => listLeadMagnets(read, deps, workspaceId, input),
  create: {
    prepare: checkLeadMagnet,
    run: (input, { tx, deps, workspaceId }, upload) => saveLeadMagnet(tx, deps, byPerson(workspaceId), input, upload),
  },
  get: async ({ id }, { read, deps, workspaceId }) => showLeadMagnet(deps, await findLeadMagnet(read, workspaceId, id)),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteLeadMagnet(tx, deps, workspaceId, id),
};

export const agentAssetHandlers: Handlers<AgentContract["assets"]> = {
  create: { prepare: checkImage, run: (input, context, image) => saveAsset(context.tx, context.deps, byAgent(context), input, image) },
};

export const agentLeadMagnetHandlers: Handlers<AgentContract["leadMagnets"]> = {
  create: {
    prepare: checkLeadMagnet,
    run: (input, context, upload) => saveLeadMagnet(context.tx, context.deps, byAgent(context), input, upload),
  },
  update: ({ id, ...change }, context) => updateLeadMagnet(context.tx, context.deps, byAgent(context), id, change),
};
