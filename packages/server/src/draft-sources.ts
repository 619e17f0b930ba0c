import { VARIANT_NAMES } from "@mailsvc/sdk/contract";
import { previewCampaign } from "./campaigns/preview.ts";
import type { DraftSources } from "./dashboard/dashboard.ts";
import { getProposed } from "./marketplace/messages/proposals.ts";
import { renderProposal } from "./proposals.ts";

/** Renderers of the drafts that the dashboard previews in a frame. */
export const DRAFT_SOURCES: DraftSources = {
  campaigns: {
    permission: "campaigns:read",
    render: async (read, workspaceId, id, query) => {
      const variant = VARIANT_NAMES.find((name) => name === query.get("variant"));
      return (await previewCampaign(read, workspaceId, { id, contact: query.get("contact") || undefined, variant })).html;
    },
  },
  proposals: {
    permission: "marketplace:read",
    render: async (read, workspaceId, id) => {
      return (await renderProposal(read, workspaceId, await getProposed(read, workspaceId, id)))?.html ?? null;
    },
  },
};
