import type { Entry } from "./journal.ts";

/** Result of a step. */
type Found = Pick<Entry, "counts" | "rows" | "failures">;

/** A part of the proof: steps that can be run one by one, each for minutes, so that a run can be stopped and goes on later. */
export interface Part {
  readonly name: string;
  readonly title: string;
  /** Description of the part and its rules, in sentences for the report. */
  readonly meaning: string;
  /** Returns the number of steps in a run; `share` of 1 is the whole, less is a shorter run. */
  steps(share: number): number;
  /** Runs one step. Its random choices begin with `seed`; files in `folder` stay until a run begins anew. */
  run(step: number, options: { readonly seed: number; readonly share: number; readonly folder: string }): Promise<Found>;
}
