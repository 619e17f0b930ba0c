import { type Acted, hasActed, type Verb } from "../noun.ts";
import { NOUNS } from "../nouns.ts";
import type { Pick } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Something that happens to a world while `thing` is under way. */
export type Disturbance = (universe: Universe, thing: Thing, pick: Pick) => Promise<Acted>;

/** Does to the thing what its noun says, and notes the pair as tried; nothing where that has no such verb. */
export function verb(name: Verb): Disturbance {
  return async (u, thing, pick) => {
    const acted = (await NOUNS[thing.noun]?.verbs[name]?.(u, thing, pick)) ?? false;
    if (hasActed(acted)) u.pairs.add(`${thing.noun} ${name}`);
    // Of a campaign that has begun a copy is deleted.
    if (name === "delete" && hasActed(acted) && !/campaign$/i.test(thing.noun)) u.ledger.deleted.add(thing.id);
    return acted;
  };
}

/** Says that something was done, once it was. */
export async function done(deed: Promise<unknown>): Promise<true> {
  await deed;
  return true;
}
