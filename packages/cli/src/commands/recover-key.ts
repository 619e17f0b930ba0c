import { Command, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../runtime/safe-text.ts";
import { addLocation, readLocation } from "./location.ts";

/** `mailsvc recover-key`: makes another owner key when the first one is lost. It works on the data itself, without a server. */
export function recoverKeyCommand(run: Run): Command {
  const command = new Command("recover-key")
    .description("Create another owner key in the data itself, when the first one is lost; stop the server first")
    .addOption(new Option("--workspace <id>", "Workspace that gets the key (default: the first one)"))
    .addHelpText("after", "  mailsvc recover-key --data /var/lib/mailsvc");
  addLocation(command);
  return runAction(command, run, "local", async ({ host, out, term }, _args, flags): Promise<Exit> => {
    const { recoverOwnerKey } = await import("@mailsvc/server");
    const workspace = flags["workspace"];
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
