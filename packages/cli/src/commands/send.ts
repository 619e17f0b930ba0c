import { basename } from "node:path";
import { contract } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { reportPartialFailure, withIdempotency } from "../contract/execute.ts";
import { type Field, listFields } from "../contract/fields.ts";
import { addContentFile, readContentFiles } from "../contract/files.ts";
import { buildOption, collect } from "../contract/flags.ts";
import { promptForMissing, readInput } from "../contract/input.ts";
import { setCommandMetadata, setOptionMetadata } from "../contract/metadata.ts";
import { checkInput, mapPathsToFlags } from "../contract/validate.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { parseDuration } from "../runtime/settings.ts";
import type { CommandSpec, Session } from "../types.ts";
import { printResult } from "../views/show.ts";
import { waitAndShow } from "./delivery.ts";

const { send } = contract.emails;

// Shorter flags for scheduledAt and attachments. An attachment is a file name instead of base64.
const FLAG_NAMES: Readonly<Record<string, string>> = { scheduledAt: "schedule", attachments: "attach" };

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  to: "Recipient, up to 50; each gets a separate email",
  from: "Sender: an address, or Name <address>",
  scheduledAt: 'Send later: 2030-01-31T09:30:00Z, or "in 10m"',
  headers: 'Custom header, "Name: value"',
};

const CONTENT = "Plain-text body; or give --html, --html-file or --text-file";

/** The fields of a send, with this command's flags and descriptions. */
export function listSendFields(): Field[] {
  return listFields(send).map((f) => ({ ...f, flag: FLAG_NAMES[f.name] ?? f.flag, description: DESCRIPTIONS[f.name] ?? f.description }));
}

interface FileSpec {
  path: string;
  name?: string;
  type?: string;
  cid?: string;
}

/** Parses `FILE;name=…;type=…;cid=…`. Only these three are removed from the end, so a path may contain a semicolon. */
export function readFileSpec(text: string): FileSpec {
  const spec: FileSpec = { path: text };
  for (;;) {
    const match = /^(.+);(name|type|cid)=([^;]*(?:; ?charset=[^;]+)?)$/s.exec(spec.path);
    const [, rest, word, value] = match ?? [];
    if (rest === undefined || word === undefined || value === undefined) return spec;
    spec.path = rest;
    spec[word as "name" | "type" | "cid"] = value;
  }
}

const EXAMPLES = `
Examples:
  mailsvc send --from hello@acme.example --to ada@example.com --subject Hello --text "It works."
  mailsvc send --from "Acme <hello@acme.example>" --to ada@example.com --to grace@example.com \\
    --subject Report --html-file mail.html --attach report.pdf --tag kind=report
  render-mail | mailsvc send --from hello@acme.example --to ada@example.com --subject News --html-file - --schedule "in 10m"

With several --to, each address gets a separate email. Exit code 11 when some cannot be queued.`;

/** `mailsvc send`: every field of the contract, with files instead of encoded content. */
export function sendCommand(words: readonly string[], run: Run): Command {
  const fields = listSendFields();
  const plain = fields.filter((f) => f.name !== "attachments");
  const command = setCommandMetadata(new Command(words.at(-1)), buildSpec(words))
    .summary(send.summary)
    .description(`${send.summary}.\n\n${send.description}`)
    .addHelpText("after", EXAMPLES);
  for (const field of plain) {
    command.addOption(buildOption(field));
    addContentFile(command, field, plain);
  }
  command
    .addOption(
      setOptionMetadata(new Option("--attach <file>", "File to attach; FILE;name=…;type=…;cid=… sets more (repeatable)"), {
        type: "file",
        repeatable: true,
      }).argParser(collect),
    )
    .option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it")
    .option("--wait [time]", "Wait until it is delivered or has failed (default 30s)");
  return runAction(command, run, "write", async (session, _args, flags) => {
    session.flagOf = mapPathsToFlags(fields);
    session.spec = buildSpec(words);
    const limitMs = parseWait(flags["wait"]);
    const gathered = await readInput(session, send, plain, flags);
    await readBody(session, plain, flags, gathered.body ?? {});
    const body = gathered.body ?? {};
    if (limitMs !== undefined && body["scheduledAt"] !== undefined) throw usageError("--wait cannot be used with --schedule.");
    const empty = body["html"] === undefined && body["text"] === undefined;
    const asked = fields.map((f) => (f.name === "text" && empty ? { ...f, required: true, description: CONTENT } : f));
    await promptForMissing(session, send, asked, gathered);
    checkInput(send, gathered.query, gathered.body, session.flagOf);
    const call = withIdempotency(session, buildCall(send, [], gathered.query, gathered.body));
    if (session.globals.dryRun) {
      await session.printDryRun(call);
      return EXIT.ok;
    }
    const progress = session.progress("Sending");
    const { data } = await session.send(call).finally(() => progress.stop());
    if (limitMs === undefined) {
      await printResult(session, buildSpec(words), data);
      return reportPartialFailure(session, data);
    }
    const waited = await waitAndShow(session, data, limitMs);
    return reportPartialFailure(session, data) === EXIT.ok ? waited : EXIT.partial;
  });
}

function buildSpec(words: readonly string[]): CommandSpec {
  return { id: "emails.send", endpoint: send, words, positional: [] };
}

async function readAttachment(session: Session, text: string): Promise<Record<string, string>> {
  const spec = readFileSpec(text);
  if (spec.path === "-" && !spec.name) throw usageError("--attach -: a file from stdin needs a name: --attach '-;name=report.pdf'");
  const content = await session.input.bytes(spec.path, "--attach");
  return {
    filename: spec.name ?? basename(spec.path),
    content: content.toString("base64"),
    ...(spec.type ? { contentType: spec.type } : {}),
    ...(spec.cid ? { contentId: spec.cid } : {}),
  };
}

async function readBody(session: Session, fields: readonly Field[], flags: Flags, body: Record<string, unknown>): Promise<void> {
  await readContentFiles(session.input, fields, flags, body);
  const files = flags["attach"] as readonly string[] | undefined;
  if (!files) return;
  const attachments: Record<string, string>[] = [];
  for (const file of files) attachments.push(await readAttachment(session, file));
  body["attachments"] = attachments;
}

function parseWait(flag: unknown): number | undefined {
  return flag === undefined ? undefined : parseDuration(flag === true ? "30s" : String(flag), "--wait");
}
