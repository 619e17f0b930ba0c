import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { RequestLog } from "./request-log.ts";

export interface RequestDeps extends EventDeps {
  readonly clock: Clock;
  /** The latest requests, in dev mode; null outside it. */
  readonly requestLog: RequestLog | null;
}
