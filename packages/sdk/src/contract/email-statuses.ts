/** The states of an email, and of each of its recipients. */
export const EMAIL_STATUSES = [
  "queued",
  "sending",
  "sent",
  "delivered",
  "deferred",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "skipped",
  "cancelled",
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];
