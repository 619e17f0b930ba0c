import { Command, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { addLocation, readLocation } from "./location.ts";

const LOOK_MS = 500;
// On Postgres the servers give each other twice ten seconds.
const LOOKS = 90;

/** `mailsvc rotate-key`: replaces the key that encrypts secrets, while servers run. */
export function rotateKeyCommand(run: Run): Command {
  const command = new Command("rotate-key")
    .description("Replace the key that encrypts secrets, while servers run; links in mail that was sent stay valid")
    .addOption(new Option("--forget-old", "Give up the keys before the current one instead: links signed by them end"))
    .addHelpText("after", "  mailsvc rotate-key --data /var/lib/mailsvc\n  mailsvc rotate-key --forget-old --database-url $DATABASE_URL");
  addLocation(command);
  return runAction(command, run, "local", async ({ host, out, term, signal }, _args, flags): Promise<Exit> => {
    const { isKeyRotated, rotateMasterKey } = await import("@mailsvc/server");
    const location = readLocation(host, flags);
    await rotateMasterKey({ ...location, forget: flags["forgetOld"] === true }).catch(explainError);
    let done = false;
    for (let n = 0; n < LOOKS && !done && !signal.aborted; n += 1) {
      await host.sleep(LOOK_MS, signal);
      done = await isKeyRotated(location).catch(explainError);
    }
    await out.data({ done }, () => (done ? term.out.green("Replaced") : "The change is noted."));
    if (!done) out.note("No server has carried it out yet. A server that runs does so within seconds, otherwise the next start.");
    return EXIT.ok;
  });
}

function explainError(error: unknown): never {
  const { name, message } = error as Error;
  if (name === "RotationRefused") throw usageError(message, { code: "rotation_refused" });
  if (name === "StorageUnavailable" || name === "KeyMissing")
    throw new CliError({ code: "storage_unavailable", message, exit: EXIT.network });
  throw error;
}
