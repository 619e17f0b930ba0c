const STATES = {
  queued: {
    meaning: "on disk, waiting for delivery or for its scheduled time",
    rank: 2,
    open: true,
    next: ["sending", "delivered", "deferred", "bounced", "failed", "suppressed", "skipped", "cancelled"],
  },
  sending: {
    meaning: "being handed over by SMTP",
    rank: 1,
    open: true,
    next: ["queued", "sent", "delivered", "deferred", "bounced", "failed", "suppressed", "skipped", "cancelled"],
  },
  sent: { meaning: "the next server accepted it (SMTP 250)", rank: 4, open: false, next: ["delivered", "bounced", "complained"] },
  delivered: { meaning: "the recipient can read it", rank: 5, open: false, next: ["bounced", "complained"] },
  deferred: {
    meaning: "not accepted yet (4xx, no connection); tried again at `nextAttemptAt`",
    rank: 3,
    open: true,
    next: ["sending", "delivered", "bounced", "failed", "suppressed", "skipped", "cancelled"],
  },
  bounced: { meaning: "refused permanently (5xx)", rank: 7, open: false, next: [] },
  complained: { meaning: "reported as spam; the address is suppressed", rank: 6, open: false, next: [] },
  failed: { meaning: "still not accepted at the last attempt, or could not be composed", rank: 8, open: false, next: [] },
  suppressed: {
    meaning: "the address was suppressed: after the message was queued, or before, as one of several recipients of a mail",
    rank: 10,
    open: false,
    next: [],
  },
  skipped: { meaning: "mail of a campaign or an automation that is not sent, for its `skipReason`", rank: 11, open: false, next: [] },
  cancelled: { meaning: "cancelled before it was handed over", rank: 9, open: false, next: [] },
} as const;

export const EMAIL_STATUSES = Object.keys(STATES) as readonly (keyof typeof STATES)[];
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** A state of an email, and of each of its recipients. */
interface EmailState {
  readonly meaning: string;
  /**
   * A mail to several recipients has the status of the one with the lowest rank. So it is open as long as anybody is to get it, and
   * afterwards it is `sent` or `delivered` if anybody got it. Only a mail that nobody got shows why.
   */
  readonly rank: number;
  /** True while it is still to be delivered. */
  readonly open: boolean;
  /** The states it can go to; none if it is final. */
  readonly next: readonly EmailStatus[];
}

/** The states of an email and the ways between them (docs/emails.md#states). */
export const EMAIL_STATES: Readonly<Record<EmailStatus, EmailState>> = STATES;
