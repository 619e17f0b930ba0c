import { Command, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import { addLocation, readLocation } from "./location.ts";

/** `mailsvc recover-key`: makes another owner or operator key when the first one is lost. It works on the data itself, without a server. */
export function recoverKeyCommand(run: Run): Command {
  const command = new Command("recover-key")
    .description("Create another owner or operator key in the data itself, when the first one is lost; stop the server first")
    .addOption(new Option("--workspace <id>", "Workspace that gets the key (default: the first one)"))
    .option("--operator", "Make a new operator key instead; the lost one is refused from then on")
    .addHelpText("after", "  mailsvc recover-key --data /var/lib/mailsvc\n  mailsvc recover-key --operator --data /var/lib/mailsvc");
  addLocation(command);
  return runAction(command, run, "local", async ({ host, out, term }, _args, flags): Promise<Exit> => {
    const { recoverOperatorKey, recoverOwnerKey } = await import("@mailsvc/server");
    const workspace = flags["workspace"];
    if (flags["operator"] === true) {
      if (workspace !== undefined) throw usageError("--operator takes no --workspace: the operator key is that of the whole installation.");
      const operatorKey = await recoverOperatorKey(readLocation(host, flags)).catch(explainError);
      await out.data({ operatorKey }, () => safeText(operatorKey));
      out.note("Store the key now: it is not shown again. The operator key before it is no longer valid.");
      return EXIT.ok;
    }
    const found = await recoverOwnerKey({
      ...readLocation(host, flags),
      workspaceId: workspace === undefined ? null : String(workspace),
    }).catch(explainError);
    await out.data(found, () => safeText(found.apiKey));
    out.note(`${term.err.dim("Workspace")}  ${found.workspaceId}`);
    out.note("Store the key now: it is not shown again. Existing keys stay valid; revoke those that leaked with mailsvc keys revoke.");
    return EXIT.ok;
  });
}

function explainError(error: unknown): never {
  const { name, message, code } = error as Error & { code?: string };
  if (name === "StorageUnavailable") throw new CliError({ code: "storage_unavailable", message, exit: EXIT.network });
  if (code === "not_found") throw new CliError({ code, message, exit: EXIT.usage });
  throw error;
}
