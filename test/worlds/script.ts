import { seededRandom } from "../../packages/server/src/lib/random.ts";

/** The two workspaces of a world, which do the same under the same names. */
export const TENANTS = ["a", "b"] as const;
export type Tenant = (typeof TENANTS)[number];

/**
 * One step of a script. It names things by labels such as `campaign-3`, and takes its chances from its own seed: so any step can be left
 * out, and the others still mean the same. A step about a thing that does not exist does nothing.
 */
export type Step =
  | { readonly do: "make"; readonly noun: string; readonly as: string; readonly tenant: Tenant; readonly seed: number }
  | { readonly do: "disturb"; readonly by: string; readonly on: string; readonly seed: number }
  | { readonly do: "pass"; readonly by: string };

/** Delivery of a world's mail: it is captured, or handed over to a relay that answers by a script. */
type Delivery = "captured" | "relay";

/** Everything that happens in one world, in order. The same script gives the same world. */
export interface Script {
  readonly seed: number;
  readonly database: "sqlite" | "postgres";
  readonly delivery: Delivery;
  /** Two servers share a Postgres database. */
  readonly servers: 1 | 2;
  /** After how many days mail and events are deleted; null for never. */
  readonly keepDays: number | null;
  /** Its beginning, ISO 8601; in the days before the change to summer time when absent. */
  readonly start?: string;
  readonly steps: readonly Step[];
}

/** Shortly before the change to summer time in Europe, and shortly before the change back. */
export const STARTS = ["2026-03-20T08:00:00Z", "2026-10-16T08:00:00Z"] as const;

/** The beginning of a world, ms since 1970. */
export const startOf = ({ start = STARTS[0] }: { readonly start?: string }): number => Date.parse(start);

/** The instants at which clocks in Europe change to summer time and back. */
const CHANGES_OF_TIME = ["2026-03-29T01:00Z", "2026-10-25T01:00Z", "2027-03-28T01:00Z", "2027-10-31T01:00Z"].map((at) => Date.parse(at));

/** The next change to or from summer time, ms since 1970. */
export const nextChangeOfTime = (now: number): number => CHANGES_OF_TIME.find((at) => at > now) ?? Number.POSITIVE_INFINITY;

/** Chances from a seed. */
export interface Pick {
  /** A whole number from `least` to `most`. */
  int(least: number, most: number): number;
  /** One of the values. */
  of<T>(...values: readonly T[]): T;
  /** True in one of `n` cases. */
  oneIn(n: number): boolean;
}

export function picker(seed: number): Pick {
  const { fraction } = seededRandom(seed);
  const int = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1));
  return { int, of: (...values) => values[int(0, values.length - 1)] as (typeof values)[number], oneIn: (n) => int(1, n) === 1 };
}

/** The kinds of people: what their mail server does with a mail to them. */
const PEOPLE = {
  fine: "takes each mail",
  gone: "has no such mailbox",
  full: "says for ever that the mailbox is full",
  later: "takes a mail at the third attempt",
  strict: "refuses the content",
  vague: "loses the connection at the first attempt after it has read the message",
} as const;
type PersonKind = keyof typeof PEOPLE;
const KINDS = Object.keys(PEOPLE) as PersonKind[];

/** The address of person `n`; every third one is no plain reader. */
export function addressOf(n: number): string {
  const kind = n % 3 === 2 ? (KINDS[1 + (Math.floor(n / 3) % (KINDS.length - 1))] as PersonKind) : "fine";
  return `${kind}-${n}@people.test`;
}

/** Somebody who takes a mail at the third attempt. */
export const LATER = "later-11@people.test";

/** Returns the behaviour of an address's mail server. */
export function kindOf(address: string): PersonKind {
  const kind = address.slice(0, address.indexOf("-"));
  return KINDS.find((known) => known === kind) ?? "fine";
}

/** Words that occur in everything a workspace makes, and must never be seen by the other one. */
export const MARKS: Readonly<Record<Tenant, string>> = { a: "alphabrand", b: "betabrand" };

export const other = (tenant: Tenant): Tenant => (tenant === "a" ? "b" : "a");
