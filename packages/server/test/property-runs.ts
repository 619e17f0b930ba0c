import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** The part of the runs of a property that a project takes: properties of features run on both databases. */
    propertyShare: number;
  }
}

/**
 * Returns how often to try a property here: half of `runs` on SQLite, a third on Postgres, where each takes three times as long. PROPERTY_RUNS
 * sets another number.
 */
export function propertyRuns(runs: number): number {
  return Number(process.env["PROPERTY_RUNS"] ?? Math.ceil(runs * inject("propertyShare")));
}
