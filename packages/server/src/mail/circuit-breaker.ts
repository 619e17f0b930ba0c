import { addressKey } from "@mailsvc/sdk/contract";
import { maskAddresses } from "../lib/address-text.ts";
import type { Log } from "../lib/log.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import type { DeliveryError, Mailer, OutgoingMail, Receipt } from "./mailer.ts";

// Outcomes are counted in the current and the previous slot, so over two and a half to five minutes.
const SLOT_MS = 2.5 * MINUTE;
const PROBE_MS = MINUTE;
// A pause that no mail has tried for this long is not reported any more.
const UNTRIED_MS = HOUR;
const MIN_RECIPIENTS = 10;
// A list of dead mailboxes at one domain is real; one reply for mailboxes at several domains comes from a relay.
const MIN_DOMAINS = 3;
const MAX_REPLIES = 100;

// Refusals of the mail of one sender may be about that sender alone.
const MIN_SENDERS = 2;
// With more senders than these, no pauses of single ones are taken for a pause of all.
const MAX_SENDERS = 1000;

/** Recipients refused with one reply. Sets stop growing at the numbers above. */
interface Refusals {
  count: number;
  readonly recipients: Set<string>;
  readonly domains: Set<string>;
  readonly senders: Set<string>;
}

interface Slot {
  readonly since: number;
  outcomes: number;
  /** Recent senders. */
  readonly senders: Set<string>;
  readonly byReply: Map<string, Refusals>;
}

interface Pause {
  readonly reply: string;
  readonly message: string;
  nextProbeAt: number;
}

/** Replies of the mail server in the last minutes, in two slots; the older one is dropped as a whole. */
class RecentReplies {
  readonly #now: () => number;
  #current: Slot;
  #previous: Slot;

  constructor(now: () => number) {
    this.#now = now;
    this.#current = newSlot(now());
    this.#previous = newSlot(now());
  }

  get outcomes(): number {
    return this.#current.outcomes + this.#previous.outcomes;
  }

  /** Recent senders. */
  get senders(): string[] {
    this.#rotate();
    return [...this.#current.senders, ...this.#previous.senders];
  }

  /** Counts a reply to the mail of a sender. */
  add(sender: string): void {
    this.#rotate();
    this.#current.outcomes += 1;
    if (this.#current.senders.size < MAX_SENDERS) this.#current.senders.add(sender);
  }

  /**
   * Counts a refusal that was added; answers how many recipients got this reply, and from how many senders, if the breaker must open,
   * else null.
   */
  countRefusal(reply: string, mail: OutgoingMail, invalidRecipient: boolean): { count: number; senders: number } | null {
    const { byReply } = this.#current;
    const known = byReply.get(reply) ?? { count: 0, recipients: new Set(), domains: new Set(), senders: new Set() };
    if (byReply.size < MAX_REPLIES) byReply.set(reply, known);
    const recipient = addressKey(mail.envelopeTo);
    known.count += 1;
    if (known.recipients.size < MIN_RECIPIENTS) known.recipients.add(recipient);
    if (known.senders.size < MIN_SENDERS) known.senders.add(readSender(mail));
    if (known.domains.size < MIN_DOMAINS) known.domains.add(recipient.slice(recipient.lastIndexOf("@")));
    const before = this.#previous.byReply.get(reply);
    const recipients = new Set([...known.recipients, ...(before?.recipients ?? [])]).size;
    const domains = new Set([...known.domains, ...(before?.domains ?? [])]).size;
    const count = known.count + (before?.count ?? 0);
    const most = count > this.outcomes / 2;
    const senders = new Set([...known.senders, ...(before?.senders ?? [])]).size;
    return most && recipients >= MIN_RECIPIENTS && (!invalidRecipient || domains >= MIN_DOMAINS) ? { count, senders } : null;
  }

  forget(): void {
    this.#current = newSlot(this.#now());
    this.#previous = newSlot(this.#now());
  }

  #rotate(): void {
    const age = this.#now() - this.#current.since;
    if (age >= 0 && age < SLOT_MS) return;
    this.#previous = age >= 0 && age < 2 * SLOT_MS ? this.#current : newSlot(this.#now());
    this.#current = newSlot(this.#now());
  }
}

/**
 * Stops handing mail over while the next hop refuses nearly everybody with the same words: then the fault is ours or the
 * relay's (not allowed to relay, blocked, wrong sender), and bouncing on would fail a whole audience.
 *
 * It opens for the senders, which are workspaces, whose mail is refused: for all of them once the mail of two is. While it is open for one,
 * mail of the others goes on.
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
  const recent = new RecentReplies(now);
  /** Pauses by sender; ALL for the pause of all senders. */
  const pauses = new Map<string, Pause>();
  const findPause = (sender: string): Pause | null => pauses.get(ALL) ?? pauses.get(sender) ?? null;

