import type { Pick, Tenant } from "./script.ts";
import type { Outcome, Thing, Universe } from "./universe.ts";

/** Actions on things of many kinds. */
export const VERBS = ["pause", "resume", "cancel", "edit", "delete", "duplicate", "rotate"] as const;
export type Verb = (typeof VERBS)[number];

/** Input of a noun that makes one of its things. */
export interface Making {
  readonly universe: Universe;
  readonly tenant: Tenant;
  readonly pick: Pick;
  readonly label: string;
}

/** Result of a deed: true or the outcome of its call if it did something. A refused or lost deed did nothing, as far as anybody knows. */
export type Acted = boolean | Outcome<unknown>;

export const hasActed = (acted: Acted): boolean => (typeof acted === "boolean" ? acted : "value" in acted);

/** Does something to a thing. */
type Deed = (universe: Universe, thing: Thing, pick: Pick) => Promise<Acted>;

/** A kind of thing that lives in a world: how one begins, and what can be done to it. */
export interface Noun {
  /** Begins one; null if the service refused, or died meanwhile. */
  make(making: Making): Promise<Made | null>;
  readonly verbs: Partial<Record<Verb, Deed>>;
}

/** Facts about a new thing. */
type Made = { readonly id: string; readonly also: Readonly<Record<string, string>> };

/** A thing of a noun in the same workspace, if the world has one. */
export function find({ universe, tenant, pick }: Making, ...nouns: readonly string[]): Thing | null {
  const fitting = [...universe.things.values()].filter((thing) => thing.tenant === tenant && nouns.includes(thing.noun));
  return fitting.length === 0 ? null : pick.of(...fitting);
}

/** Returns the made thing, from an answer with an id. */
export function known(answer: { readonly id: string } | null, also: Readonly<Record<string, string>> = {}) {
  return answer && { id: answer.id, also };
}
