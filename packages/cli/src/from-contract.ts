import { type Endpoint, paramNames } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { noteCommand, noteOption } from "./about.ts";
import { act, type Flags, type Run } from "./act.ts";
import { checkInput, faultOf, flagOfFields } from "./check.ts";
import { cancelled, usageError } from "./errors.ts";
import { exampleHelp } from "./examples.ts";
import { EXIT, type Exit } from "./exit.ts";
import { type Field, fieldsOf, flagSyntax, isList, showsChoices } from "./fields.ts";
import type { Placed } from "./places.ts";
import { ask, confirm } from "./prompts.ts";
import { type Call, callOf, isWrite } from "./request.ts";
import { safeText } from "./safe-text.ts";
import type { Session } from "./session.ts";
import { type Raw, readValue } from "./values.ts";
import { show, showAll } from "./views/show.ts";

/** For flags that may be repeated. */
export const collect = (text: string, before: unknown): string[] => [...((before as string[] | undefined) ?? []), text];

const describe = (field: Field): string => {
  const notes = [
    ...(field.required ? ["required"] : []),
    ...(field.kind === "list" || field.kind === "map" ? ["repeatable"] : []),
    ...(field.kind === "json" ? ["JSON or @file"] : []),
    ...(showsChoices(field) ? [(field.choices ?? []).join(", ")] : []),
    ...(field.default === undefined || field.kind === "boolean" ? [] : [`default ${String(field.default)}`]),
  ];
  return `${field.description}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`.trim();
};

/** The flag of a field, for commander. */
export const optionOf = (field: Field): Option => {
  const repeatable = field.kind === "list" || field.kind === "map";
  const option = noteOption(new Option(flagSyntax(field), describe(field)), {
    type: field.kind,
    required: field.required,
    repeatable,
    ...(field.choices ? { choices: field.choices } : {}),
    ...(field.default === undefined ? {} : { default: field.default }),
  });
  return repeatable ? option.argParser(collect) : option;
};

/** Adds a field's flag; a filter that is true or false gets `--no-…` beside it. */
const addField = (command: Command, field: Field): void => {
  const option = optionOf(field);
  if (command.options.some((o) => o.long === option.long)) throw new Error(`${command.name()}: --${field.flag} is there twice`);
  command.addOption(option);
  if (field.kind === "boolean" && field.default === undefined) command.addOption(new Option(`--no-${field.flag}`, "The opposite"));
};

const attributeOf = (field: Field): string => new Option(`--${field.flag}`).attributeName();

