import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { confirm } from "../runtime/prompts.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";

/** `mailsvc plans change`: asks before the change deactivates agents. */
export function planCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, confirmDowngrade);
}

function agents(n: number): string {
  return n === 1 ? "1 agent" : `${n} agents`;
}

/**
 * Asks before a plan deactivates agents. Agents that are only paused resume with the next plan, so that needs no question.
 * Throws CliError: exit 2 without a terminal, 130 when the answer is no.
 */
async function confirmDowngrade(session: Session, { body }: RequestInput): Promise<void> {
  const { globals, host, term } = session;
  const plan = contract.plans.change.body?.safeParse(body);
  if (globals.yes || globals.dryRun || !plan?.success) return;
  const { data } = await session.send(buildCall(contract.plans.preview, [], plan.data, undefined));
  const { deactivated } = contract.plans.preview.output.parse(data);
  if (deactivated.length === 0) return;
  const what = `${agents(deactivated.length)} would be deactivated: ${deactivated.map(safeText).join(", ")}.`;
  if (!term.interactive || globals.json)
    throw usageError(`${what} Add --yes to confirm.`, {
      code: "confirmation_needed",
      next: `mailsvc plans preview --plan ${plan.data.plan}`,
    });
  session.out.say(what);
  if (!(await confirm(host, term, "Their keys stop working for good. Continue?"))) throw cancelledError();
}
