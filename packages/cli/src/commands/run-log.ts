import type { Command } from "commander";
import type { Flags, Run } from "../act.ts";
import { usageError } from "../errors.ts";
import { collect } from "../flags.ts";
import { commandOf } from "../from-contract.ts";
import type { Gathered } from "../gather.ts";
import type { Placed } from "../places.ts";
import type { Session } from "../session.ts";

/** `mailsvc agent runs log`: with entries and progress in words, beside JSON. */
export function runLogCommand(place: Placed, run: Run): Command {
  return commandOf(place, run, inWords)
    .option("-m, --message <text>", "An entry in words (repeatable)", collect)
    .option("--percent <n>", "How far it is, 0 to 100")
    .addHelpText("after", `  mailsvc ${place.words.join(" ")} run_01jc3v2m9k8q4w6x0y5z7a1b2c --message 'Wrote the headline' --percent 50`);
}

// What is wrong with the rest of --data is the contract's to say.
function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function readPercent(text: unknown): number {
  const percent = Number(text);
  if (String(text).trim() === "" || !Number.isFinite(percent)) throw usageError(`--percent: "${String(text)}" is not a number.`);
  return percent;
}

/** Puts --message and --percent where JSON has them. Throws CliError, exit 2. */
async function inWords(_session: Session, { body }: Gathered, flags: Flags): Promise<void> {
  if (!body) return;
  const messages = (flags["message"] as string[] | undefined) ?? [];
  if (messages.length > 0) body["entries"] = [...listed(body["entries"]), ...messages.map((message) => ({ message }))];
  if (flags["percent"] !== undefined)
    body["progress"] = { ...(body["progress"] as object | undefined), percent: readPercent(flags["percent"]) };
}
