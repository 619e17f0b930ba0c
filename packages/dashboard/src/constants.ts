import type { EmailFilterStatus } from "@mailsvc/sdk/contract";

// The contract's own list would bring its schemas with it. The type checker compares the two.
const STATUSES: Readonly<Record<EmailFilterStatus, true>> = {
  queued: true,
  scheduled: true,
  sending: true,
  sent: true,
  delivered: true,
  deferred: true,
  bounced: true,
  complained: true,
  failed: true,
  suppressed: true,
  skipped: true,
  cancelled: true,
};

/** The states by which emails can be filtered. */
export const EMAIL_FILTER_STATUSES = Object.keys(STATUSES);
