import { addressKey } from "@mailsvc/sdk/contract";
import type { Log } from "../lib/log.ts";
import { MINUTE } from "../lib/units.ts";
import type { DeliveryError, Mailer, OutgoingMail, Receipt } from "./mailer.ts";

// Outcomes are counted in the current and the previous slot, so over two and a half to five minutes.
const SLOT_MS = 2.5 * MINUTE;
const PROBE_MS = MINUTE;
const MIN_RECIPIENTS = 10;
// A list of dead mailboxes at one domain is real; one reply for mailboxes at several domains comes from a relay.
const MIN_DOMAINS = 3;
const MAX_REPLIES = 100;

/** Recipients refused with one reply. Sets stop growing at the numbers above. */
interface Refusals {
  count: number;
  readonly recipients: Set<string>;
  readonly domains: Set<string>;
}

interface Slot {
  readonly since: number;
  outcomes: number;
  readonly byReply: Map<string, Refusals>;
}

interface Pause {
  readonly reply: string;
  readonly message: string;
  nextProbeAt: number;
}

/**
 * Stops handing mail over while the next hop refuses nearly everybody with the same words: then the fault is ours or the
 * relay's (not allowed to relay, blocked, wrong sender), and bouncing on would fail a whole audience.
 *
 * | State  | Event                                                                  | Outcome      | Next   |
 * | ------ | ---------------------------------------------------------------------- | ------------ | ------ |
 * | closed | accepted, deferred, other refusal                                      | as it was    | closed |
 * | closed | refusal that 10 recipients, more than half of the last minutes, got    | deferred     | open   |
 * | open   | hand-over within a minute of the last probe                            | deferred     | open   |
 * | open   | probe refused with the same words, or deferred                         | deferred     | open   |
 * | open   | probe accepted, or refused with other words                            | as it was    | closed |
 *
 * Refusals of the mailbox itself open it only when they concern three domains or more.
 */
export function circuitBreaker(mailer: Mailer, { now, log }: { now: () => number; log: Log }): Mailer {
  let current: Slot = newSlot(now());
  let previous: Slot = newSlot(now());
  let pause: Pause | null = null;

  const rotate = (): void => {
    const age = now() - current.since;
    if (age >= 0 && age < SLOT_MS) return;
    previous = age >= 0 && age < 2 * SLOT_MS ? current : newSlot(now());
    current = newSlot(now());
  };

  /** Counts a refusal; answers how many recipients got this reply if the breaker must open, else 0. */
  const countRefusal = (reply: string, { envelopeTo }: OutgoingMail, invalidRecipient: boolean): number => {
    const known = current.byReply.get(reply) ?? { count: 0, recipients: new Set(), domains: new Set() };
    if (current.byReply.size < MAX_REPLIES) current.byReply.set(reply, known);
    const recipient = addressKey(envelopeTo);
    known.count += 1;
    if (known.recipients.size < MIN_RECIPIENTS) known.recipients.add(recipient);
    if (known.domains.size < MIN_DOMAINS) known.domains.add(recipient.slice(recipient.lastIndexOf("@")));
    const before = previous.byReply.get(reply);
    const recipients = new Set([...known.recipients, ...(before?.recipients ?? [])]).size;
    const domains = new Set([...known.domains, ...(before?.domains ?? [])]).size;
    const count = known.count + (before?.count ?? 0);
    const most = count > (current.outcomes + previous.outcomes) / 2;
    return most && recipients >= MIN_RECIPIENTS && (!invalidRecipient || domains >= MIN_DOMAINS) ? count : 0;
  };

  const open = (reply: string, { message }: DeliveryError, refused: number): void => {
    const outcomes = current.outcomes + previous.outcomes;
    pause = {
      reply,
      message: `Delivery is paused: the mail server refused ${refused} of the last ${outcomes} recipients with: ${message}`,
      nextProbeAt: now() + PROBE_MS,
    };
    log.error("the mail server refuses most recipients with the same reply; delivery is paused and tried once a minute", {
      reply: message,
      refused,
      outcomes,
    });
  };

  const close = (): void => {
    pause = null;
    current = newSlot(now());
    previous = newSlot(now());
    log.info("the mail server accepts recipients again; delivery continues");
  };

  const send = async (mail: OutgoingMail): Promise<Receipt> => {
    rotate();
    if (pause !== null) {
      if (now() < pause.nextProbeAt) return paused(pause);
      pause.nextProbeAt = now() + PROBE_MS;
    }
    const receipt = await mailer.send(mail);
    rotate();
    current.outcomes += 1;
    if (receipt.outcome === "bounced") {
      const reply = normalizeReply(receipt.error.message);
      if (pause?.reply === reply) return paused(pause);
      const refused = countRefusal(reply, mail, receipt.invalidRecipient === true);
      if (refused > 0 && pause === null) {
        open(reply, receipt.error, refused);
        return paused(pause as Pause | null);
      }
    }
    if (pause !== null && receipt.outcome !== "deferred" && receipt.outcome !== "unknown") close();
    return receipt;
  };

  return { ...mailer, send, fault: () => pause?.message ?? mailer.fault() };
}

/** A reply without what differs from one recipient to the next: addresses, numbers and queue ids. */
export function normalizeReply(message: string): string {
  return message
    .replace(/<[^<>]*>|[^\s<>"(]+@[^\s<>")]+/g, "@")
    .replace(/\b(?=\w*\d)[\w.-]+/g, "#")
    .replace(/\s+/g, " ")
    .toLowerCase();
}

function newSlot(since: number): Slot {
  return { since, outcomes: 0, byReply: new Map() };
}

function paused(pause: Pause | null): Receipt {
  const message = (pause?.message ?? "").slice(0, 500);
  return { outcome: "deferred", error: { message, smtpCode: null, enhancedCode: null }, unavailable: true };
}
