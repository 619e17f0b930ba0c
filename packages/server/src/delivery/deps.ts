import type { EmailDeps } from "../emails/deps.ts";
import type { Mailers } from "./mailers.ts";
import type { MailTransform } from "./transform.ts";

/** What delivering emails needs. */
export interface DeliveryDeps extends EmailDeps {
  /** Who takes each email. */
  readonly mailers: Mailers;
  /** What happens to emails before they are handed over, in this order. */
  readonly mailTransforms: readonly MailTransform[];
}
