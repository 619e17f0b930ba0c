import { isForAgents } from "@mailsvc/sdk/contract";
import { Argument, Command } from "commander";
import { noteChoices, noteCommand } from "./about.ts";
import { act, type Flags, type Run } from "./act.ts";
import { checkInput, flagOfFields } from "./check.ts";
import { addContentFile, readContentFiles } from "./content-files.ts";
import { usageError } from "./errors.ts";
import { exampleHelp } from "./examples.ts";
import { fieldsOf, isList } from "./fields.ts";
import { aboutArgument, addField } from "./flags.ts";
import { applyPositional, fillMissing, type Gathered, gather } from "./gather.ts";
import { assertSure, isLongPoll, perform, withIdempotency, withPollTime } from "./perform.ts";
import { argumentsOf, argumentTitle, type Placed } from "./places.ts";
import { callOf, isDestructive, isWrite } from "./request.ts";
import { safeText } from "./safe-text.ts";
import type { Session } from "./session.ts";
import { askedFields, takeFile } from "./upload.ts";
import { showAll } from "./views/show.ts";

const ABOUT: Readonly<Record<string, string>> = { activationId: "The agent at work: mailsvc activations list" };

/**
 * Builds the command of one endpoint: its arguments, flags and work, all from the contract. `before` may add to what was
 * gathered, before anything is asked or checked.
 */
export function commandOf(
  place: Placed,
  run: Run,
  before?: (session: Session, gathered: Gathered, flags: Flags) => Promise<void>,
): Command {
  const { endpoint, words } = place;
  const fields = fieldsOf(endpoint).filter(({ name }) => place.fixed?.[name] === undefined);
  const command = noteCommand(new Command(words.at(-1)), place)
    .summary(endpoint.summary)
    .description([endpoint.summary, endpoint.description].filter(Boolean).join(".\n\n"));
  const params = argumentsOf(endpoint);
  const titles = params.map((name) => argumentTitle(place, name));
  for (const title of titles) command.argument(`<${title}>`, ABOUT[title]);
  if (isForAgents(endpoint.access)) command.option("--activation <id>", "The activation to act for (MAILSVC_ACTIVATION_ID)");
  const given = place.positional.flatMap(({ field: name, fallback }) => {
    const field = fields.find((f) => f.name === name);
    return field ? [{ field, fallback, term: field.required && fallback === undefined ? `<${name}>` : `[${name}]` }] : [];
  });
  for (const { field, fallback } of given) {
    const about = fallback === undefined ? aboutArgument(field) : `${field.description} (default "${fallback}")`;
    command.addArgument(noteChoices(new Argument(`[${field.name}]`, about), field.choices));
  }
  // What may come as a flag instead is optional to commander, but not to people.
  command.usage(["[options]", ...titles.map((title) => `<${title}>`), ...given.map(({ term }) => term)].join(" "));
  for (const field of fields) {
    const isArgument = given.some((one) => one.field === field);
    addField(command, field, isArgument);
    addContentFile(command, field, fields);
  }
  command.addHelpText("after", exampleHelp(place, fields));
  const list = isList(endpoint);
  if (list) command.option("--all", "Every page; in a pipe one JSON document per line");
  if (endpoint.body && fields.some((f) => f.where === "body"))
    command.option("--data <json>", "The whole body: JSON, @file or - for stdin; flags override it");
  return act(command, run, isWrite(endpoint.method) ? "write" : "read", async (session, args, flags) => {
    session.flagOf = flagOfFields(fields);
    session.place = place;
    const gathered = await gather(session, endpoint, fields, applyPositional(place, fields, args.slice(params.length), flags));
    await readContentFiles(session.input, fields, flags, gathered.body ?? {});
    await before?.(session, gathered, flags);
    if (place.fixed) gathered.body = { ...gathered.body, ...place.fixed };
    await fillMissing(session, endpoint, askedFields(fields, gathered), gathered);
    const file = endpoint.file && takeFile(gathered, endpoint.file);
    checkInput(endpoint, gathered.query, gathered.body, session.flagOf);
    const named = args.slice(0, params.length) as string[];
    const ids = isForAgents(endpoint.access) ? [activationOf(session, flags), ...named] : named;
    const plain = { ...callOf(endpoint, ids, gathered.query, gathered.body), ...(file && { file }) };
    if (isDestructive(endpoint) && endpoint.access !== "dev") await assertSure(session, words.join(" "), safeText(ids.join(" ")));
    const keyed = withIdempotency(session, plain);
    const call = isLongPoll(endpoint) ? withPollTime(session, keyed, Number(gathered.query["timeout"] ?? 10)) : keyed;
    if (list && flags["all"] === true && !session.globals.dryRun) return showAll(session, place, call);
    return perform(session, place, call);
  });
}

function activationOf({ host }: Session, flags: Flags): string {
  const activation = flags["activation"] ?? host.env["MAILSVC_ACTIVATION_ID"];
  if (typeof activation === "string" && activation !== "") return activation;
  throw usageError("--activation is needed: the activation to act for, or MAILSVC_ACTIVATION_ID.", { code: "missing_flags" });
}
