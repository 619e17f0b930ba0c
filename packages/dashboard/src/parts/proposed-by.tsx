/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { ObjectLink } from "./object-link.tsx";

/** The agent that proposed a campaign or a template, with the way to it; nothing for what a person made. */
export function ProposedBy({ proposedBy: by }: Pick<CampaignDetail, "proposedBy">) {
  if (by === null) return null;
  return (
    <span>
      {" "}
      · proposed by <ObjectLink id={by.activationId} name={by.agentName} />
    </span>
  );
}
