import type { Command } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import { printResult } from "../contract/show.ts";
import type { Flags, Run } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { parseExactJson } from "../runtime/input-reader.ts";
import { isRecord } from "../text/generic.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";

/** A batch whose items come from a file: the field that has them, and flags of the example. */
interface BatchFile {
  readonly items: "emails" | "events";
  readonly example: string;
}

/** `mailsvc emails batch` and `mailsvc events track-batch`: the items come from a file. Exit code 11 when some of them failed. */
export function batchCommand({ items, example }: BatchFile): (spec: CommandSpec, run: Run) => Command {
  return (spec, run) =>
    buildEndpointCommand(
      spec,
      run,
      (session, request, flags) => readItems(items, session, request, flags),
      (session, data) => printBatch(session, spec, data as { readonly failed: number }),
    )
      .option("--file <file>", `The ${items}: a JSON array, or a JSON object on each line; - for stdin`)
      .addHelpText("after", `  mailsvc ${spec.words.join(" ")} ${example}`);
}

/** Takes the items from --file. Throws CliError, exit 2. */
async function readItems(items: BatchFile["items"], { input }: Session, { body }: RequestInput, flags: Flags): Promise<void> {
  const file = flags["file"] as string | undefined;
  if (!body || file === undefined) return;
  if (body[items] !== undefined) throw usageError(`--file and --${items}, or ${items} in --data, cannot be used together.`);
  body[items] = parseItems(items, await input.text(file, "--file"));
}

function parseItems(items: BatchFile["items"], text: string): unknown[] {
  const whole = parseJson(text);
  if (whole === undefined) return parseLines(text);
  if (Array.isArray(whole)) return whole;
  return isRecord(whole) && Array.isArray(whole[items]) ? whole[items] : [whole];
}

function parseLines(text: string): unknown[] {
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "") return [];
    const item = parseJson(line);
    if (item === undefined)
      throw usageError(`--file: line ${i + 1} is not JSON.`, { hint: "Use a JSON array, or one object on each line." });
    return [item];
  });
}

/** The value of a JSON text; undefined for what is none. */
function parseJson(text: string): unknown {
  try {
    return parseExactJson(text, "--file");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

async function printBatch(session: Session, spec: CommandSpec, answer: { readonly failed: number }): Promise<Exit> {
  await printResult(session, spec, answer);
  return answer.failed > 0 ? EXIT.partial : EXIT.ok;
}
