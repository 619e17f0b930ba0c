import type { Universe } from "../universe.ts";

/** Something that holds in every world once it has come to rest, whatever happened to it. */
export interface Invariant {
  readonly name: string;
  /** What is promised, for people who do not know the code. */
  readonly promise: string;
  /** Says what does not hold; empty if all does. */
  check(universe: Universe): Promise<readonly string[]>;
}
