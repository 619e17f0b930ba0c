/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { toHref } from "../router.tsx";

/** The agent that proposed a campaign or a template, with the way to it; nothing for what a person made. */
export function ProposedBy({ proposedBy: by }: Pick<CampaignDetail, "proposedBy">) {
  if (by === null) return null;
  return (
    <span>
      {" "}
      · proposed by <a href={toHref(`/agents/${by.activationId}`)}>{by.agentName}</a>
    </span>
  );
}