/** What the flags of an endpoint come to: its query and its body. */
export interface Gathered {
  query: Record<string, unknown>;
  body: Record<string, unknown> | undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads --data and the flags of the fields, flags over --data. Throws CliError. */
export const gather = async (session: Session, endpoint: Endpoint, fields: readonly Field[], flags: Flags): Promise<Gathered> => {
  const data = flags["data"] === undefined ? {} : await session.input.json(String(flags["data"]), "--data");
  if (!isObject(data)) throw usageError("--data: a JSON object is needed, { … }.");
  const gathered: Gathered = { query: {}, body: endpoint.body ? { ...data } : undefined };
  const reading = { input: session.input, serverNow: () => session.serverNow(endpoint.access === "dev") };
  for (const field of fields) {
    const raw = flags[attributeOf(field)] as Raw | undefined;
    if (raw === undefined) continue;
    const target = field.where === "query" ? gathered.query : (gathered.body ?? {});
    target[field.name] = await readValue(field, raw, reading);
  }
  return gathered;
};

/** Asks for required fields that are missing; without a terminal they are listed, exit 2. */
export const fillMissing = async (session: Session, endpoint: Endpoint, fields: readonly Field[], gathered: Gathered): Promise<void> => {
  const sideOf = (field: Field): Record<string, unknown> => (field.where === "query" ? gathered.query : (gathered.body ?? {}));
  const missing = fields.filter((f) => f.required && sideOf(f)[f.name] === undefined);
  if (missing.length === 0) return;
  if (!session.term.interactive || session.globals.json) {
    const names = missing.map((f) => `--${f.flag}`);
    throw usageError(`${names.join(", ")} ${names.length === 1 ? "is" : "are"} needed.`, {
      code: "missing_flags",
      details: missing.map((f) => ({ path: f.name, flag: `--${f.flag}`, code: "required", message: f.description || "required" })),
    });
  }
  const reading = { input: session.input, serverNow: () => session.serverNow(endpoint.access === "dev") };
  for (const field of missing) {
    let value: unknown;
    const problem = async (text: string): Promise<string | undefined> => {
      try {
        value = await readValue(field, text, reading);
      } catch (error) {
        return (error as Error).message;
      }
      return faultOf(endpoint, field, value);
    };
    const about = [field.description, field.choices?.join(", ")].filter(Boolean).join(": ");
    await ask(session.host, session.term, `${field.flag.replaceAll("-", " ")}${about === "" ? "" : ` (${about})`}:`, problem);
    sideOf(field)[field.name] = value;
  }
};

/** Asks before something is gone for good; without a terminal --yes is needed. */
const assertSure = async (session: Session, words: string, target: string): Promise<void> => {
  const { globals, term } = session;
  if (globals.yes || globals.dryRun) return;
  const what = `${words}${target === "" ? "" : ` ${target}`}`;
  if (!term.interactive || globals.json)
    throw usageError(`mailsvc ${what} cannot be undone; add --yes to do it without being asked.`, { code: "confirmation_needed" });
  if (!(await confirm(session.host, term, `mailsvc ${what} cannot be undone. Go on?`))) throw cancelled();
};

const applyPositional = (place: Placed, fields: readonly Field[], args: readonly (string | undefined)[], flags: Flags): Flags => {
  const merged: Record<string, unknown> = { ...flags };
  place.positional.forEach(({ field: name, fallback }, i) => {
    const field = fields.find((f) => f.name === name);
    if (!field) return;
    const given = args[i];
    const attribute = attributeOf(field);
    if (given !== undefined && merged[attribute] !== undefined)
      throw usageError(`${name} is given twice, as "${given}" and with --${field.flag}.`);
    // Beside --data the fallback would override what stands there.
    merged[attribute] ??= given ?? (merged["data"] === undefined ? fallback : undefined);
  });
  return merged;
};

/** Adds the --idempotency-key. */
export const withIdempotency = (session: Session, call: Call): Call =>
  session.globals.idempotencyKey ? { ...call, headers: { ...call.headers, "Idempotency-Key": session.globals.idempotencyKey } } : call;

// A long poll is answered when its own time is over; the request must outlive it.
const SLACK_MS = 10_000;

const withPollTime = (session: Session, call: Call, seconds: number): Call => ({
  ...call,
  timeoutMs: Math.max(session.settings().timeoutMs, seconds * 1000 + SLACK_MS),
});

const isLongPoll = (endpoint: Endpoint): boolean => endpoint.method === "GET" && "timeout" in (endpoint.query?.shape ?? {});

/** Exit 11 when an answer says that some of it failed, with those named on stderr. */
export const partialExit = (session: Session, data: unknown): Exit => {
  const failed: unknown = isObject(data) ? data["failed"] : undefined;
  if (!Array.isArray(failed) || failed.length === 0) return EXIT.ok;
  const { err } = session.term;
  session.out.note(`${err.yellow("partly done")} ${failed.length} failed:`);
  for (const one of failed as { to?: unknown; code?: unknown; message?: unknown }[])
    session.out.note(`  ${err.bold(safeText(String(one.to ?? "")))}  ${safeText(String(one.message ?? one.code ?? ""))}`);
  return EXIT.partial;
};

/** Sends a call and prints its answer, or prints the call with --dry-run. */
export const perform = async (session: Session, place: Placed, call: Call): Promise<Exit> => {
  if (session.globals.dryRun) {
    await session.printDryRun(call);
    return EXIT.ok;
  }
  const progress = session.progress(isLongPoll(place.endpoint) ? "Waiting" : "Asking the server");
  const answer = await session.send(call).finally(() => progress.stop());
  if (place.endpoint.produces) {
    await session.out.text(String(answer.data));
    return EXIT.ok;
  }
  await show(session, place, answer.data);
  return partialExit(session, answer.data);
};

/** Builds the command of one endpoint: its arguments, flags and work, all from the contract. */
export const commandOf = (place: Placed, run: Run): Command => {
  const { endpoint, words } = place;
  const fields = fieldsOf(endpoint);
  const command = noteCommand(new Command(words.at(-1)), place)
    .summary(endpoint.summary)
    .description([endpoint.summary, endpoint.description].filter(Boolean).join(".\n\n"));
  for (const name of paramNames(endpoint.path)) command.argument(`<${name}>`);
  for (const { field, fallback } of place.positional) {
    const about = fields.find((f) => f.name === field)?.description ?? "";
    command.argument(`[${field}]`, fallback === undefined ? about : `${about} (default "${fallback}")`);
  }
  for (const field of fields) addField(command, field);
  command.addHelpText("after", exampleHelp(place, fields));
  const list = isList(endpoint);
  if (list) command.option("--all", "Every page; in a pipe one JSON document per line");
  if (endpoint.body && fields.some((f) => f.where === "body"))
    command.option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it");
  const params = paramNames(endpoint.path).length;
  return act(command, run, isWrite(endpoint.method) ? "write" : "read", async (session, args, flags) => {
    session.flagOf = flagOfFields(fields);
    session.place = place;
    const gathered = await gather(session, endpoint, fields, applyPositional(place, fields, args.slice(params), flags));
    await fillMissing(session, endpoint, fields, gathered);
    checkInput(endpoint, gathered.query, gathered.body, session.flagOf);
    const ids = args.slice(0, params) as string[];
    const plain = callOf(endpoint, ids, gathered.query, gathered.body);
    if (endpoint.method === "DELETE" && endpoint.access !== "dev") await assertSure(session, words.join(" "), safeText(ids.join(" ")));
    const keyed = withIdempotency(session, plain);
    const call = isLongPoll(endpoint) ? withPollTime(session, keyed, Number(gathered.query["timeout"] ?? 10)) : keyed;
    if (list && flags["all"] === true && !session.globals.dryRun) return showAll(session, place, call);
    return perform(session, place, call);
  });
};
