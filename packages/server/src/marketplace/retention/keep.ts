/**
 * For how many days records of the marketplace are kept, once they are over; null for ever. What is still live is kept
 * however old it is: runs and wakeups under way, events no webhook has acknowledged, and all that people wrote, paid or signed.
 */
export interface RetentionPolicy {
  /** What runs have logged; never longer than the runs. */
  readonly logs: number | null;
  /** Runs that have ended, and wakeups. */
  readonly runs: number | null;
  /** Events for webhooks, with their attempts. */
  readonly deliveries: number | null;
  /** Views, visitors and referrers of landing pages, by days. */
  readonly stats: number | null;
}

export const DEFAULT_RETENTION: RetentionPolicy = { logs: 30, runs: 365, deliveries: 90, stats: 730 };
