import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { confirm } from "../runtime/prompts.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";

/** `mailsvc plans change`: asks before agents are turned off for good. */
export function planCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, confirmDowngrade);
}

function agents(n: number): string {
  return n === 1 ? "1 agent" : `${n} agents`;
}

/**
 * Asks before a plan turns agents off for good; what pauses them comes back with the next plan and is not asked about. Throws
 * CliError, exit 2, where nobody can be asked, and 130 for a no.
 */
async function confirmDowngrade(session: Session, { body }: RequestInput): Promise<void> {
  const { globals, host, term } = session;
  const plan = contract.plans.change.body?.safeParse(body);
  if (globals.yes || globals.dryRun || !plan?.success) return;
  const { data } = await session.send(buildCall(contract.plans.preview, [], plan.data, undefined));
  const { deactivated } = contract.plans.preview.output.parse(data);
  if (deactivated.length === 0) return;
  const what = `${agents(deactivated.length)} would be turned off for good: ${deactivated.map(safeText).join(", ")}.`;
  if (!term.interactive || globals.json)
    throw usageError(`${what} Add --yes to do it without being asked.`, {
      code: "confirmation_needed",
      next: `mailsvc plans preview --plan ${plan.data.plan}`,
    });
  session.out.say(what);
  if (!(await confirm(host, term, "Their keys never work again. Go on?"))) throw cancelledError();
}
