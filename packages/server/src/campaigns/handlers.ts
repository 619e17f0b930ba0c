import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { loadParser, type Parse } from "../templates/templates.ts";
import { createCampaign, getCampaign, listCampaigns } from "./campaigns.ts";

export const campaignHandlers: Handlers<typeof contract.campaigns> = {
  list: (input, { read, workspaceId }) => listCampaigns(read, workspaceId, input),
  create: {
    prepare: loadParser,
    run: (input, { tx, deps, workspaceId }, parse: Parse) => createCampaign(tx, deps, workspaceId, input, parse),
  },
  get: ({ id }, { read, workspaceId }) => getCampaign(read, workspaceId, id),
};
