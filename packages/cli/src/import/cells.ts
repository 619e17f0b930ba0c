/** What a cell may be read as, where it is asked for. */
export const CELL_TYPES = ["text", "number", "boolean", "date", "json"] as const;
export type CellType = (typeof CELL_TYPES)[number];

/** Kinds that `--types` may recognise by their look. */
export const DETECTABLE_TYPES = ["numbers", "booleans", "dates"] as const;
export type DetectableType = (typeof DETECTABLE_TYPES)[number];

export type CellValue = { value: unknown } | { fault: string };

// With zeros in front it is a number of a house, an article, a post code: a text.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i;

/** A cell by its look: only what is asked for is recognised, all else stays a text. */
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

/** A cell as the type its column was given. */
export function convertCell(text: string, type: CellType): CellValue {
  const word = text.trim();
  const found = (value: unknown, what: string): CellValue =>
    value === undefined ? { fault: `"${word.slice(0, 60)}" is not ${what}.` } : { value };
  if (type === "number") return found(parseNumber(word), "a number such as 12 or 0.5");
  if (type === "boolean") return found(parseBoolean(word), "true or false");
  if (type === "date") return found(parseDate(word), "a date such as 2030-01-31 or 2030-01-31T09:30:00Z");
  if (type === "text") return { value: text };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: `"${word.slice(0, 60)}" is not JSON.` };
  }
}

function parseNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  // What a number would not hold exactly stays a text.
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? value : undefined;
}

function parseBoolean(text: string): boolean | undefined {
  return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
}

/** A date as ISO 8601: a day stays a day, an instant becomes UTC; one without a zone is taken for UTC. */
function parseDate(text: string): string | undefined {
  const [, day, time, zone = "Z"] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = new Date(`${day}T${time ?? "00:00"}${zone.toUpperCase()}`);
  // The 31st of June would become the 1st of July.
  if (Number.isNaN(at.getTime()) || new Date(`${day}T00:00Z`).toISOString().slice(0, 10) !== day) return undefined;
  return time === undefined ? day : at.toISOString();
}

// A cell that begins like this is a formula to a spreadsheet, and would be run on the machine of whoever opens the file.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/u;

/**
 * A text as a cell that no spreadsheet runs: with `'` in front where it begins with = + - @, a tab or a line break, or
 * with apostrophes and then one of these. `unguard` takes exactly that one `'` away again.
 */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text behind a cell that `guard` made; all other texts, `'t Hooft` among them, stay as they are. */
export function unescapeFormula(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

/** Tags as one cell: `vip; beta`. One that holds a separator or a quote stands in quotes. */
export function joinTags(tags: readonly string[]): string {
  return tags.map((tag) => (/[;,"]/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join("; ");
}

const TAG = /\s*(?:"((?:[^"]|"")*)"\s*(?=[;,]|$)|([^;,]*))(?:[;,]|$)/y;

/** The tags of a cell, separated by ; or , — what stands in quotes is one tag. Empty ones are left out. */
export function splitTags(cell: string): string[] {
  const tags: string[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < cell.length) {
    const [, quoted, plain = ""] = TAG.exec(cell) ?? [];
    const tag = quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"');
    if (tag !== "") tags.push(tag);
  }
  return tags;
}
