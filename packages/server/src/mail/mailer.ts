import type { Tx } from "../db/db.ts";

export interface MailAttachment {
  filename: string;
  contentType: string;
  /** Set for files shown inline through `cid:`. */
  contentId: string | null;
  content: Uint8Array;
}

/** One message to one recipient, with every decision taken: what a mailer hands over. */
export interface OutgoingMail {
  /** `local@domain`, for MAIL FROM. */
  envelopeFrom: string;
  /** `local@domain`, for RCPT TO. */
  envelopeTo: string;
  /** The Message-ID header with its angle brackets; the same on every attempt. */
  messageId: string;
  /** The From header: a bare address or `Name <address>`. */
  from: string;
  to: string;
  replyTo: string | null;
  subject: string;
  html: string | null;
  text: string | null;
  /** Custom headers, checked already: no reserved names, no control characters. */
  headers: Readonly<Record<string, string>>;
  attachments: readonly MailAttachment[];
  /** The Date header, ms since 1970. */
  date: number;
  /** Which try this is, from 1. It changes nothing in the message: every attempt has the same bytes. */
  attempt: number;
  /** Whose it is, for mailers that keep what they take; it is not part of the message. */
  origin?: { workspaceId: string; emailId: string | null };
}

/** What the other side said, for people: `smtpCode` 550, `enhancedCode` "5.1.1". */
export interface DeliveryError {
  message: string;
  smtpCode: number | null;
  enhancedCode: string | null;
}

/**
 * How a hand-over ended.
 * - `sent`: the next hop took responsibility (SMTP 250).
 * - `delivered`: it is where the recipient reads it. `record` writes the delivery in the transaction that notes the
 *   outcome, so that it happens exactly once whenever the process dies.
 * - `deferred`: not now (4xx, connection refused or lost before the message was complete). Try again later.
 * - `bounced`: never (5xx).
 * - `unknown`: the connection was lost after the whole message was out and before the answer was in. It may have
 *   arrived; the caller lists it as in doubt and sends it again under the same Message-ID.
 */
export type Receipt =
  | { outcome: "sent"; response: string }
  | { outcome: "delivered"; response: string; record?: (tx: Tx) => Promise<void> }
  | { outcome: "deferred" | "bounced" | "unknown"; error: DeliveryError };

/** The port every way of handing mail over implements; `mailer.laws.ts` is the suite they all pass. */
export interface Mailer {
  readonly name: "capture" | "smtp";
  /**
   * True when the hand-over is only a row written by `record`: then a crash leaves nothing in doubt, and the caller need
   * not note beforehand that it is about to send.
   */
  readonly transactional: boolean;
  /** How many messages it takes at once. */
  readonly concurrency: number;
  /** Hands one message over. Never throws for what the other side did; throws only for a bug of ours. */
  send(mail: OutgoingMail): Promise<Receipt>;
  /** Says whether the next hop answers, for `/readyz` and `mailsvc doctor`; null when it does, else why not. */
  check(): Promise<string | null>;
  close(): Promise<void>;
}
