import type { BatchResponse } from "@mailsvc/sdk/contract";
import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import type { Flags, Run } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";
import { isRecord } from "../views/generic.ts";
import { printResult } from "../views/show.ts";

/** `mailsvc emails batch`: the emails come from a file. Exit code 11 when some of a permissive batch could not be queued. */
export function batchCommand(spec: CommandSpec, run: Run): Command {
  return buildEndpointCommand(spec, run, readEmails, (session, data) => printBatch(session, spec, data as BatchResponse))
    .option("--file <file>", "The emails: a JSON array, or a JSON object on each line; - for stdin")
    .addHelpText("after", `  mailsvc ${spec.words.join(" ")} --file mails.ndjson --mode permissive`);
}

/** Takes the emails from --file. Throws CliError, exit 2. */
async function readEmails({ input }: Session, { body }: RequestInput, flags: Flags): Promise<void> {
  const file = flags["file"] as string | undefined;
  if (!body || file === undefined) return;
  if (body["emails"] !== undefined) throw usageError("--file and --emails, or emails in --data, cannot be used together.");
  body["emails"] = parseEmails(await input.text(file, "--file"));
}

function parseEmails(text: string): unknown[] {
  const whole = parseJson(text);
  if (whole === undefined) return parseLines(text);
  if (Array.isArray(whole)) return whole;
  return isRecord(whole) && Array.isArray(whole["emails"]) ? whole["emails"] : [whole];
}

function parseLines(text: string): unknown[] {
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "") return [];
    const email = parseJson(line);
    if (email === undefined)
      throw usageError(`--file: line ${i + 1} is not JSON.`, { hint: "Use a JSON array, or one object on each line." });
    return [email];
  });
}

/** The value of a JSON text; undefined for what is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function printBatch(session: Session, spec: CommandSpec, answer: BatchResponse): Promise<Exit> {
  await printResult(session, spec, answer);
  return answer.failed > 0 ? EXIT.partial : EXIT.ok;
}
