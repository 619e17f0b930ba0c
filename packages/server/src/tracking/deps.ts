import type { Db } from "../db/db.ts";
import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Macs } from "../lib/macs.ts";
import type { Queue } from "../queue/queue.ts";
import type { Tracker } from "./tracker.ts";

export interface TrackingDeps extends EventDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly log: Log;
  readonly macs: Macs;
  readonly queue: Queue;
  readonly tracker: Tracker;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
  readonly config: { readonly trackingUrl: string | null };
}
