import { VARIANT_NAMES } from "@mailsvc/sdk/contract";
import { previewCampaign } from "./campaigns/preview.ts";
import type { DraftSources } from "./dashboard/dashboard.ts";

/** What the dashboard shows in a frame before it is sent. */
export const DRAFT_SOURCES: DraftSources = {
  campaigns: {
    permission: "campaigns:read",
    render: async (read, workspaceId, id, query) => {
      const variant = VARIANT_NAMES.find((name) => name === query.get("variant"));
      return (await previewCampaign(read, workspaceId, { id, contact: query.get("contact") || undefined, variant })).html;
    },
  },
};
