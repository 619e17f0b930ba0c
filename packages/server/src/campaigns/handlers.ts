import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { loadParser, type Parse } from "../templates/templates.ts";
import { type CampaignDeps, getCampaign, listCampaigns } from "./campaigns.ts";
import { cancelCampaign, pauseCampaign, resumeCampaign } from "./control.ts";
import { createCampaign, deleteCampaign, duplicateCampaign, resendCampaign, updateCampaign } from "./drafts.ts";
import { type PreparedTest, prepareTest, previewCampaign, sendTest } from "./preview.ts";
import { listRecipients } from "./recipients.ts";
import { verifyCampaign } from "./recount.ts";
import { estimateAudience } from "./selection.ts";
import { type PreparedStart, prepareStart, scheduleCampaign, sendCampaign } from "./start.ts";
import { getStats } from "./stats.ts";
import { decideWinner } from "./variants.ts";

export const campaignHandlers: Handlers<typeof contract.campaigns, CampaignDeps> = {
  list: (input, { read, workspaceId }) => listCampaigns(read, workspaceId, input),
  create: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => createCampaign(tx, deps, workspaceId, input, parse) },
  get: ({ id }, { read, workspaceId }) => getCampaign(read, workspaceId, id),
  update: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => updateCampaign(tx, deps, workspaceId, input, parse) },
  delete: ({ id }, { tx, workspaceId }) => deleteCampaign(tx, workspaceId, id),
  schedule: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => scheduleCampaign(tx, deps, workspaceId, input, parse) },
  audience: ({ id }, { read, deps, workspaceId }) => estimateAudience(read, deps, workspaceId, id),
  send: {
    prepare: ({ id }, { read, deps, workspaceId }) => prepareStart(read, deps, workspaceId, id),
    run: (input, { tx, deps, workspaceId }, prepared: PreparedStart) => sendCampaign(tx, deps, workspaceId, input, prepared),
  },
  pause: ({ id }, { tx, deps, workspaceId }) => pauseCampaign(tx, deps, workspaceId, id),
  resume: {
    prepare: ({ id }, { read, deps, workspaceId }) => prepareStart(read, deps, workspaceId, id),
    run: (input, { tx, deps, workspaceId }, prepared: PreparedStart) => resumeCampaign(tx, deps, workspaceId, input, prepared),
  },
  cancel: ({ id }, { tx, deps, workspaceId }) => cancelCampaign(tx, deps, workspaceId, id),
  duplicate: (input, { tx, deps, workspaceId }) => duplicateCampaign(tx, deps, workspaceId, input),
  resend: (input, { tx, deps, workspaceId }) => resendCampaign(tx, deps, workspaceId, input),
  // Rendering writes nothing, so it runs before the transaction.
  test: {
    prepare: (input, { read, workspaceId }) => prepareTest(read, workspaceId, input),
    run: (_input, { tx, deps }, prepared: PreparedTest) => sendTest(prepared, tx, deps),
  },
  preview: (input, { read, workspaceId }) => previewCampaign(read, workspaceId, input),
  winner: (input, { tx, deps, workspaceId }) => decideWinner(tx, deps, workspaceId, input),
  recipients: (input, { read, workspaceId }) => listRecipients(read, workspaceId, input),
  stats: (input, { read, deps, workspaceId }) => getStats(read, deps, workspaceId, input),
  verify: ({ id }, { read, deps, workspaceId }) => verifyCampaign(read, deps, workspaceId, id),
};

// Loaded before the transaction begins: inside it, only queries may be awaited.
function prepare(): Promise<Parse> {
  return loadParser();
}
