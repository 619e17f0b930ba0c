import { type CellFlags, DETECTABLE_TYPES, type DetectableType } from "@mailsvc/sdk/contact-files";
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import { collect } from "../contract/flags.ts";
import { type OptionMetadata, setOptionMetadata } from "../contract/metadata.ts";
import { assertChoice } from "../contract/values.ts";
import type { Flags } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { formatNumber } from "../text/units.ts";
import { ENCODINGS, type Encoding } from "./decode.ts";
import { CONTACTS, type ImportKind } from "./kind.ts";
import { FORMATS, type Format, type TextFlags } from "./table.ts";

const CONCURRENCY = 4;

/** Builds a flag that takes one of a few words. */
export function buildChoiceOption(syntax: string, about: string, choices: readonly string[], fallback?: string): Option {
  const option = new Option(syntax, `${about} (${choices.join(", ")}${fallback === undefined ? "" : `; default ${fallback}`})`);
  const facts: OptionMetadata = { type: "enum", choices, ...(fallback === undefined ? {} : { default: fallback }) };
  return setOptionMetadata(option, facts).argParser((word: string) => assertChoice(`--${option.name()}`, word, choices));
}

/** Adds the flags of an import. */
export function addImportOptions(command: Command, kind: ImportKind): void {
  const options = [
    ...(kind === CONTACTS
      ? [
          buildChoiceOption("--mode <mode>", "What to do with contacts that exist", ["upsert", "skip"], "upsert"),
          setOptionMetadata(new Option("--list <id>", "List that everybody joins"), { type: "text" }),
          setOptionMetadata(new Option("--tag <name>", "Tag that everybody gets (default: import: with the day and a number)"), {
            type: "text",
          }),
          setOptionMetadata(new Option("--no-tag", "Tag nobody"), { type: "boolean" }),
          setOptionMetadata(new Option("--import <id>", "Import that was begun by contacts start-import; by default a new one"), {
            type: "text",
          }),
          setOptionMetadata(new Option("--start-automations", "Let people enter automations; without it nobody enters one"), {
            type: "boolean",
          }),
        ]
      : [
          buildChoiceOption("--reason <reason>", "Reason for rows without one", SUPPRESSION_REASONS),
          buildChoiceOption("--scope <scope>", "Scope for rows without one", SUPPRESSION_SCOPES),
        ]),
    setOptionMetadata(new Option("--dry-run", "Validate every row, here and on the server, without storing anything"), { type: "boolean" }),
    setOptionMetadata(
      new Option(
        "--map <column=field>",
        `Field of a column: ${kind.fields.join(", ")}${kind.consent ? ", opt-out, opt-in" : ""}${kind.custom ? ", custom.NAME" : ""}, or - to ignore it; #3 is the third column (repeatable)`,
      ),
      {
        type: "text",
        repeatable: true,
      },
    ).argParser(collect),
    ...(kind.custom
      ? [
          buildChoiceOption(
            "--custom-fields <what>",
            "Unknown columns: keep them as custom fields, or ignore them",
            ["keep", "ignore"],
            "keep",
          ),
          setOptionMetadata(
            new Option("--types <kinds>", `Types to detect in custom fields: ${DETECTABLE_TYPES.join(", ")}, all; text otherwise`),
            { type: "text" },
          ),
        ]
      : []),
    buildChoiceOption("--format <format>", "File format; detected by default", FORMATS),
    buildChoiceOption("--encoding <encoding>", "Text encoding; detected by default", ENCODINGS),
    setOptionMetadata(new Option("--separator <character>", "Cell separator: , ; | or tab; detected by default"), { type: "text" }),
    setOptionMetadata(new Option("--header <names>", "Column names, for a file without a header line"), { type: "text" }),
    setOptionMetadata(new Option("--no-guard", "Keep the ' in front of = + - @"), { type: "boolean" }),
    buildFileOption("--errors-file <file>", "Write failed rows with their reasons to this file, to correct and import again"),
    buildNumberOption("--max-errors <n>", "Stop when more rows than this have failed"),
    buildNumberOption("--concurrency <n>", `Concurrent requests (1 to 16; default ${CONCURRENCY})`),
    buildNumberOption("--batch <n>", `Rows per request (1 to ${kind.limit}; default ${kind.limit})`),
    buildFileOption("--resume-file <file>", "Where to record progress (default: FILE.import next to the file)"),
    setOptionMetadata(new Option("--restart", "Start over and discard recorded progress"), { type: "boolean" }),
  ];
  for (const option of options) command.addOption(option);
}

/** Parses --separator: a character, or `tab`. Throws CliError. */
export function parseSeparator(text: unknown): string | undefined {
  if (text === undefined) return undefined;
  const separator = /^(?:tab|\\t)$/i.test(String(text)) ? "\t" : String(text);
  if (separator.length !== 1 || /["\r\n\w]/.test(separator))
    throw usageError(`--separator: "${separator}" is not one character such as , ; | or tab.`);
  return separator;
}

/** Parses the flags about the text of the file. Throws CliError. */
export function parseTextFlags(flags: Flags): TextFlags {
  return {
    format: flags["format"] as Format | undefined,
    encoding: flags["encoding"] as Encoding | undefined,
    separator: parseSeparator(flags["separator"]),
    header: flags["header"] as string | undefined,
  };
}

/** Parses the flags about cells. Throws CliError. */
export function parseCellFlags(flags: Flags): CellFlags {
  return {
    types: parseTypes(flags["types"]),
    guarded: flags["guard"] !== false,
    defaults: Object.fromEntries(["reason", "scope"].flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]]))),
  };
}

/** Parses batch size, concurrency and error limit. Throws CliError. */
export function parseLimits(flags: Flags, kind: ImportKind) {
  return {
    batchSize: parseInteger(flags, "batch", "--batch", 1, kind.limit, kind.limit),
    concurrency: parseInteger(flags, "concurrency", "--concurrency", 1, 16, CONCURRENCY),
    maxErrors: parseInteger(flags, "maxErrors", "--max-errors", 0, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY),
  };
}

function buildFileOption(syntax: string, about: string): Option {
  return setOptionMetadata(new Option(syntax, about), { type: "file" });
}

function buildNumberOption(syntax: string, about: string): Option {
  return setOptionMetadata(new Option(syntax, about), { type: "number" });
}

function parseInteger(flags: Flags, name: string, flag: string, low: number, high: number, fallback: number): number {
  const text = flags[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(String(text)) || value < low || value > high)
    throw usageError(`${flag}: "${String(text)}" is not a number from ${formatNumber(low)} to ${formatNumber(high)}.`);
  return value;
}

function parseTypes(text: unknown): Set<DetectableType> {
  const words = text === undefined ? [] : String(text).split(",");
  const found = words.flatMap((word): readonly DetectableType[] => {
    const name = word.trim().toLowerCase();
    const known = name === "all" ? DETECTABLE_TYPES : DETECTABLE_TYPES.filter((kind) => kind === name || kind === `${name}s`);
    if (known.length === 0) throw usageError(`--types: "${word}" is not one of ${DETECTABLE_TYPES.join(", ")}, all.`);
    return known;
  });
  return new Set(found);
}
