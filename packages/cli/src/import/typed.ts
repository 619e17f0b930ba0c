/** What a cell may be read as, where it is asked for. */
export const CELL_TYPES = ["text", "number", "boolean", "date", "json"] as const;
export type CellType = (typeof CELL_TYPES)[number];

/** Kinds that `--types` may recognise by their look. */
export const GUESSED = ["numbers", "booleans", "dates"] as const;
export type Guessed = (typeof GUESSED)[number];

export type Typed = { value: unknown } | { fault: string };

// With zeros in front it is a number of a house, an article, a post code: a text.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i;

/** A cell by its look: only what is asked for is recognised, all else stays a text. */
export function guessed(text: string, kinds: ReadonlySet<Guessed>): unknown {
  if (kinds.size === 0) return text;
  const word = text.trim();
  return (
    (kinds.has("numbers") ? numberOf(word) : undefined) ??
    (kinds.has("booleans") ? booleanOf(word) : undefined) ??
    (kinds.has("dates") ? dateOf(word) : undefined) ??
    text
  );
}

/** A cell as the type its column was given. */
export function asType(text: string, type: CellType): Typed {
  const word = text.trim();
  const found = (value: unknown, what: string): Typed =>
    value === undefined ? { fault: `"${word.slice(0, 60)}" is not ${what}.` } : { value };
  if (type === "number") return found(numberOf(word), "a number such as 12 or 0.5");
  if (type === "boolean") return found(booleanOf(word), "true or false");
  if (type === "date") return found(dateOf(word), "a date such as 2030-01-31 or 2030-01-31T09:30:00Z");
  if (type === "text") return { value: text };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: `"${word.slice(0, 60)}" is not JSON.` };
  }
}

function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  // What a number would not hold exactly stays a text.
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? value : undefined;
}

function booleanOf(text: string): boolean | undefined {
  return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
}

/** A date as ISO 8601: a day stays a day, an instant becomes UTC; one without a zone is taken for UTC. */
function dateOf(text: string): string | undefined {
  const [, day, time, zone = "Z"] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = new Date(`${day}T${time ?? "00:00"}${zone.toUpperCase()}`);
  // The 31st of June would become the 1st of July.
  if (Number.isNaN(at.getTime()) || new Date(`${day}T00:00Z`).toISOString().slice(0, 10) !== day) return undefined;
  return time === undefined ? day : at.toISOString();
}
