import type { Clock } from "../../lib/clock.ts";

/** What the catalog needs. */
export interface CatalogDeps {
  readonly clock: Clock;
}
