import type { Clock } from "../lib/clock.ts";

/** What metrics of mail need. */
export interface MailMetricsDeps {
  readonly clock: Clock;
  readonly config: { readonly keepDays: { readonly events: number | null } };
}
