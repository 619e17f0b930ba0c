import type { Clock } from "../lib/clock.ts";

export interface MailMetricsDeps {
  readonly clock: Clock;
  readonly config: { readonly keepDays: { readonly events: number | null } };
}
