/** Thrown when a helper cannot use a value. The message continues a sentence that begins with the value's name. */
export class HelperError extends Error {
  override name = "HelperError";
}

/** Arguments by name: `style="long"`. */
type Named = Readonly<Record<string, unknown>>;

interface Helper {
  readonly min: number;
  readonly max: number;
  /** Arguments it takes by name. */
  readonly named: readonly string[];
  /** True if its arguments may be absent; otherwise an absent one is a missing variable. */
  readonly lenient?: boolean;
  /** Type of its first argument, for the variable schema. */
  readonly takes: "any" | "string" | "number" | "date" | "array";
  /** Steps one call costs, besides its arguments. */
  readonly cost?: number;
  run(args: readonly unknown[], named: Named): unknown;
}

/** True if `{{#if}}` takes a value as true. As in Handlebars, an empty list is false. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** A value as text: the items of a list with commas between. Throws HelperError for objects, and for lists of objects or lists. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && !value.some((item) => typeof item === "object" && item !== null)) return value.map(toText).join(", ");
  if (typeof value === "object")
    throw new HelperError(`is ${describeKind(value)}, which has no text. Name one of its fields, or use {{#each}}.`);
  return String(value);
}

// A formatter takes 30 µs to create and 1 µs to use.
const formats = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();
const MAX_FORMATS = 200;

const STYLES: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  short: { dateStyle: "short" },
  medium: { dateStyle: "medium" },
  long: { dateStyle: "long" },
  full: { dateStyle: "full" },
  time: { timeStyle: "short" },
  "date-time": { dateStyle: "long", timeStyle: "short" },
};
const FORMAT_COST = 20;

/** All helpers. A template that calls another one is refused. None reads a clock, so the same variables give the same mail. */
export const HELPERS: ReadonlyMap<string, Helper> = new Map<string, Helper>([
  [
    "default",
    {
      min: 2,
      max: 2,
      named: [],
      lenient: true,
      takes: "string",
      run: ([value, other]) => (value === undefined || value === null || value === "" ? other : value),
    },
  ],
  ["upper", makeTextHelper((t) => t.toUpperCase())],
  ["lower", makeTextHelper((t) => t.toLowerCase())],
  ["capitalize", makeTextHelper((t) => t.replace(/^./u, (c) => c.toUpperCase()))],
  ["urlEncode", makeTextHelper((t) => encodeURIComponent(t))],
  ["truncate", { min: 2, max: 2, named: ["end"], takes: "string", run: truncate }],
  ["date", { min: 1, max: 2, named: ["style", "locale", "timeZone"], takes: "date", cost: FORMAT_COST, run: date }],
  ["number", { min: 1, max: 1, named: ["decimals", "locale"], takes: "number", cost: FORMAT_COST, run: number }],
  ["currency", { min: 1, max: 2, named: ["code", "locale"], takes: "number", cost: FORMAT_COST, run: currency }],
  ["join", { min: 1, max: 2, named: [], takes: "array", run: join }],
  ["count", { min: 1, max: 1, named: [], takes: "array", run: count }],
  ["eq", makeComparison(([a, b]) => isSame(a, b), true)],
  ["ne", makeComparison(([a, b]) => !isSame(a, b), true)],
  ["lt", makeComparison((args) => compare(args) < 0, false)],
  ["lte", makeComparison((args) => compare(args) <= 0, false)],
  ["gt", makeComparison((args) => compare(args) > 0, false)],
  ["gte", makeComparison((args) => compare(args) >= 0, false)],
  ["and", { min: 2, max: 10, named: [], lenient: true, takes: "any", run: (args) => args.every(isTruthy) }],
  ["or", { min: 2, max: 10, named: [], lenient: true, takes: "any", run: (args) => args.some(isTruthy) }],
  ["not", { min: 1, max: 1, named: [], lenient: true, takes: "any", run: ([value]) => !isTruthy(value) }],
]);

function describeKind(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : typeof value;
}

function toNumber(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw new HelperError("is not a number.");
  return number;
}

