import type { Provider } from "@mailsvc/sdk/contract";
import type { DeliveryError } from "../mail/mailer.ts";

/** Source of a report: a mail (DSN, ARF), or the webhook of a provider. */
type ReportSource = "dsn" | "arf" | Provider;

/** Outcome of an email after the next hop had accepted it. */
export interface Report {
  readonly emailId: string;
  /**
   * The recipient that a report names which knows the email by its Message-ID, which all recipients of a mail share; null if it names
   * none. Absent if `emailId` is the recipient's own.
   */
  readonly recipient?: string | null;
  readonly source: ReportSource;
  /** The same for the same report, however often it comes. */
  readonly key: string;
  readonly outcome: ReportOutcome;
}

export type ReportOutcome =
  | { readonly kind: "delivered" }
  /** Not delivered yet; the other side keeps trying. */
  | { readonly kind: "deferred"; readonly error: DeliveryError }
  | {
      readonly kind: "bounced";
      readonly error: DeliveryError;
      readonly type: BounceType;
      /** The mailbox does not exist or is disabled, so that the address is suppressed. */
      readonly invalidRecipient: boolean;
      /** The provider did not even try, because of what the recipient had told it before. */
      readonly refusedFor?: "complaint" | "unsubscribe";
    }
  /** Reported as spam. `feedbackType` is that of ARF: `abuse`, `fraud`, `virus`, `other`. */
  | { readonly kind: "complained"; readonly feedbackType: string }
  /** The recipient told the provider that they want no more such mail. */
  | { readonly kind: "unsubscribed" };

/** Types of feedback that are complaints; `not-spam` and `auth-failure` are none (RFC 5965, RFC 6430). */
export const COMPLAINTS: ReadonlySet<string> = new Set(["abuse", "fraud", "virus", "other", "opt-out", "opt-out-list", "miscategorized"]);

/** `UNDETERMINED` where a report gives no reason that we understand. */
export type BounceType = "PERMANENT" | "TRANSIENT" | "UNDETERMINED";
