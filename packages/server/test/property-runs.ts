import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** The part of the runs of a property that a project takes: properties of features run on both databases. */
    propertyShare: number;
  }
}

/** How often a property of a feature is tried here: `runs` on SQLite, a third of them on Postgres, where each takes three times as long. */
export function propertyRuns(runs: number): number {
  return Math.ceil(runs * inject("propertyShare"));
}
