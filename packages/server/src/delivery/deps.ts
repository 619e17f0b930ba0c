import type { SkipReason } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { EmailDeps } from "../emails/deps.ts";
import type { EmailRow } from "../emails/emails.ts";
import type { Mailers } from "./mailers.ts";
import type { MailTransform, PendingMail } from "./transform.ts";

/** An email that is not handed over, and why. */
export interface SkippedEmail {
  readonly campaignId: string;
  readonly variant: string | null;
  readonly reason: SkipReason;
}

/** Callbacks of other features. `features.ts` connects them. */
interface DeliveryHooks {
  /** These emails were put back because their campaign was paused when they were read. */
  putBack(tx: Tx, emails: readonly EmailRow[]): Promise<void>;
  /** These emails of campaigns were skipped, each for its reason: no event says so. */
  skipped(tx: Tx, emails: readonly SkippedEmail[]): Promise<void>;
  /** A simulated recipient answers an email. */
  answered(mail: PendingMail): Promise<void>;
  /** The people whom these emails were to were erased while their mail was made. */
  erased(tx: Tx, emails: readonly EmailRow[]): Promise<void>;
}

export interface DeliveryDeps extends EmailDeps {
  /** Mailers, one of which takes each email. */
  readonly mailers: Mailers;
  /** Transforms of emails before they are handed over, in this order. */
  readonly mailTransforms: readonly MailTransform[];
  readonly deliveryHooks: DeliveryHooks;
}
