import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";

const { answer } = contract.messages;

const SUMMARIES = { approve: "Say yes to what an agent asks", reject: "Say no to what an agent asks" } as const;

/** `mailsvc approvals approve` and `reject`: the two answers everybody knows, beside the list they are found in. */
export function approvalCommands(run: Run): Command[] {
  return [buildDecisionCommand("approve", run), buildDecisionCommand("reject", run)];
}

function buildDecisionCommand(decision: keyof typeof SUMMARIES, run: Run): Command {
  const spec = { id: "messages.answer", endpoint: answer, words: ["approvals", decision], positional: [], fixed: { decision } };
  const summary = SUMMARIES[decision];
  return buildEndpointCommand(spec, run)
    .summary(summary)
    .description(
      `${summary}.\n\n${answer.description} A request with options of its own is answered by one of them: mailsvc messages answer <id> <decision>.`,
    );
}
