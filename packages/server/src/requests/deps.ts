import type { EventDeps } from "../events/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { RequestLog } from "./request-log.ts";
import type { RequestStore } from "./request-store.ts";

export interface RequestDeps extends EventDeps {
  readonly clock: Clock;
  /** The latest requests, in dev mode; null outside it. */
  readonly requestLog: RequestLog | null;
  /** The requests that a server keeps; null where nobody asked for it, and in dev mode. */
  readonly requestStore: RequestStore | null;
}
