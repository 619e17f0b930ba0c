import type { Db } from "../db/db.ts";
import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Queue } from "../queue/queue.ts";
import type { RetentionPolicy } from "./policy.ts";

export interface RetentionDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly log: Log;
  readonly eventStream: EventDeps["eventStream"];
  readonly queue: Queue;
  readonly config: { readonly keepDays: RetentionPolicy };
}
