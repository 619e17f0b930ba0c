import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import type { Run } from "../act.ts";
import { commandOf } from "../from-contract.ts";

const { answer } = contract.messages;

const SUMMARIES = { approve: "Say yes to what an agent asks", reject: "Say no to what an agent asks" } as const;

/** `mailsvc approvals approve` and `reject`: the two answers everybody knows, beside the list they are found in. */
export function approvalCommands(run: Run): Command[] {
  return [verdict("approve", run), verdict("reject", run)];
}

function verdict(decision: keyof typeof SUMMARIES, run: Run): Command {
  const place = { id: "messages.answer", endpoint: answer, words: ["approvals", decision], positional: [], fixed: { decision } };
  const summary = SUMMARIES[decision];
  return commandOf(place, run)
    .summary(summary)
    .description(
      `${summary}.\n\n${answer.description} A request with options of its own is answered by one of them: mailsvc messages answer <id> <decision>.`,
    );
}
