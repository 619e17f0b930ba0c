import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import { collect } from "../contract/flags.ts";
import type { Flags, Run } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";

/** `mailsvc agent runs log`: with flags for messages and progress, besides JSON. */
export function runLogCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, addFlagEntries)
    .option("-m, --message <text>", "A log entry (repeatable)", collect)
    .option("--percent <n>", "Progress in percent, 0 to 100")
    .addHelpText("after", `  mailsvc ${spec.words.join(" ")} run_01jc3v2m9k8q4w6x0y5z7a1b2c --message 'Wrote the headline' --percent 50`);
}

// The contract validates the rest of --data.
function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function readPercent(text: unknown): number {
  const percent = Number(text);
  if (String(text).trim() === "" || !Number.isFinite(percent)) throw usageError(`--percent: "${String(text)}" is not a number.`);
  return percent;
}

/** Adds --message and --percent to the body. Throws CliError, exit 2. */
async function addFlagEntries(_session: Session, { body }: RequestInput, flags: Flags): Promise<void> {
  if (!body) return;
  const messages = (flags["message"] as string[] | undefined) ?? [];
  if (messages.length > 0) body["entries"] = [...toArray(body["entries"]), ...messages.map((message) => ({ message }))];
  if (flags["percent"] !== undefined)
    body["progress"] = { ...(body["progress"] as object | undefined), percent: readPercent(flags["percent"]) };
}