  const open = (reply: string, error: DeliveryError, refused: number, scope: string): Pause => {
    // Shown to other people than the recipient whom it may name, so addresses are masked.
    const message = maskAddresses(error.message);
    const { outcomes } = recent;
    const pause = {
      reply,
      message: `Delivery is paused: the mail server refused ${refused} of the last ${outcomes} recipients with: ${message}`,
      nextProbeAt: now() + PROBE_MS,
    };
    if (scope === ALL) pauses.clear();
    pauses.set(scope, pause);
    log.error("the mail server refuses most recipients with the same reply; delivery is paused and tried once a minute", {
      reply: message,
      refused,
      outcomes,
      ...(scope !== ALL && { sender: scope }),
    });
    return pause;
  };

  const close = (sender: string): void => {
    pauses.delete(pauses.has(ALL) ? ALL : sender);
    recent.forget();
    log.info("the mail server accepts recipients again; delivery continues");
  };

  const send = async (mail: OutgoingMail): Promise<Receipt> => {
    const sender = readSender(mail);
    const before = findPause(sender);
    if (before !== null) {
      const wait = before.nextProbeAt - now();
      // A probe that is further away is due: the clock was set back.
      if (wait > 0 && wait <= PROBE_MS) return { ...refuse(before), paused: true };
      before.nextProbeAt = now() + PROBE_MS;
    }
    const receipt = await mailer.send(mail);
    // No reply of the mail server refused the message: it cannot be handed over in this form.
    if (receipt.outcome === "bounced" && receipt.error.smtpCode === null) return receipt;
    recent.add(sender);
    const pause = findPause(sender);
    if (receipt.outcome === "bounced") {
      const reply = normalizeReply(receipt.error.message);
      if (pause?.reply === reply) return refuse(pause);
      const refused = recent.countRefusal(reply, mail, receipt.invalidRecipient === true);
      if (refused !== null && pause === null)
        return refuse(open(reply, receipt.error, refused.count, refused.senders >= MIN_SENDERS ? ALL : sender));
    }
    if (pause !== null && receipt.outcome !== "deferred" && receipt.outcome !== "unknown") close(sender);
    return receipt;
  };

  /** The pause that holds all mail up: that of all senders, or one of those of each who sends. */
  const findFault = (): Pause | null => {
    // Only mail finds out whether it is over, so one that no mail has tried for an hour says nothing any more.
    const [pause] = [...pauses.values()].filter(({ nextProbeAt }) => now() - nextProbeAt < UNTRIED_MS);
    if (pause === undefined || pauses.has(ALL)) return pause ?? null;
    const { senders } = recent;
    return senders.length < MAX_SENDERS && senders.every((sender) => pauses.has(sender)) ? pause : null;
  };

  return {
    ...mailer,
    send,
    fault: (sender) => (sender === undefined ? findFault() : findPause(sender))?.message ?? mailer.fault(sender),
  };
}

// No sender is named so.
const ALL = "";

/** Sender of a mail: its workspace, or its domain if no workspace is known. */
function readSender({ origin, from }: OutgoingMail): string {
  return origin?.workspaceId ?? from.slice(from.lastIndexOf("@"));
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
  return { since, outcomes: 0, senders: new Set(), byReply: new Map() };
}

function refuse(pause: Pause): Extract<Receipt, { outcome: "deferred" | "unknown" }> {
  const message = pause.message.slice(0, 500);
  return { outcome: "deferred", error: { message, smtpCode: null, enhancedCode: null }, unavailable: true };
}