function toDate(value: unknown): Date {
  const date = new Date(typeof value === "string" || typeof value === "number" ? value : Number.NaN);
  if (Number.isNaN(date.getTime())) throw new HelperError("is not a date. Use an ISO 8601 date or milliseconds since 1970.");
  return date;
}

function toWholeNumber(value: unknown, name: string, max: number): number {
  const number = toNumber(value);
  if (!Number.isInteger(number) || number < 0 || number > max) throw new HelperError(`${name} must be a whole number from 0 to ${max}.`);
  return number;
}

function getFormat<F extends Intl.DateTimeFormat | Intl.NumberFormat>(key: string, make: () => F): F {
  const before = formats.get(key);
  if (before) return before as F;
  if (formats.size >= MAX_FORMATS) formats.clear();
  let made: F;
  try {
    made = make();
  } catch (error) {
    throw new HelperError(`cannot be formatted: ${(error as Error).message}.`);
  }
  formats.set(key, made);
  return made;
}

function toOption(value: unknown, fallback: string, name: string): string {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== "string" || value.length > 64) throw new HelperError(`${name} must be a short text.`);
  return value;
}

function date(args: readonly unknown[], named: Named): string {
  const style = toOption(args[1] ?? named["style"], "long", "style");
  const value = toDate(args[0]);
  if (style === "iso") return value.toISOString().slice(0, 10);
  const options = Object.hasOwn(STYLES, style) ? STYLES[style] : undefined;
  if (!options)
    throw new HelperError(`cannot have the style ${JSON.stringify(style)}. Use one of ${[...Object.keys(STYLES), "iso"].join(", ")}.`);
  const locale = toOption(named["locale"], "en", "locale");
  const timeZone = toOption(named["timeZone"], "UTC", "timeZone");
  return getFormat(`d ${style} ${locale} ${timeZone}`, () => new Intl.DateTimeFormat(locale, { ...options, timeZone })).format(value);
}

function number([value]: readonly unknown[], named: Named): string {
  const locale = toOption(named["locale"], "en", "locale");
  const digits = named["decimals"] === undefined ? undefined : toWholeNumber(named["decimals"], "decimals", 20);
  const options = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return getFormat(`n ${digits} ${locale}`, () => new Intl.NumberFormat(locale, options)).format(toNumber(value));
}

function currency(args: readonly unknown[], named: Named): string {
  const code = toOption(args[1] ?? named["code"], "USD", "code");
  const locale = toOption(named["locale"], "en", "locale");
  return getFormat(`c ${code} ${locale}`, () => new Intl.NumberFormat(locale, { style: "currency", currency: code })).format(
    toNumber(args[0]),
  );
}

function truncate([value, length]: readonly unknown[], named: Named): string {
  const text = toText(value);
  const limit = toWholeNumber(length, "the length", 100_000);
  if (text.length <= limit) return text;
  const end = toOption(named["end"], "…", "end");
  // Do not cut a surrogate pair.
  const cut = text.slice(0, Math.max(0, limit - end.length));
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}${end}`;
}

function join([list, between]: readonly unknown[]): string {
  if (!Array.isArray(list)) throw new HelperError("is not a list.");
  return list.map(toText).join(between === undefined ? ", " : toText(between));
}

function count([value]: readonly unknown[]): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "string") return value.length;
  throw new HelperError("is not a list.");
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (a === null && b === undefined) || (a === undefined && b === null);
}

/** Compares two numbers, or two texts. */
function compare([a, b]: readonly unknown[]): number {
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return toNumber(a) - toNumber(b);
}

function makeTextHelper(change: (text: string) => string): Helper {
  return {
    min: 1,
    max: 1,
    named: [],
    takes: "string",
    run: ([value]) => change(toText(value)),
  };
}

function makeComparison(holds: (args: readonly unknown[]) => boolean, lenient: boolean): Helper {
  return {
    min: 2,
    max: 2,
    named: [],
    lenient,
    takes: "any",
    run: holds,
  };
}
