import type { Clock } from "../lib/clock.ts";
import type { Queue } from "../queue/queue.ts";

/** What the endpoints of the queue need. */
export interface JobDeps {
  readonly clock: Clock;
  readonly queue: Queue;
}
