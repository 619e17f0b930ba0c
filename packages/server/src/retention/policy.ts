/**
 * Days for which records are kept after they end; null keeps them forever. Exempt at any age: runs and wakeups under way, events
 * that no webhook has acknowledged, mail that is still to be sent, and everything people wrote, paid or signed.
 */
export interface RetentionPolicy {
  /** Logs of runs; never longer than the runs themselves. */
  readonly logs: number | null;
  /** Runs and wakeups that have ended. */
  readonly runs: number | null;
  /** Webhook events with their attempts. */
  readonly deliveries: number | null;
  /** Daily views, visitors and referrers of landing pages. */
  readonly stats: number | null;
  /** Events of the workspaces, with their deliveries to developers' webhooks. */
  readonly events: number | null;
  /** Received mail with its files. */
  readonly received: number | null;
  /** Mail that was sent, with its contents and files, and captured mail. */
  readonly emails: number | null;
  /** Who changed what. */
  readonly audit: number | null;
  /** Requests to the API; 0 for none. */
  readonly requests: number | null;
}

export const DEFAULT_RETENTION: RetentionPolicy = {
  logs: 30,
  runs: 365,
  deliveries: 90,
  stats: 730,
  events: null,
  received: null,
  emails: null,
  audit: 365,
  requests: 0,
};
