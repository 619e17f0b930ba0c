import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";

export interface MembershipDeps {
  readonly clock: Clock;
  readonly db: Db;
}
