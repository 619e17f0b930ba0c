import type { Clock } from "../../lib/clock.ts";

export interface CatalogDeps {
  readonly clock: Clock;
}
