import type { Db } from "../db/db.ts";
import type { Log } from "../lib/log.ts";
import type { SegmentDeps } from "../segments/deps.ts";
import type { RetentionPolicy } from "./policy.ts";

export interface RetentionDeps extends SegmentDeps {
  readonly db: Db;
  readonly log: Log;
  readonly config: { readonly keepDays: RetentionPolicy };
}
