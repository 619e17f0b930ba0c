import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";

const { answer } = contract.messages;

const SUMMARIES = { approve: "Approve an agent's request", reject: "Reject an agent's request" } as const;

/** `mailsvc approvals approve` and `reject`: the two usual answers, and the list of open approvals. */
export function approvalCommands(run: Run): Command[] {
  return [buildDecisionCommand("approve", run), buildDecisionCommand("reject", run)];
}

function buildDecisionCommand(decision: keyof typeof SUMMARIES, run: Run): Command {
  const spec = { id: "messages.answer", endpoint: answer, words: ["approvals", decision], positional: [], fixed: { decision } };
  const summary = SUMMARIES[decision];
  return buildEndpointCommand(spec, run)
    .summary(summary)
    .description(
      `${summary}.\n\n${answer.description} To answer a request that has its own options, use: mailsvc messages answer <id> <decision>.`,
    );
}
