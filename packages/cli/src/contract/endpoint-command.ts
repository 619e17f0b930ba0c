import { isForAgents } from "@mailsvc/sdk/contract";
import { Argument, Command } from "commander";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import type { Exit } from "../runtime/exit.ts";
import { buildCall, isDestructive, isWrite } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import type { Call, CommandSpec, RequestInput, Session } from "../types.ts";
import { getArgumentTitle, listPathArguments } from "./command-map.ts";
import { formatExamples } from "./examples.ts";
import { confirmDestructive, execute, isLongPoll, withIdempotency } from "./execute.ts";
import { type Field, isPaginated, listFields } from "./fields.ts";
import { addContentFile, extractFile, readContentFiles, requireFileOrContent } from "./files.ts";
import { addField, describeArgument } from "./flags.ts";
import { followStream } from "./follow.ts";
import { markArguments, mergeArguments, promptForMissing, readInput } from "./input.ts";
import { setArgumentChoices, setCommandMetadata } from "./metadata.ts";
import { describeName, resolveNames } from "./names.ts";
import { printAllPages } from "./show.ts";
import { checkInput, mapPathsToFlags } from "./validate.ts";

const ABOUT: Readonly<Record<string, string>> = { activationId: "Id of the activation: mailsvc activations list" };

/**
 * Builds the command of one endpoint from the contract: its arguments, flags and action. `before` gets the arguments of the path besides, and may add to the input
 * before the command prompts for missing fields and validates. `instead` gets the response and the call, and returns null to have it printed.
 */
export function buildEndpointCommand(
  spec: CommandSpec,
  run: Run,
  before?: (session: Session, gathered: RequestInput, flags: Flags, named: readonly string[]) => Promise<void>,
  instead?: (session: Session, data: unknown, flags: Flags, call: Call) => Promise<Exit | null>,
): Command {
  const { endpoint, words } = spec;
  const fields = listFields(endpoint).filter(({ name }) => spec.fixed?.[name] === undefined);
  const command = setCommandMetadata(new Command(words.at(-1)), spec)
    .summary(endpoint.summary)
    .description([endpoint.summary, endpoint.description].filter(Boolean).join(".\n\n"));
  const params = listPathArguments(endpoint);
  const titles = params.map((name) => getArgumentTitle(spec, name));
  const label = describeName(endpoint.path);
  titles.forEach((title, i) => {
    command.argument(`<${title}>`, ABOUT[title] ?? (i === 0 && label !== undefined ? `Id or ${label}` : ""));
  });
  if (isForAgents(endpoint.access)) command.option("--activation <id>", "The activation to act for (MAILSVC_ACTIVATION_ID)");
  const given = spec.positional.flatMap(({ field: name, fallback }) => {
    const field = fields.find((f) => f.name === name);
    return field ? [{ field, fallback, term: formatTerm(field, fallback) }] : [];
  });
  for (const { field, fallback } of given) {
    const about = fallback === undefined ? describeArgument(field) : `${field.description} (default "${fallback}")`;
    command.addArgument(setArgumentChoices(new Argument(`[${field.name}${field.kind === "list" ? "..." : ""}]`, about), field.choices));
  }
  // An argument that may also be given as a flag is optional for commander; the usage line still shows it as required.
  command.usage(["[options]", ...titles.map((title) => `<${title}>`), ...given.map(({ term }) => term)].join(" "));
  for (const field of fields) {
    const isArgument = given.some((one) => one.field === field);
    addField(command, field, isArgument);
    addContentFile(command, field, fields);
  }
  command.addHelpText("after", formatExamples(spec, fields));
  const list = isPaginated(endpoint);
  if (list) command.option("--all", "All pages; in a pipe, one JSON document per line");
  if (endpoint.body && fields.some((f) => f.where === "body"))
    command.option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it");
  return runAction(command, run, isWrite(endpoint.method) ? "write" : "read", async (session, args, flags) => {
    const extra = args.slice(params.length);
    const asGiven = markArguments(spec, fields, extra);
    session.flagOf = mapPathsToFlags(asGiven);
    session.spec = spec;
    const gathered = await readInput(session, endpoint, asGiven, mergeArguments(spec, fields, extra, flags));
    await readContentFiles(session.input, fields, flags, gathered.body ?? {});
    const named = args.slice(0, params.length) as string[];
    await before?.(session, gathered, flags, named);
    if (spec.fixed) gathered.body = { ...gathered.body, ...spec.fixed };
    await promptForMissing(session, endpoint, requireFileOrContent(fields, gathered), gathered);
    const file = endpoint.file && extractFile(gathered, endpoint.file);
    checkInput(endpoint, gathered.query, gathered.body, session.flagOf);
    const ids = isForAgents(endpoint.access) ? [getActivation(session, flags), ...named] : await resolveNames(session, endpoint, named);
    const plain = { ...buildCall(endpoint, ids, gathered.query, gathered.body), ...(file && { file }) };
    if (isDestructive(endpoint)) await confirmDestructive(session, words.join(" "), safeText(named.join(" ")));
    const keyed = await withIdempotency(session, plain);
    const call = isLongPoll(endpoint) ? { ...keyed, waitSeconds: Number(gathered.query["timeout"] ?? 10) } : keyed;
    if (endpoint.stream && !session.globals.dryRun) return followStream(session, spec.id, ids, call.query);
    if (list && flags["all"] === true && !session.globals.dryRun) return printAllPages(session, spec, call);
    return execute(session, spec, call, instead && ((data) => instead(session, data, flags, call)));
  });
}

/** `<name>`, `[name]` or `<names...>`, for the usage line. */
function formatTerm({ name, kind, required }: Field, fallback: string | undefined): string {
  const term = kind === "list" ? `${name}...` : name;
  return required && fallback === undefined ? `<${term}>` : `[${term}]`;
}

function getActivation({ host }: Session, flags: Flags): string {
  const activation = flags["activation"] ?? host.env["MAILSVC_ACTIVATION_ID"];
  if (typeof activation === "string" && activation !== "") return activation;
  throw usageError("--activation or MAILSVC_ACTIVATION_ID is required: the activation to act for.", { code: "missing_flags" });
}
