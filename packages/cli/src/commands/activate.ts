import { contract } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Run } from "../runtime/action.ts";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { confirm } from "../runtime/prompts.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import { renderDetails } from "../text/table.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";

/** `mailsvc activations create`: asks one question instead of requiring a flag per scope. */
export function activateCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, askForConsent).addHelpText(
    "after",
    `  mailsvc ${spec.words.join(" ")} launch-writer\n\nWithout scopes, it shows the permissions the agent asks for and prompts; --yes accepts all of them.`,
  );
}

/**
 * Fills in the scopes when none are given: on a terminal, shows what the agent asks for and prompts once; --yes accepts
 * all. Throws CliError: exit 2 without a terminal, 130 when the answer is no.
 */
async function askForConsent(session: Session, { body }: RequestInput): Promise<void> {
  const { globals, host, term } = session;
  const slug = body?.["agentSlug"];
  if (!body || body["acceptedPermissions"] !== undefined || typeof slug !== "string" || globals.dryRun) return;
  const { data } = await session.send(buildCall(contract.catalog.get, [slug], {}, undefined));
  const { name, permissions } = contract.catalog.get.output.parse(data);
  const scopes = permissions.map(({ scope }) => scope);
  if (!globals.yes) {
    if (!term.interactive || globals.json)
      throw usageError(`--accepted-permission is needed. ${safeText(slug)} asks for: ${scopes.join(", ")}.`, {
        code: "missing_flags",
        hint: "Name each of them, or accept all with --yes.",
      });
    session.out.say(
      `${safeText(name)} asks for:\n${renderDetails(
        permissions.map(({ scope, grants }) => [scope, grants]),
        term.err,
        term.columns,
      )}`,
    );
    if (!(await confirm(host, term, "Accept these permissions and activate the agent?"))) throw cancelledError();
  }
  body["acceptedPermissions"] = scopes;
}
