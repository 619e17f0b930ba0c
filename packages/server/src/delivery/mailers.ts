import type { Reader } from "../db/db.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { MailLane } from "./slots.ts";
import type { PendingMail } from "./transform.ts";

/** The mailer that takes an email. */
export interface Choice {
  readonly mailer: Mailer;
  /** The relay whose mailer it is, stored with the attempt; null if the email is captured. */
  readonly relay: string | null;
  /**
   * True if another relay could take the email, and this one is out of service: then the email is not handed over, and its next attempt,
   * which begins at once, is another relay's.
   */
  isOutOfService(): boolean;
  /** Takes a turn in the pace of the relay: null if the email may go now, else when (ms) it is to ask again. */
  takeTurn(lane: MailLane): number | null;
}

/**
 * Decides which mailer takes an email: the only place that does. Every email passes it after it was read and before it is
 * transformed, and once more when it has waited for longer than half a second and is not marked yet. Each mailer that it chooses gets
 * delivery slots of its own, so that one that hangs holds up its own emails only.
 *
 * Mailers for some emails only are composed in `compose-deps.ts` by wrapping: `choose` answers for these emails, and asks the wrapped
 * `Mailers` for the others. The choice must follow from what is stored of the email, so that another process chooses the same.
 */
export interface Mailers {
  /** The mailer of emails for which nothing else is said. */
  readonly main: Mailer;
  /** All mailers that emails may get now, among them `main`. The list is another one whenever it changes. */
  readonly all: readonly Mailer[];
  /** Chooses for each email; answers in their order. */
  choose(read: Reader, mails: readonly Pick<PendingMail, "email" | "contents">[]): Promise<readonly Choice[]>;
}
