import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";

/** What captured mail needs. */
export interface InboxDeps {
  readonly clock: Clock;
  readonly db: Db;
}
