import { contract, type Endpoint, type Explanation, requiredGrant } from "@mailsvc/sdk/contract";
import { iso } from "./clock.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./units.ts";

/** Something that happened, at an instant in ms. */
export interface Moment {
  readonly at: number;
  readonly what: string;
  readonly why?: string | null | undefined;
}

export type Action = Explanation["actions"][number];

type Noun = keyof typeof contract;
type Operation = { [N in Noun]: `${N}.${keyof (typeof contract)[N] & string}` }[Noun];

/** The call that does what an action advises. Its permission is that of the endpoint. */
export function toCall(
  label: string,
  operation: Operation,
  path: readonly string[],
  body?: Readonly<Record<string, string>>,
): Action["call"] {
  const [noun, verb] = operation.split(".") as [Noun, string];
  const { access } = (contract[noun] as Readonly<Record<string, Endpoint>>)[verb] as Endpoint;
  return { label, operation, permission: requiredGrant(access) ?? "operator", path: [...path], ...(body && { body: { ...body } }) };
}

/** Facts that a module found about its object. Instants are in ms, moments in any order. */
export interface Findings extends Pick<Explanation, "id" | "kind" | "title" | "status" | "summary"> {
  readonly moments: readonly Moment[];
  readonly next?: { readonly at: number | null; readonly what: string } | null | undefined;
  readonly actions?: readonly Action[];
  /** Ids; null for what does not exist. */
  readonly related?: readonly (string | null | undefined)[];
}

/** Context of every explanation besides its object. */
export interface Present {
  /** The server's time, ms. */
  readonly now: number;
  /** True in dev mode, whose clock can be advanced. */
  readonly dev: boolean;
}

/** Puts an explanation together: moments in the order of time, instants as the API shows them, and in dev mode how not to wait. */
export function buildExplanation(findings: Findings, { now, dev }: Present): Explanation {
  const { id, kind, title, status, summary, moments, next = null, actions = [], related = [] } = findings;
  const waits = next !== null && next.at !== null && next.at > now ? next.at - now : null;
  return {
    id,
    kind,
    title,
    status,
    summary,
    timeline: moments.toSorted((a, b) => a.at - b.at).map(({ at, what, why = null }) => ({ at: iso(at), what, why })),
    next: next && { at: next.at === null ? null : iso(next.at), what: next.what },
    actions: [
      ...actions,
      ...(dev && waits !== null ? [{ what: "Do not wait for it", command: `mailsvc clock advance ${formatDuration(waits)}` }] : []),
    ],
    related: [...new Set(related)].filter((one) => typeof one === "string").filter((one) => one !== id),
    explainedAt: iso(now),
  };
}

/** Something that somebody wrote, in quotation marks, shortened to one line. */
export function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return `"${line.length > 100 ? `${line.slice(0, 99)}…` : line}"`;
}

/** An instant in words: `2026-01-31 09:00:00 UTC`. */
export function sayInstant(ms: number): string {
  return `${iso(ms).slice(0, 19).replace("T", " ")} UTC`;
}

/** A duration as the clock takes it, rounded up to seconds: `1d9h`. */
function formatDuration(ms: number): string {
  let left = Math.ceil(ms / SECOND) * SECOND;
  const parts = UNITS.map(([unit, name]) => {
    const n = Math.floor(left / unit);
    left -= n * unit;
    return n === 0 ? "" : `${n}${name}`;
  });
  return parts.join("");
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "m"],
  [SECOND, "s"],
];

/** `1 attempt`, `2 attempts`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** Sentences as one text; those that do not exist are left out. */
export function joinSentences(...sentences: readonly (string | null | undefined)[]): string {
  return sentences.filter((sentence) => typeof sentence === "string" && sentence !== "").join(" ");
}
