import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";

/** What clearing groups of contacts needs. */
export interface MembershipDeps {
  readonly clock: Clock;
  readonly db: Db;
}
