import { explainMissingDate } from "../contract/dates.ts";
import { findInexactNumber } from "../contract/inexact-number.ts";

/** The types that the cells of a column can be given. */
export const CELL_TYPES = ["text", "number", "boolean", "date", "json"] as const;
export type CellType = (typeof CELL_TYPES)[number];

/** The types that can be detected. */
export const DETECTABLE_TYPES = ["numbers", "booleans", "dates"] as const;
export type DetectableType = (typeof DETECTABLE_TYPES)[number];

export type CellValue = { value: unknown } | { fault: string };

// Leading zeros mean an identifier such as a postal code, which stays text.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Detects the type of a cell among `kinds`; everything else stays text. */
export function detectType(text: string, kinds: ReadonlySet<DetectableType>): unknown {
  if (kinds.size === 0) return text;
  const word = text.trim();
  return (
    (kinds.has("numbers") ? parseNumber(word) : undefined) ??
    (kinds.has("booleans") ? parseBoolean(word) : undefined) ??
    (kinds.has("dates") ? parseDate(word) : undefined) ??
    text
  );
}

/** Converts a cell to the type of its column. */
export function convertCell(text: string, type: CellType): CellValue {
  const word = text.trim();
  const found = (value: unknown, what: string, why?: string | null): CellValue =>
    value === undefined ? { fault: why ?? `"${word.slice(0, 60)}" is not ${what}.` } : { value };
  if (type === "number") return found(parseNumber(word), "a number such as 12 or 0.5");
  if (type === "boolean") return found(parseBoolean(word), "true or false");
  if (type === "date") return found(parseDate(word), "a date such as 2030-01-31 or 2030-01-31T09:30:00Z", explainMissingDate(word));
  if (type === "text") return { value: text };
  try {
    const value: unknown = JSON.parse(text);
    const number = findInexactNumber(text);
    return number === null
      ? { value }
      : { fault: `${number.slice(0, 60)} would be changed. Write it as a text: "${number.slice(0, 60)}".` };
  } catch {
    return { fault: `"${word.slice(0, 60)}" is not JSON.` };
  }
}

function parseNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  // A number that would lose precision stays text.
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? value : undefined;
}

function parseBoolean(text: string): boolean | undefined {
  return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
}

/** Converts a date to ISO 8601: a day stays a day, an instant becomes UTC. Without a zone it is UTC. */
function parseDate(text: string): string | undefined {
  const [, day, time, zone = "Z"] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = new Date(`${day}T${time ?? "00:00"}${zone.toUpperCase()}`);
  if (Number.isNaN(at.getTime()) || explainMissingDate(day) !== null) return undefined;
  return time === undefined ? day : at.toISOString();
}

// A spreadsheet executes a cell that begins like this as a formula, on the machine that opens the file.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/u;

/**
 * Escapes a text that a spreadsheet would execute: puts `'` in front when it begins with = + - @, a tab or a line break,
 * or with apostrophes followed by one of these. `unescapeFormula` removes exactly that `'`.
 */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Reverses `escapeFormula`. All other texts, such as `'t Hooft`, stay unchanged. */
export function unescapeFormula(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

/** Formats tags as one cell: `vip; beta`. A tag with a separator or a quote is quoted. */
export function joinTags(tags: readonly string[]): string {
  return tags.map((tag) => (/[;,"]/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join("; ");
}

const TAG = /\s*(?:"((?:[^"]|"")*)"\s*(?=[;,]|$)|([^;,]*))(?:[;,]|$)/y;

// Groups that Google Contacts makes by itself.
const GOOGLE_GROUPS = /^\* (?:myContacts|starred|all|chatBusy|friends|family|coworkers)$/;

/**
 * Parses the tags of a cell, separated by ; or , with quoted tags kept whole. Empty tags are dropped. Google writes
 * `* myContacts ::: Friends`: its own groups, which begin with an asterisk, are dropped too.
 */
export function splitTags(cell: string): string[] {
  const groups = cell.split(" ::: ");
  if (groups.length > 1 || GOOGLE_GROUPS.test(cell.trim()))
    return groups.map((group) => group.trim()).filter((group) => group !== "" && !GOOGLE_GROUPS.test(group));
  const tags: string[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < cell.length) {
    const [, quoted, plain = ""] = TAG.exec(cell) ?? [];
    const tag = quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"');
    if (tag !== "") tags.push(tag);
  }
  return tags;
}
