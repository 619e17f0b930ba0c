/** Units of limits. A number without one counts things. */
type LimitUnit = "characters" | "bytes" | "pixels" | "seconds" | "minutes" | "hours" | "days" | "years";

/** A number, what it limits, and its unit. */
type Limit = readonly [most: number, words: string, unit?: LimitUnit];
type Rows = Readonly<Record<string, Limit>>;
type Numbers<R extends Rows> = { readonly [Name in keyof R]: R[Name][0] };

/** A section of docs/reference/limits.md. */
interface LimitSection {
  /** Noun that the limits are of. Sections stand in the order of the nouns; of one noun, the longest is first. */
  readonly noun: string;
  readonly title: string;
  readonly rows: Rows;
}

const SECTION: unique symbol = /* @__PURE__ */ Symbol("section");

/** Declares limits, each with its words for docs/reference/limits.md. Returns their numbers. */
/* @__NO_SIDE_EFFECTS__ */
export function limits<const R extends Rows>(noun: string, title: string, rows: R): Numbers<R> {
  const numbers = Object.fromEntries(Object.entries(rows).map(([name, [most]]) => [name, most])) as Numbers<R>;
  return Object.defineProperty(numbers, SECTION, { value: { noun, title, rows } satisfies LimitSection });
}

/** Returns what is said of limits; null if they were not declared by `limits`. */
export function findLimitSection(numbers: object): LimitSection | null {
  return (numbers as { readonly [SECTION]?: LimitSection })[SECTION] ?? null;
}
