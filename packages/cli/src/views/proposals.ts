import type { ApprovalDetail, ProposalDetail } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../text/safe-text.ts";
import { renderDetails, wrapText } from "../text/table.ts";
import type { Session } from "../types.ts";
import { showMessage } from "./messages.ts";
import type { View } from "./view.ts";

export const proposalViews: Readonly<Record<string, View>> = { "approvals.get": { object: approval } };

/** An approval request, and the mail that it proposes. */
function approval(found: ApprovalDetail, session: Session): string {
  const { proposal, agentName } = found;
  return [showMessage(found, session), ...(proposal === null ? [] : ["", describeProposal(proposal, agentName, session)])].join("\n");
}

/** Describes a proposal for the person who answers it. The texts of the agent are shown as texts. */
export function describeProposal(proposal: ProposalDetail, agentName: string, { term: { out, columns } }: Session): string {
  const { kind, name, rendered, renderError, suggestedLists, reach, suggestedSender, linksTo, loadsFrom, created } = proposal;
  const lists = suggestedLists?.map((list) => `${safeText(list.name)} (${list.memberCount})`).join(", ");
  const isCampaign = kind === "campaign";
  const text = rendered?.text ?? proposal.text;
  return [
    renderDetails(
      [
        [isCampaign ? "campaign" : "template", `${name}, proposed by ${agentName}`],
        ["subject", rendered?.subject ?? proposal.subject],
        ["preview text", proposal.previewText],
        ["from", suggestedSender?.fromEmail],
        ["lists", isCampaign ? lists || "none suggested" : null],
        ["reaches now", reach === null ? null : `${reach} ${reach === 1 ? "person" : "people"}`],
        ["links to", linksTo.join(", ")],
        ["loads from", loadsFrom.join(", ")],
        ["fault", renderError],
        ["hash", proposal.hash],
        ["made", created && `${created.kind} ${created.id}${created.sent ? ", sent" : ", a draft"}`],
      ],
      out,
      columns,
    ),
    ...(text ? ["", wrapText(safeLines(text), columns)] : []),
  ].join("\n");
}
