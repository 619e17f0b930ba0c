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
import { details } from "../views/table.ts";

/** `mailsvc activations create`: with one question in place of a dozen flags. */
export function activateCommand(place: Placed, run: Run): Command {
  return commandOf(place, run, consent).addHelpText(
    "after",
    `  mailsvc ${place.words.join(" ")} launch-writer\n\nWithout scopes it shows what the agent asks for, and asks; --yes agrees to all of it.`,
  );
}

/**
 * Fills in the scopes when none are named: shows at a terminal what the agent asks for and asks once; --yes agrees to all of
 * it. Throws CliError, exit 2, where nobody can be asked, and 130 for a no.
 */
async function consent(session: Session, { body }: Gathered): Promise<void> {
  const { globals, host, term } = session;
  const slug = body?.["agentSlug"];
  if (!body || body["acceptedPermissions"] !== undefined || typeof slug !== "string" || globals.dryRun) return;
  const { data } = await session.send(callOf(contract.catalog.get, [slug], {}, undefined));
  const { name, permissions } = contract.catalog.get.output.parse(data);
  const scopes = permissions.map(({ scope }) => scope);
  if (!globals.yes) {
    if (!term.interactive || globals.json)
      throw usageError(`--accepted-permission is needed. ${safeText(slug)} asks for: ${scopes.join(", ")}.`, {
        code: "missing_flags",
        hint: "Name each of them, or agree to all with --yes.",
      });
    session.out.say(
      `${safeText(name)} asks for:\n${details(
        permissions.map(({ scope, grants }) => [scope, grants]),
        term.err,
        term.columns,
      )}`,
    );
    if (!(await confirm(host, term, "Agree, and turn it on?"))) throw cancelled();
  }
  body["acceptedPermissions"] = scopes;
}
