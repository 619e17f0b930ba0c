import { basename } from "node:path";
import { contract } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { reportPartialFailure, withIdempotency } from "../contract/execute.ts";
import { type Field, listFields } from "../contract/fields.ts";
import { addContentFile, readContentFiles } from "../contract/files.ts";
import { buildOption, collect } from "../contract/flags.ts";
import { promptForMissing, readInput } from "../contract/input.ts";
import { setCommandMetadata, setOptionMetadata } from "../contract/metadata.ts";
import { printResult, renderResult } from "../contract/show.ts";
import { checkInput, mapPathsToFlags } from "../contract/validate.ts";
import { afterAccepted } from "../runtime/accepted.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { parseDuration } from "../runtime/settings.ts";
import { formatInstant } from "../text/units.ts";
import type { CommandSpec, Session } from "../types.ts";
import { waitAndShow } from "./delivery.ts";

const { send } = contract.emails;
const sendTemplate = contract.templates.send;

// Shorter flags for scheduledAt and attachments. An attachment is a file name instead of base64.
const FLAG_NAMES: Readonly<Record<string, string>> = { scheduledAt: "schedule", attachments: "attach", icalEvent: "ical" };

// Fields whose flag names a file.
const FILES = new Set(["attachments", "icalEvent"]);

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  to: "Recipient, up to 50; each gets a separate email, unless --together, --cc or --bcc is given",
  from: "Sender: an address, or Name <address>",
  scheduledAt: 'Send later: 2030-01-31T09:30:00Z, "in 10m" or "tomorrow 9am"',
  headers: 'Custom header, "Name: value"',
  subject: "Subject; with --template, replaces the template's",
  variables: "With --template: a variable of the template",
  recipientVariables: "With --template: variables of single recipients, by address",
};

const CONTENT = "Plain-text body; or give --html, --html-file, --text-file or --template";

