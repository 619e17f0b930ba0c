import { Argument, Command, Option } from "commander";
import { withIdempotency } from "../contract/execute.ts";
import { collect } from "../contract/flags.ts";
import { setArgumentChoices } from "../contract/metadata.ts";
import { afterAccepted } from "../runtime/accepted.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { parseExactJson } from "../runtime/input-reader.ts";
import { isWrite } from "../runtime/request.ts";
import { isRecord } from "../text/generic.ts";
import { safeText } from "../text/safe-text.ts";
import type { Answer, Call, Session } from "../types.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** `mailsvc api <method> <path>`: sends any request, with the key, retries and errors of the other commands. */
export function apiCommand(run: Run): Command {
  const command = new Command("api")
    .description("Send any request and print the answer")
    .addArgument(setArgumentChoices(new Argument("<method>", METHODS.join(", ")), METHODS))
    .argument("<path>", "Path of the API, e.g. /api/v1/emails")
    .addOption(new Option("-d, --data <json>", "Body: JSON, @file or - for stdin"))
    .addOption(new Option("-f, --field <name=value>", "Text in the body, or in the query of a GET (repeatable)").argParser(collect))
    .addOption(new Option("-F, --json-field <name=json>", "The same with a number, true, null, a list or an object").argParser(collect))
    .addOption(new Option("-H, --header <header>", '"Name: value" (repeatable)').argParser(collect))
    .addOption(new Option("--query <name=value>", "Query field (repeatable)").argParser(collect))
    .option("--paginate", "Follow a list to its end, one JSON document per line")
    .option("-i, --include", "Print the status and headers first")
    .addHelpText(
      "after",
      '\nExamples:\n  mailsvc api GET /api/v1/emails --query status=bounced --paginate\n  mailsvc api GET /api/v1/contacts -f search=ada\n  mailsvc api POST /api/v1/senders -f domain=acme.example\n  mailsvc api POST /api/v1/contacts -f email=ada@example.com -F tags=\'["vip"]\'\n  mailsvc api POST /api/v1/senders -d \'{"domain":"acme.example"}\'',
    );
  return runAction(command, run, "write", async (session, [verb = "", path = ""], flags) => {
    const method = verb.toUpperCase();
    if (!METHODS.includes(method))
      throw usageError(
        `"${verb}" is not a method: ${METHODS.join(", ")}.`,
        verb.startsWith("/") ? { hint: `Write: mailsvc api GET ${verb}` } : {},
      );
    if (!path.startsWith("/")) throw usageError(`"${path}" is not a path. A path begins with /; the server comes from --url.`);
    if (flags["paginate"] === true && isWrite(method)) throw usageError("--paginate is for GET only.");
    const call = await buildRawCall(session, method, path, flags);
    if (session.globals.dryRun) {
      await session.printDryRun(call);
      return EXIT.ok;
    }
    if (flags["paginate"] === true) await paginate(session, call);
    else {
      const answer = await session.send(call);
      const show = (): Promise<void> => print(session, answer, flags["include"] === true);
      await (isWrite(method) ? afterAccepted(session, { data: answer.data, print: show }, show) : show());
    }
    return EXIT.ok;
  });
}

function splitPair(text: string, at: number, flag: string, example: string): [string, string] {
  if (at < 1) throw usageError(`${flag}: "${text}" must be a name and a value: ${flag} ${example}`);
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}

/** The fields of -f and -F. Throws CliError for one that is no JSON, or is given twice. */
function readFields(flags: Flags): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  const add = (name: string, value: unknown): void => {
    if (fields.has(name)) throw usageError(`The field ${name} is given twice. A list is one value: -F ${name}='["a","b"]'`);
    fields.set(name, value);
  };
  for (const text of (flags["field"] as string[] | undefined) ?? []) add(...splitPair(text, text.indexOf("="), "--field", "name=value"));
  for (const text of (flags["jsonField"] as string[] | undefined) ?? []) {
    const [name, json] = splitPair(text, text.indexOf("="), "--json-field", "name=5");
    try {
      add(name, parseExactJson(json, `--json-field ${name}`));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw usageError(`--json-field: the value of ${name} is not JSON. For text: --field ${name}=…`);
    }
  }
  return fields;
}

async function buildRawCall(session: Session, method: string, path: string, flags: Flags): Promise<Call> {
  const query: Record<string, string> = {};
  for (const text of (flags["query"] as string[] | undefined) ?? []) {
    const [name, value] = splitPair(text, text.indexOf("="), "--query", "status=queued");
    query[name] = value;
  }
  const headers: Record<string, string> = {};
  for (const text of (flags["header"] as string[] | undefined) ?? []) {
    const [name, value] = splitPair(text, text.indexOf(":"), "--header", '"Accept: application/json"');
    headers[name] = value.trim();
  }
  const fields = readFields(flags);
  if (fields.size > 0 && flags["data"] !== undefined) throw usageError("Give the body by --data, or by --field and --json-field.");
  if (!isWrite(method)) for (const [name, value] of fields) query[name] = typeof value === "string" ? value : JSON.stringify(value);
  const data = flags["data"] === undefined ? undefined : await session.input.json(String(flags["data"]), "--data");
  const body = data ?? (isWrite(method) && fields.size > 0 ? Object.fromEntries(fields) : undefined);
  return withIdempotency(session, {
    method,
    path,
    query,
    headers,
    withKey: path.startsWith("/api/"),
    ...(body === undefined ? {} : { body }),
  });
}

async function formatHead(answer: Answer): Promise<string> {
  // Loaded lazily: node:http is large, and only the status texts are needed.
  const { default: http } = await import("node:http");
  return [
    `HTTP ${answer.status} ${http.STATUS_CODES[answer.status] ?? ""}`.trim(),
    ...Object.entries(answer.headers).map(([n, v]) => `${n}: ${safeText(v)}`),
    "",
    "",
  ].join("\n");
}

async function print(session: Session, answer: Answer, include: boolean): Promise<void> {
  if (include) await session.out.text(await formatHead(answer));
  if (typeof answer.data === "string") return session.out.text(answer.data);
  if (answer.data !== undefined) await session.out.document(answer.data);
}

async function paginate(session: Session, first: Call): Promise<void> {
  const seen = new Set<string>();
  for (let call = first; ; ) {
    const { data } = await session.send(call);
    if (!isRecord(data) || !Array.isArray(data["data"])) throw usageError("--paginate: the response is not a list.");
    for (const row of data["data"]) await session.out.line(row);
    const { nextCursor } = (data["pagination"] ?? {}) as { nextCursor?: string | null };
    if (!nextCursor || seen.has(nextCursor)) return;
    seen.add(nextCursor);
    const { page: _page, ...query } = call.query;
    call = { ...call, query: { ...query, cursor: nextCursor } };
  }
}
