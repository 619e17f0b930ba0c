import { explainMissingDate, findClosest, parseAmounts, parsePastTimeWords, parseTimeWords } from "@mailsvc/sdk/contract";
import { DURATION } from "@mailsvc/sdk/contract/facts";
import { usageError } from "../runtime/errors.ts";
import { parseDuration } from "../runtime/settings.ts";
import type { InputReader } from "../types.ts";
import { type Direction, type Field, getDirection, nameField } from "./fields.ts";
import { readUpload } from "./files.ts";

/** A flag's value as commander parsed it. */
export type Raw = string | boolean | readonly string[];

interface ReadContext {
  input: InputReader;
  /** The server's time, for relative instants such as `in 10m`. */
  serverNow(): Promise<number>;
}

/** Returns `word` when it is one of the choices. Throws CliError that suggests the nearest one. */
export function assertChoice(given: string, word: string, choices: readonly string[]): string {
  if (choices.includes(word)) return word;
  const near = findNearest(word, choices);
  throw usageError(`${given}: "${word}" is not one of ${choices.join(", ")}.`, near ? { hint: `Did you mean ${near}?` } : {});
}

const ADVICE: Record<Direction, string> = {
  past: 'Write 1h, "2 days ago", today, yesterday, monday, 2030-01-31, or 2030-01-31T09:30:00Z, with Z or a zone such as +02:00.',
  future: 'Write 2030-01-31T09:30:00Z, with Z or a zone such as +02:00, "2030-01-31 09:30", "in 10m" or "tomorrow 9am".',
};

/**
 * Converts a time to ISO 8601: `2030-01-31T09:30:00Z`, `now`; in the future `in 10m` or `tomorrow 9am`; in the past `1h`, `yesterday`, or a date,
 * which is its midnight. Words count from the server's clock, and times of day are those of `timeZone`: by default that of this machine.
 * Throws CliError.
 */
export async function readInstant(
  given: string,
  text: string,
  serverNow: () => Promise<number>,
  direction: Direction,
  timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone,
): Promise<string> {
  const word = text.trim();
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(word);
  if (isInstant && explainMissingDate(word) === null && /(?:Z|[+-]\d\d:\d\d)$/i.test(word)) return word;
  // An instant without a zone would be a different one on another machine.
  const parse = direction === "past" ? parsePastTimeWords : parseTimeWords;
  const at = isInstant ? null : parse(word, await serverNow(), timeZone);
  if (at !== null) return new Date(at).toISOString();
  const missing = explainMissingDate(word);
  if (missing !== null) throw usageError(`${given}: ${missing}`);
  // Nothing is sent at a midnight that nobody has named.
  if (/^\d{4}-\d\d-\d\d$/.test(word)) throw usageError(`${given}: "${text}" needs a time of day: "${word} 09:30".`);
  throw usageError(`${given}: "${text}" is not a valid time.`, { hint: ADVICE[direction] });
}

/** Converts `3 days` to a duration of the contract; what is none stays as it is, and the schema refuses it. */
function readDuration(text: string): string {
  const ms = /[a-z]/i.test(text) ? parseAmounts(text.trim().toLowerCase()) : null;
  return ms === null ? text : `${ms}ms`;
}

/** Converts a flag to the JSON value of its field. Throws CliError, exit 2, when it has the wrong type; the schema checks limits. */
export async function readValue(field: Field, raw: Raw, reading: ReadContext): Promise<unknown> {
  if (field.kind === "boolean") return field.where === "query" ? String(raw === true) : raw === true;
  const texts = Array.isArray(raw) ? (raw as readonly string[]) : [String(raw)];
  const last = texts.at(-1) ?? "";
  switch (field.kind) {
    case "number":
      // The time limits of commands are written alike: 30s, or plain seconds.
      return field.name === "timeout" ? parseDuration(last, nameField(field)) / 1000 : readNumber(field, last);
    case "enum":
      if (field.orNumber && /^\d+$/.test(last)) return Number(last);
      return assertChoice(nameField(field), last, field.choices ?? []);
    case "instant":
      return readInstant(nameField(field), last, reading.serverNow, getDirection(field));
    case "duration":
      return DURATION.test(last) ? last : readDuration(last);
    case "map":
      return readMap(field, texts);
    case "values":
      return readValues(field, texts, reading.input);
    case "file":
      return field.file && readUpload(last, nameField(field), field.file, reading.input);
    case "json":
      return reading.input.json(last, nameField(field));
    case "list": {
      const items = texts.flatMap(splitList);
      const { choices } = field;
      if (choices) for (const item of items) assertChoice(nameField(field), item, choices);
      return field.oneOrMany && items.length === 1 ? items[0] : items;
    }
    default:
      return last;
  }
}

/** The choice that `word` most likely means: the same but for case, the beginning of it, or a misspelling. Null when there is none. */
export function findNearest(word: string, choices: readonly string[]): string | null {
  return (
    choices.find((c) => c.toLowerCase() === word.toLowerCase()) ??
    choices.find((c) => c.startsWith(word) || word.startsWith(c)) ??
    findClosest(word, choices)
  );
}

// `a@x.example,b@x.example` is two items. A name in quotes or brackets may contain a comma.
function splitList(text: string): string[] {
  return (/["<]/.test(text) ? [text] : text.split(",").map((part) => part.trim())).filter((part) => part !== "");
}

// A mail header is written as in mail, `Name: value`; everything else as name=value. Tag names may contain a colon.
function splitPair(field: Field, text: string): [string, string] {
  const at = field.name === "headers" ? text.search(/[:=]/) : text.indexOf("=");
  const example = field.name === "headers" ? '"X-Campaign: spring"' : "kind=welcome";
  if (at < 1) throw usageError(`${nameField(field)}: "${text}" has no name and value. Write: --${field.flag} ${example}`);
  return [text.slice(0, at).trim(), field.name === "headers" ? text.slice(at + 1).trim() : text.slice(at + 1)];
}

function readMap(field: Field, texts: readonly string[]): Record<string, string> {
  const pairs = texts.map((text) => splitPair(field, text));
  const map: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of pairs) {
    if (Object.hasOwn(map, name)) throw usageError(`${nameField(field)}: ${name} is given twice.`);
    map[name] = value;
  }
  return Object.fromEntries(Object.entries(map));
}

// `name=Ada` is a string, `items:=[1, 2]` is JSON, and `items:=@file` is JSON from a file.
async function readValues(field: Field, texts: readonly string[], input: InputReader): Promise<Record<string, unknown>> {
  const entries = new Map<string, unknown>();
  for (const text of texts) {
    const at = text.indexOf("=");
    if (at < 1) throw usageError(`${nameField(field)}: "${text}" has no name and value. Write: --${field.flag} name=Ada`);
    const typed = text[at - 1] === ":" && at > 1;
    const name = text.slice(0, typed ? at - 1 : at).trim();
    if (entries.has(name)) throw usageError(`${nameField(field)}: ${name} is given twice.`);
    const value = text.slice(at + 1);
    entries.set(name, typed ? await input.json(value, `${nameField(field)} ${name}`) : value);
  }
  return Object.fromEntries(entries);
}

function readNumber(field: Field, text: string): number | null {
  if (field.nullable && text.trim() === "null") return null;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw usageError(`${nameField(field)}: "${text}" is not a number.`, { hint: field.description });
  return value;
}