/** The fields of a send, with this command's flags and descriptions: those of an inline email, then those only a template has. */
export function listSendFields(): Field[] {
  const inline = listFields(send);
  const template = listFields(sendTemplate);
  const isRequired = ({ name, required }: Field): boolean => required && template.some((f) => f.name === name && f.required);
  const more = template.filter(({ name }) => !inline.some((f) => f.name === name));
  return [...inline.map((f) => ({ ...f, required: isRequired(f) })), ...more].map(describe);
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
  mailsvc send --from hello@acme.example --to ada@example.com --cc "Grace <grace@example.com>" --bcc archive@acme.example \\
    --subject Minutes --text-file minutes.txt
  mailsvc send --from hello@acme.example --to ada@example.com --subject Review --text "Are you coming?" --ical invite.ics
  render-mail | mailsvc send --from hello@acme.example --to ada@example.com --subject News --html-file - --schedule "in 10m"
  mailsvc send --template order-shipped --to ada@example.com --variable name=Ada --variable total:=12.5

With several --to, each address gets a separate email; with --together, --cc or --bcc all get the same one. Exit code 11 when some cannot be queued.`;

/** `mailsvc send`: an inline email or a published template, with files instead of encoded content. */
export function sendCommand(spec: CommandSpec, run: Run): Command {
  const fields = listSendFields().filter((f) => !FILES.has(f.name));
  const command = setCommandMetadata(new Command(spec.words.at(-1)), spec)
    .summary(send.summary)
    .description(`${send.summary}. The content is given inline, or comes from a published template.\n\n${send.description}`)
    .addHelpText("after", EXAMPLES);
  command.addOption(setOptionMetadata(new Option("--template <slug>", "Send this published template"), { type: "text" }));
  for (const field of fields) {
    command.addOption(buildOption(field));
    addContentFile(command, field, fields);
  }
  command
    .addOption(setOptionMetadata(new Option("--ical <file>", "Invitation: a calendar with a METHOD, or - for stdin"), { type: "file" }))
    .addOption(
      setOptionMetadata(new Option("--attach <file>", "File to attach; FILE;name=…;type=…;cid=… sets more (repeatable)"), {
        type: "file",
        repeatable: true,
      }).argParser(collect),
    )
    .option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it")
    .option("--wait [time]", "Print its id, then wait until it is delivered or has failed (default 30s)");
  return runAction(command, run, "write", async (session, _args, flags) => {
    const template = flags["template"] as string | undefined;
    const endpoint = template === undefined ? send : sendTemplate;
    const own = listFields(endpoint).map(describe);
    const plain = own.filter((f) => !FILES.has(f.name));
    assertApplicable(fields, plain, flags, template);
    session.flagOf = mapPathsToFlags(own);
    session.spec = { ...spec, id: template === undefined ? spec.id : "templates.send", endpoint };
    const limitMs = parseWait(flags["wait"]);
    const input = await readInput(session, endpoint, plain, flags);
    await readBody(session, plain, flags, input.body ?? {});
    const body = input.body ?? {};
    if (limitMs !== undefined && body["scheduledAt"] !== undefined) throw usageError("--wait cannot be used with --schedule.");
    const needsContent = template === undefined && body["html"] === undefined && body["text"] === undefined;
    const asked = own.map((f) => (f.name === "text" && needsContent ? { ...f, required: true, description: CONTENT } : f));
    await promptForMissing(session, endpoint, asked, input);
    checkInput(endpoint, input.query, input.body, session.flagOf);
    const params = template === undefined ? [] : [template];
    const call = await withIdempotency(session, buildCall(endpoint, params, input.query, input.body));
    if (session.globals.dryRun) {
      await session.printDryRun(call);
      return EXIT.ok;
    }
    const progress = session.progress("Sending");
    const { data } = await session.send(call).finally(() => progress.stop());
    const shown = session.spec;
    if (limitMs === undefined) {
      await afterAccepted(session, { data, print: async () => {} }, () => printResult(session, shown, data));
      noteSchedule(session, body["scheduledAt"]);
      return reportPartialFailure(session, data);
    }
    const waited = await waitAndShow(session, data, () => renderResult(session, shown, data), limitMs);
    return reportPartialFailure(session, data) === EXIT.ok ? waited : EXIT.partial;
  });
}

/** Tells people when a mail will be sent: words such as "tomorrow 9am" were read as times of this machine's zone. */
function noteSchedule({ out, term }: Session, scheduledAt: unknown): void {
  if (typeof scheduledAt === "string" && !out.json) out.note(term.err.dim(`To be sent at ${formatInstant(scheduledAt)}.`));
}

function describe(field: Field): Field {
  return { ...field, flag: FLAG_NAMES[field.name] ?? field.flag, description: DESCRIPTIONS[field.name] ?? field.description };
}

/** Refuses flags of an inline email with --template, and flags of a template without it. Throws CliError, exit 2. */
function assertApplicable(all: readonly Field[], own: readonly Field[], flags: Flags, template: string | undefined): void {
  const names = new Set(own.map((f) => f.name));
  for (const field of all) {
    if (names.has(field.name)) continue;
    const given = [field.flag, `${field.flag}-file`].find((flag) => flags[new Option(`--${flag}`).attributeName()] !== undefined);
    if (given === undefined) continue;
    throw usageError(template === undefined ? `--${given} needs --template.` : `--${given} cannot be used with --template.`);
  }
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
  const calendar = flags["ical"];
  if (typeof calendar === "string") {
    const content = await session.input.text(calendar, "--ical");
    body["icalEvent"] = { content, ...(calendar === "-" ? {} : { filename: basename(calendar) }) };
  }
  const files = flags["attach"] as readonly string[] | undefined;
  if (!files) return;
  const attachments: Record<string, string>[] = [];
  for (const file of files) attachments.push(await readAttachment(session, file));
  body["attachments"] = attachments;
}

function parseWait(flag: unknown): number | undefined {
  return flag === undefined ? undefined : parseDuration(flag === true ? "30s" : String(flag), "--wait");
}
