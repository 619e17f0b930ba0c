import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import type { Run } from "../act.ts";
import { cancelled, usageError } from "../errors.ts";
import { commandOf } from "../from-contract.ts";
import type { Gathered } from "../gather.ts";
import type { Placed } from "../places.ts";
import { confirm } from "../prompts.ts";
import { callOf } from "../request.ts";
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";

/** `mailsvc plans change`: asks before agents are turned off for good. */
export function planCommand(place: Placed, run: Run): Command {
  return commandOf(place, run, sure);
}

function agents(n: number): string {
  return n === 1 ? "1 agent" : `${n} agents`;
}

/**
 * Asks before a plan turns agents off for good; what pauses them comes back with the next plan and is not asked about. Throws
 * CliError, exit 2, where nobody can be asked, and 130 for a no.
 */
async function sure(session: Session, { body }: Gathered): Promise<void> {
  const { globals, host, term } = session;
  const plan = contract.plans.change.body?.safeParse(body);
  if (globals.yes || globals.dryRun || !plan?.success) return;
  const { data } = await session.send(callOf(contract.plans.preview, [], plan.data, undefined));
  const { deactivated } = contract.plans.preview.output.parse(data);
  if (deactivated.length === 0) return;
  const what = `${agents(deactivated.length)} would be turned off for good: ${deactivated.map(safeText).join(", ")}.`;
  if (!term.interactive || globals.json)
    throw usageError(`${what} Add --yes to do it without being asked.`, {
      code: "confirmation_needed",
      next: `mailsvc plans preview --plan ${plan.data.plan}`,
    });
  session.out.say(what);
  if (!(await confirm(host, term, "Their keys never work again. Go on?"))) throw cancelled();
}
