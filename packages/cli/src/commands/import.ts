import { resolve } from "node:path";
import { contract, SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { noteCommand, noteOption, type OptionFacts } from "../about.ts";
import { act, type Flags, type Run } from "../act.ts";
import { CliError, failureOf, invalidInput, usageError } from "../errors.ts";
import { EXIT, type Exit } from "../exit.ts";
import { collect } from "../flags.ts";
import { type Checkpoint, checkpointAt, type Progress } from "../import/checkpoint.ts";
import { resolverOf } from "../import/columns.ts";
import { decode, ENCODINGS, type Encoding } from "../import/decode.ts";
import { type Ending, runImport, type Standing } from "../import/importer.ts";
import { CONTACTS, type ImportFlags, type Kind, SUPPRESSIONS } from "../import/kind.ts";
import { rejectsFile } from "../import/rejects.ts";
import { openSource, type Source } from "../import/source.ts";
import { asJson, asText, columnsIn, number, type ShownFault, type Summary, shownFaults } from "../import/summary.ts";
import { FORMATS, type Format, openTable, type Table } from "../import/table.ts";
import { GUESSED, type Guessed } from "../import/typed.ts";
import { watchImport } from "../import/watch.ts";
import type { Placed } from "../places.ts";
import { callOf } from "../request.ts";
import type { Session } from "../session.ts";
import { checkChoice } from "../values.ts";

const CONCURRENCY = 4;
const KEPT_ERRORS = 100;

/** A flag that takes one of a few words. */
export const choice = (syntax: string, about: string, choices: readonly string[], fallback?: string): Option => {
  const option = new Option(syntax, `${about} (${choices.join(", ")}${fallback === undefined ? "" : `; default ${fallback}`})`);
  const facts: OptionFacts = { type: "enum", choices, ...(fallback === undefined ? {} : { default: fallback }) };
  return noteOption(option, facts).argParser((word: string) => checkChoice(option.name(), word, choices));
};
const file = (syntax: string, about: string): Option => noteOption(new Option(syntax, about), { type: "file" });
const amount = (syntax: string, about: string): Option => noteOption(new Option(syntax, about), { type: "number" });

const addOptions = (command: Command, kind: Kind): void => {
  const options = [
    ...(kind === CONTACTS
      ? [choice("--mode <mode>", "Contacts that exist: update or leave them", ["upsert", "skip"], "upsert")]
      : [
          choice("--reason <reason>", "Reason of rows that give none", SUPPRESSION_REASONS),
          choice("--scope <scope>", "Scope of rows that give none", SUPPRESSION_SCOPES),
        ]),
    noteOption(new Option("--dry-run", "Check every row, here and at the server, and store nothing"), { type: "boolean" }),
    noteOption(
      new Option(
        "--map <column=field>",
        `Where a column goes: ${kind.fields.join(", ")}${kind.custom ? ", custom.NAME" : ""}, or - to leave it out; #3 is the third column (repeatable)`,
      ),
      {
        type: "text",
        repeatable: true,
      },
    ).argParser(collect),
    ...(kind.custom
      ? [
          choice("--custom-fields <what>", "Columns that are no field", ["keep", "ignore"], "keep"),
          noteOption(
            new Option("--types <kinds>", `What may be recognised in custom fields: ${GUESSED.join(", ")}, all; texts otherwise`),
            { type: "text" },
          ),
        ]
      : []),
    choice("--format <format>", "Found out unless said", FORMATS),
    choice("--encoding <encoding>", "Found out unless said", ENCODINGS),
    noteOption(new Option("--separator <character>", "Between cells: , ; | or tab; found out unless said"), { type: "text" }),
    noteOption(new Option("--header <names>", "Names of the columns, for a file whose first line is a row"), { type: "text" }),
    noteOption(new Option("--no-guard", "Take ' before = + - @ as it stands"), { type: "boolean" }),
    file("--errors-file <file>", "Write rows that fail there, with the reason, to be corrected and imported again"),
    amount("--max-errors <n>", "Stop when more rows than this have failed"),
    amount("--concurrency <n>", `Requests at a time (1 to 16; default ${CONCURRENCY})`),
    amount("--batch <n>", `Rows in a request (1 to ${kind.limit}; default ${kind.limit})`),
    file("--resume-file <file>", "Where to note how far the import is (FILE.import beside the file)"),
    noteOption(new Option("--restart", "Begin anew, whatever is noted there"), { type: "boolean" }),
  ];
  for (const option of options) command.addOption(option);
};

const whole = (flags: Flags, name: string, flag: string, low: number, high: number, fallback: number): number => {
  const text = flags[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(String(text)) || value < low || value > high)
    throw usageError(`${flag}: "${String(text)}" is no number from ${number(low)} to ${number(high)}.`);
  return value;
};

const typesOf = (text: unknown): Set<Guessed> => {
  const words = text === undefined ? [] : String(text).split(",");
  const found = words.flatMap((word): readonly Guessed[] => {
    const name = word.trim().toLowerCase();
    const known = name === "all" ? GUESSED : GUESSED.filter((kind) => kind === name || kind === `${name}s`);
    if (known.length === 0) throw usageError(`--types: "${word}" is not one of ${GUESSED.join(", ")}, all.`);
    return known;
  });
  return new Set(found);
};

/** The character of --separator, by itself or by its name. Throws CliError. */
export const separatorFlag = (text: unknown): string | undefined => {
  if (text === undefined) return undefined;
  const separator = /^(?:tab|\\t)$/i.test(String(text)) ? "\t" : String(text);
  if (separator.length !== 1 || /["\r\n\w]/.test(separator))
    throw usageError(`--separator: "${separator}" is not one character such as , ; | or tab.`);
  return separator;
};

interface Plan {
  kind: Kind;
  source: Source;
  table: Table;
  flags: ImportFlags;
  checkpoint: Checkpoint | null;
  from: Progress;
  errorsFile: string | null;
  batchSize: number;
  concurrency: number;
  maxErrors: number;
}

/** What must be the same for an import to go on: the server, the workspace, and the flags that decide what is sent. */
const identity = async (session: Session, kind: Kind, flags: Flags): Promise<string> => {
  const { workspace } = (await session.send(callOf(contract.me.get, [], {}, undefined))).data as { workspace: { id: string } };
  const names = ["mode", "map", "customFields", "types", "format", "encoding", "separator", "header", "guard", "batch", "reason", "scope"];
  const said = Object.fromEntries(names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
  return `${kind.noun} into ${workspace.id} at ${session.settings().url} ${JSON.stringify(said)}`;
};

const progressFrom = async (session: Session, kind: Kind, flags: Flags, checkpoint: Checkpoint | null): Promise<Progress> => {
  const startedAt = new Date(session.host.now()).toISOString();
  const fresh: Progress = { version: 1, startedAt, for: "", batches: 0, chain: "", rows: 0, failed: 0, counts: {}, errorsBytes: 0 };
  if (!checkpoint) return fresh;
  fresh.for = await identity(session, kind, flags);
  const noted = flags["restart"] === true ? null : checkpoint.load();
  if (noted && noted.for !== fresh.for)
    throw usageError(`${checkpoint.path} belongs to another import.`, {
      code: "other_import",
      hint: `It was begun as: ${noted.for}. This is: ${fresh.for}. Begin anew with --restart, or keep them apart with --resume-file.`,
    });
  if (noted) return noted;
  checkpoint.save(fresh);
  return fresh;
};

const planOf = async (session: Session, kind: Kind, given: string, flags: Flags): Promise<Plan> => {
  const { host } = session;
  const dryRun = flags["dryRun"] === true || session.globals.dryRun;
  const sides = {
    batchSize: whole(flags, "batch", "--batch", 1, kind.limit, kind.limit),
    concurrency: whole(flags, "concurrency", "--concurrency", 1, 16, CONCURRENCY),
    maxErrors: whole(flags, "maxErrors", "--max-errors", 0, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY),
  };
  const resolver = resolverOf(kind, { map: (flags["map"] as string[] | undefined) ?? [], keepCustom: flags["customFields"] !== "ignore" });
  const text = {
    format: flags["format"] as Format | undefined,
    encoding: flags["encoding"] as Encoding | undefined,
    separator: separatorFlag(flags["separator"]),
    header: flags["header"] as string | undefined,
  };
  const defaults = Object.fromEntries(["reason", "scope"].flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
  const cells = { types: typesOf(flags["types"]), guarded: flags["guard"] !== false, defaults };
  const source = openSource(session, given);
  // A file is read once before anything is sent: half an import is a poor way to learn that the text is in another encoding.
  if (source.path !== null) for await (const _ of decode(source.name, source.bytes(), text.encoding)) if (session.signal.aborted) break;
  const table = await openTable(source, kind, resolver, text, cells);
  const noteIn = (flags["resumeFile"] as string | undefined) ?? (source.path === null ? undefined : `${source.path}.import`);
  const checkpoint = dryRun || noteIn === undefined ? null : checkpointAt(resolve(host.cwd, noteIn));
  const from = await progressFrom(session, kind, flags, checkpoint);
  const errorsFile = flags["errorsFile"] === undefined ? null : resolve(host.cwd, String(flags["errorsFile"]));
  if (errorsFile !== null && errorsFile === source.path)
    throw usageError("--errors-file must be another file than the one that is imported.");
  return {
    kind,
    source,
    table,
    flags: { mode: flags["mode"] === "skip" ? "skip" : "upsert", dryRun },
    checkpoint,
    from,
    errorsFile,
    ...sides,
  };
};

const AGAIN = "The same command goes on where it stopped; --restart begins anew.";

const exitOf = ({ why }: Ending, { rows, failed }: Standing): Exit => {
  if (why === "cancelled") return EXIT.cancelled;
  if (failed === 0) return EXIT.ok;
  return failed === rows ? EXIT.validation : EXIT.partial;
};

/** Explains why an import ended before the end of its file. */
const explain = (session: Session, plan: Plan, ending: Ending, done: number): void => {
  const again = plan.checkpoint ? AGAIN : undefined;
  if (ending.why === "too_many_errors")
    session.out.fail(
      { code: "too_many_errors", message: `More than ${number(plan.maxErrors)} rows failed.`, exit: EXIT.partial, hint: again },
      session.globals.json,
    );
  if (ending.why === "cancelled" && done > 0) session.out.note(again ?? "Nothing is noted of how far it came.");
  if (ending.why !== "failed") return;
  const failure = failureOf(ending.error, undefined, session.settings().url);
  throw new CliError({ ...failure, hint: [failure.hint, again].filter(Boolean).join(" ") });
};

const importFile = async (session: Session, kind: Kind, given: string, flags: Flags): Promise<Exit> => {
  const { host, out, term } = session;
  const plan = await planOf(session, kind, given, flags);
  const { source, table, from, checkpoint } = plan;
  const began = host.now();
  const standing: Standing = {
    rows: from.rows,
    failed: from.failed,
    counts: from.counts,
    consumed: 0,
    resumedAt: from.rows,
    resumedBytes: 0,
    stopping: false,
  };
  if (from.rows > 0) out.note(`Going on after row ${number(from.rows)}; ${checkpoint?.path} says how far it was.`);
  const rejects = plan.errorsFile === null ? null : rejectsFile(plan.errorsFile, table, from.errorsBytes);
  const watch = await watchImport(session, kind, source, standing, plan.flags.dryRun);
  const errors: ShownFault[] = [];
  const ending = await runImport({
    ...plan,
    session,
    rejects,
    standing,
    onRejects: (some) => {
      watch.rejects(some);
      for (const reject of some) if (errors.length < KEPT_ERRORS) errors.push(...shownFaults(reject));
    },
  }).finally(async () => {
    rejects?.close();
    await watch.end();
  });
  const complete = ending.why === "done";
  if (complete) checkpoint?.remove();
  if (complete && standing.rows === 0)
    throw invalidInput(`${source.name} has no rows.`, [], { code: "empty_file", hint: "Below the line with the names there is nothing." });
  const summary: Summary = {
    file: source.name,
    dryRun: plan.flags.dryRun,
    complete,
    rows: standing.rows,
    counts: standing.counts,
    failed: standing.failed,
    resumedAt: standing.resumedAt,
    columns: columnsIn(table.names, table.places),
    errors,
    errorsFile: plan.errorsFile,
    resumeFile: complete ? null : (checkpoint?.path ?? null),
  };
  const seconds = (host.now() - began) / 1000;
  if (ending.why !== "failed" || standing.rows > 0)
    await out.data(asJson(summary, kind), () => asText(summary, kind, ending, seconds, term.out));
  explain(session, plan, ending, standing.rows);
  return ending.why === "too_many_errors" ? EXIT.partial : exitOf(ending, standing);
};

const EXAMPLES = {
  contacts: `
Examples:
  mailsvc contacts import people.csv --dry-run
  mailsvc contacts import people.csv --errors-file failed.csv
  mailsvc contacts import export.csv --map "Contact=email" --map "Joined=custom.joined:date" --types numbers
  zcat people.ndjson.gz | mailsvc contacts import - --mode skip

Exit code 0 when all rows are in, 11 when some failed, 3 when none could be used. An import that was cut off goes on
with the same command. docs/importing.md says how each cell is read.`,
  suppressions: `
Examples:
  mailsvc suppressions import bounced.csv --reason bounce
  mailsvc suppressions import unsubscribed.csv --reason unsubscribe --scope marketing --dry-run

Exit code 0 when all rows are in, 11 when some failed, 3 when none could be used.`,
};

/** `mailsvc contacts import` and `mailsvc suppressions import`: a file of any length in place of the rows of one request. */
export const importCommand = (place: Placed, run: Run): Command => {
  const kind = place.id === "suppressions.import" ? SUPPRESSIONS : CONTACTS;
  const what = kind === CONTACTS ? "Create or update contacts from a CSV or NDJSON file" : "Suppress the addresses of a CSV or NDJSON file";
  const command = noteCommand(new Command(place.words.at(-1)), place)
    .summary(what)
    .description(
      `${what}, however large it is. Separator, encoding and columns are found out; each row that cannot be taken is named with its line, and spoils no other one.`,
    )
    .argument("<file>", "The file, or - for stdin")
    .addHelpText("after", EXAMPLES[kind.noun]);
  addOptions(command, kind);
  return act(command, run, "connect", (session, [given = "-"], flags) => importFile(session, kind, given, flags));
};
