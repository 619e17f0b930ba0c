import { StorageUnavailable } from "../db/errors.ts";
import { type ContentsRow, type EmailRow, findContents } from "../emails/emails.ts";
import { isTestMail } from "../lib/ids.ts";
import { SECOND } from "../lib/units.ts";
import type { Receipt } from "../mail/mailer.ts";
import type { DeliveryDeps } from "./deps.ts";
import { domainOf, listHeldDomains } from "./holds.ts";
import { chooseMailers, toPendingMail, transformLoaded } from "./load.ts";
import type { Next } from "./next.ts";
import { outcomeOfReceipt } from "./outcome.ts";
import { checkSuppressed } from "./suppressed.ts";
import type { PendingMail } from "./transform.ts";

// A mark that stays would put the email in doubt, though no byte of it has left. If the fault lasts, the next attempt fails with it.
const NOT_RENEWED: Receipt = {
  outcome: "deferred",
  error: { message: "The email could not be read again right before it was handed over.", smtpCode: null, enhancedCode: null },
  paused: true,
};

// A database that cannot work is asked again each second for this long (real time): it is often back within seconds, while an email that
// is put off waits for minutes. Mail servers wait this long in the middle of a session; a server that stops does not.
const RETRY_MS = SECOND;
const PATIENCE_MS = 30 * SECOND;

/** An email that has waited since it was transformed. */
export interface WaitingMail {
  /** The email as it was loaded. */
  readonly loaded: EmailRow;
  /** The mail to hand over; its email is `sending` if it is marked. */
  readonly mail: PendingMail;
}

/**
 * Decides anew what becomes of emails that have waited for the mail server, and transforms them again with what is stored now. Answers
 * in their order. Never throws.
 *
 * | email                                            | next                                                             |
 * | ------------------------------------------------ | ---------------------------------------------------------------- |
 * | is not marked, goes to a domain that is held now | settle as held                                                   |
 * | its address is suppressed now                    | settle as suppressed                                             |
 * | a transform withdraws it, or fails it            | settle as withdrawn or failed; a mark and its attempt are undone |
 * | the database cannot work for 30 seconds          | as the next row; it is asked again until then or the server stops |
 * | it cannot be read, a transform throws            | fail; if it is marked, settle as deferred: it is no attempt      |
 * | otherwise                                        | hand over                                                        |
 */
export async function renewMails(deps: DeliveryDeps, waiting: readonly WaitingMail[]): Promise<Next[]> {
  const until = deps.clock.real.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await decideAnew(deps, waiting);
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || deps.clock.real.now() > until || deps.queue.isStopping())
        return waiting.map((one) => keepMark(deps, { next: "fail", error }, one));
      await deps.clock.real.sleep(RETRY_MS);
    }
  }
}

/** Throws StorageUnavailable if the database cannot work. */
async function decideAnew(deps: DeliveryDeps, waiting: readonly WaitingMail[]): Promise<Next[]> {
  const heldDomains = await listHeldDomains(deps.db.read);
  const naming = await findNaming(deps, waiting);
  const decided = waiting.map(({ loaded, mail }): Next => {
    const domain = domainOf(loaded.toKey);
    if (mail.email === loaded && heldDomains.has(domain) && !isTestMail(loaded.id))
      return { next: "settle", effect: { kind: "held", email: loaded, domain } };
    return { next: "handOver", mail: toPendingMail(loaded, naming.get(mail.contents.id) ?? mail.contents) };
  });
  await chooseMailers(deps, decided);
  const transformed = await transformLoaded(deps, decided);
  const toSend = transformed.flatMap((next) => (next.next === "handOver" ? next.mail : []));
  const checked = (await checkSuppressed(deps, toSend)).values();
  const renewed = transformed.map((next) => (next.next === "handOver" ? (checked.next().value ?? next) : next));
  for (const next of renewed) if (next.next === "fail" && next.error instanceof StorageUnavailable) throw next.error;
  return renewed.map((next, i) => keepMark(deps, next, waiting[i] as WaitingMail));
}

/** The contents of mails to several recipients as they are now, by id: a person whom their headers named may have been erased. */
async function findNaming({ db }: DeliveryDeps, waiting: readonly WaitingMail[]): Promise<Map<number, ContentsRow>> {
  const ids = [...new Set(waiting.flatMap(({ mail: { contents } }) => (contents.addressees === null ? [] : contents.id)))];
  return new Map(ids.length === 0 ? [] : (await findContents(db.read, ids)).map((row) => [row.id, row]));
}

/** Applies a decision about an email as it was loaded to the email as marked. The marked attempt does not count: it was not made. */
function keepMark({ clock, random }: DeliveryDeps, next: Next, { loaded, mail: { email, choice, attempt } }: WaitingMail): Next {
  if (email === loaded) return next;
  const relay = choice?.relay ?? null;
  if (next.next === "fail")
    return { next: "settle", effect: outcomeOfReceipt(NOT_RENEWED, { email, attempt, relay, at: clock.now(), random }) };
  // The mark names the relay: no other one may get it.
  if (next.next === "handOver") return { next: "handOver", mail: { ...next.mail, email, choice } };
  if (next.next !== "settle" || next.effect?.kind !== "outcome") return next;
  const { effect } = next;
  return {
    next: "settle",
    effect: { ...effect, move: { ...effect.move, email, patch: { ...effect.move.patch, attempts: loaded.attempts } } },
  };
}
