import { contract, type ProposalDetail } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { confirm } from "../runtime/prompts.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import type { RequestInput, Session } from "../types.ts";
import { describeProposal } from "../views/proposals.ts";

const { answer } = contract.messages;

const SUMMARIES = { approve: "Approve an agent's request", reject: "Reject an agent's request" } as const;

/** `mailsvc approvals approve` and `reject`: the two usual answers, and the list of open approvals. */
export function approvalCommands(run: Run): Command[] {
  return [buildDecisionCommand("approve", run), buildDecisionCommand("reject", run)];
}

function buildDecisionCommand(decision: keyof typeof SUMMARIES, run: Run): Command {
  const spec = { id: "messages.answer", endpoint: answer, words: ["approvals", decision], positional: [], fixed: { decision } };
  const summary = SUMMARIES[decision];
  return buildEndpointCommand(spec, run, decision === "approve" ? showProposal : undefined)
    .summary(summary)
    .description(
      `${summary}.\n\n${answer.description} To answer a request that has its own options, use: mailsvc messages answer <id> <decision>.`,
    );
}

/**
 * Shows what a request proposes before it is approved, and fills in its hash and the sender that the service suggests. Asks before a campaign
 * is sent. Throws CliError: exit 2 without a terminal and without --yes, 130 when the answer is no.
 */
async function showProposal(session: Session, gathered: RequestInput, _flags: unknown, [id = ""]: readonly string[]): Promise<void> {
  const { globals, host, term, out } = session;
  if (globals.dryRun) return;
  const { data } = await session.send(buildCall(contract.approvals.get, [id], {}, undefined));
  const { proposal, agentName } = contract.approvals.get.output.parse(data);
  if (proposal === null) return;
  const body = { ...gathered.body };
  body["hash"] ??= proposal.hash;
  if (proposal.kind === "campaign" && body["fromEmail"] === undefined) Object.assign(body, getSender(proposal, body));
  gathered.body = body;
  out.say(describeProposal(proposal, agentName, session));
  if (body["create"] !== "send" || globals.yes) return;
  const what = sayWhatIsSent(proposal, body);
  if (!term.interactive || globals.json) throw usageError(`${what}. Add --yes to confirm.`, { code: "confirmation_needed" });
  if (!(await confirm(host, term, `${what}. Continue?`))) throw cancelledError();
}

/** The suggested sender, unless a name was given. */
function getSender({ suggestedSender }: ProposalDetail, body: Readonly<Record<string, unknown>>): object {
  if (suggestedSender === null) throw usageError("--from-email is needed: the sender of the campaign.", { code: "missing_flags" });
  const { fromEmail, fromName } = suggestedSender;
  return fromName === null || body["fromName"] !== undefined ? { fromEmail } : { fromEmail, fromName };
}

function sayWhatIsSent({ subject, reach }: ProposalDetail, body: Readonly<Record<string, unknown>>): string {
  const people = body["lists"] !== undefined || reach === null ? "the lists that you name" : reach === 1 ? "1 person" : `${reach} people`;
  return `This sends "${safeText(subject)}" from ${safeText(String(body["fromEmail"]))} to ${people} now`;
}
