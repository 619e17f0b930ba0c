import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import { noteOption, type OptionFacts } from "../about.ts";
import type { Flags } from "../act.ts";
import { usageError } from "../errors.ts";
import { collect } from "../flags.ts";
import { checkChoice } from "../values.ts";
import { ENCODINGS, type Encoding } from "./decode.ts";
import { CONTACTS, type Kind } from "./kind.ts";
import type { CellFlags } from "./rows.ts";
import { number } from "./summary.ts";
import { FORMATS, type Format, type TextFlags } from "./table.ts";
import { GUESSED, type Guessed } from "./typed.ts";

const CONCURRENCY = 4;

/** A flag that takes one of a few words. */
export function choice(syntax: string, about: string, choices: readonly string[], fallback?: string): Option {
  const option = new Option(syntax, `${about} (${choices.join(", ")}${fallback === undefined ? "" : `; default ${fallback}`})`);
  const facts: OptionFacts = { type: "enum", choices, ...(fallback === undefined ? {} : { default: fallback }) };
  return noteOption(option, facts).argParser((word: string) => checkChoice(option.name(), word, choices));
}

/** Adds the flags of an import. */
export function addOptions(command: Command, kind: Kind): void {
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
}

/** The character of --separator, by itself or by its name. Throws CliError. */
export function separatorFlag(text: unknown): string | undefined {
  if (text === undefined) return undefined;
  const separator = /^(?:tab|\\t)$/i.test(String(text)) ? "\t" : String(text);
  if (separator.length !== 1 || /["\r\n\w]/.test(separator))
    throw usageError(`--separator: "${separator}" is not one character such as , ; | or tab.`);
  return separator;
}

/** What flags say about the text of the file. Throws CliError. */
export function textFlags(flags: Flags): TextFlags {
  return {
    format: flags["format"] as Format | undefined,
    encoding: flags["encoding"] as Encoding | undefined,
    separator: separatorFlag(flags["separator"]),
    header: flags["header"] as string | undefined,
  };
}

/** What flags say about cells. Throws CliError. */
export function cellFlags(flags: Flags): CellFlags {
  return {
    types: typesOf(flags["types"]),
    guarded: flags["guard"] !== false,
    defaults: Object.fromEntries(["reason", "scope"].flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]]))),
  };
}

/** How much at a time, and how many may fail. Throws CliError. */
export function amountFlags(flags: Flags, kind: Kind) {
  return {
    batchSize: whole(flags, "batch", "--batch", 1, kind.limit, kind.limit),
    concurrency: whole(flags, "concurrency", "--concurrency", 1, 16, CONCURRENCY),
    maxErrors: whole(flags, "maxErrors", "--max-errors", 0, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY),
  };
}

function file(syntax: string, about: string): Option {
  return noteOption(new Option(syntax, about), { type: "file" });
}

function amount(syntax: string, about: string): Option {
  return noteOption(new Option(syntax, about), { type: "number" });
}

function whole(flags: Flags, name: string, flag: string, low: number, high: number, fallback: number): number {
  const text = flags[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(String(text)) || value < low || value > high)
    throw usageError(`${flag}: "${String(text)}" is no number from ${number(low)} to ${number(high)}.`);
  return value;
}

function typesOf(text: unknown): Set<Guessed> {
  const words = text === undefined ? [] : String(text).split(",");
  const found = words.flatMap((word): readonly Guessed[] => {
    const name = word.trim().toLowerCase();
    const known = name === "all" ? GUESSED : GUESSED.filter((kind) => kind === name || kind === `${name}s`);
    if (known.length === 0) throw usageError(`--types: "${word}" is not one of ${GUESSED.join(", ")}, all.`);
    return known;
  });
  return new Set(found);
}
