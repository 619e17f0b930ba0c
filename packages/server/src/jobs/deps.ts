import type { Clock } from "../lib/clock.ts";
import type { Queue } from "../queue/queue.ts";

export interface JobDeps {
  readonly clock: Clock;
  readonly queue: Queue;
}
