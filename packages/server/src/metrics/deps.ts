import type { Clock } from "../lib/clock.ts";
import type { MailCounters } from "./mail-counters.ts";

export interface MailMetricsDeps {
  readonly clock: Clock;
  /** What this process has counted, for Prometheus. */
  readonly mailCounters: MailCounters;
  readonly config: { readonly keepDays: { readonly events: number | null } };
}
