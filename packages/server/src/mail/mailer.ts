import type { Mailbox } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";

export interface MailAttachment {
  filename: string;
  contentType: string;
  /** Set for files shown inline through `cid:`. */
  contentId: string | null;
  content: Uint8Array;
}

/** Recipient named in a header: an address, and a name that may be empty. */
export type Addressee = Pick<Mailbox, "name" | "address">;

/** One message with all decisions made, as a mailer hands it over to one of its recipients. */
export interface OutgoingMail {
  /** `local@domain`, for MAIL FROM. */
  envelopeFrom: string;
  /** `local@domain`, for RCPT TO. */
  envelopeTo: string;
  /** The Message-ID header with its angle brackets; the same on every attempt. */
  messageId: string;
  /** The From header: a bare address or `Name <address>`. */
  from: string;
  /** The To and Cc headers: the recipient, or all whom a mail to several recipients names. */
  to: readonly Addressee[];
  cc: readonly Addressee[];
  replyTo: string | readonly string[] | null;
  subject: string;
  html: string | null;
  text: string | null;
  /** Custom headers, checked already: no reserved names, no control characters. */
  headers: Readonly<Record<string, string>>;
  attachments: readonly MailAttachment[];
  /** The message itself, if it goes out as it came in; then what its headers and bodies say counts instead of the fields above. */
  message?: Uint8Array;
  /** The Date header, ms since 1970. */
  date: number;
  /** Number of this attempt, from 1. It does not change the message: every attempt sends the same bytes. */
  attempt: number;
  /** The workspace and email it belongs to, for mailers that store mail. Not part of the message. */
  origin?: { workspaceId: string; emailId: string | null };
  /** The trace it belongs to, as a traceparent. Not part of the message. */
  traceparent?: string | null;
  /**
   * Asked right before the first byte of the message is written, which a slow mail server may put off for minutes. If it answers false, the
   * message is not sent, and the outcome is `deferred`.
   */
  isStillWanted?: () => Promise<boolean>;
}

/** The reply of the other side, for people to read: `smtpCode` 550, `enhancedCode` "5.1.1". */
export interface DeliveryError {
  message: string;
  smtpCode: number | null;
  enhancedCode: string | null;
}

/**
 * The outcome of a hand-over.
 * - `sent`: the next hop took responsibility (SMTP 250).
 * - `delivered`: it is where the recipient reads it. `record` is written in the transaction that stores the outcome, so that
 *   the delivery happens exactly once even if the process dies.
 * - `deferred`: not now (4xx, connection refused or lost before the message was complete). Try again later.
 * - `bounced`: never (5xx). `invalidRecipient` if the reply says that the mailbox does not exist or is disabled; only then
 *   may the address be suppressed. A refused sender, relay, policy or content says nothing about the recipient.
 * - `unknown`: the connection was lost after the whole message was written and before the reply was read. It may have
 *   arrived; the caller marks it as in doubt and sends it again under the same Message-ID.
 *
 * `unavailable` if the reason is the next hop itself, not this message: it cannot be reached, refuses the login, closes with 421 or
 * does not reply. `paused` if the message was not handed over at all, because the next hop refuses nearly all of them.
 */
export type Receipt =
  | { outcome: "sent"; response: string }
  | { outcome: "delivered"; response: string; record?: DeliveryRecord }
  | { outcome: "bounced"; error: DeliveryError; invalidRecipient?: true }
  | { outcome: "deferred" | "unknown"; error: DeliveryError; unavailable?: true; paused?: true };

/** A delivery that is a row of our own database, written in the transaction that stores its outcome. */
export interface DeliveryRecord<Row = unknown> {
  readonly row: Row;
  readonly writer: DeliveryWriter<Row>;
}

/** Writes the rows of many deliveries in one statement. */
export interface DeliveryWriter<Row = unknown> {
  writeAll(tx: Tx, rows: readonly Row[]): Promise<void>;
}

/** Writes the rows of deliveries. */
export async function recordDeliveries(tx: Tx, records: readonly DeliveryRecord[]): Promise<void> {
  for (const [writer, own] of Map.groupBy(records, (record) => record.writer))
    await writer.writeAll(
      tx,
      own.map(({ row }) => row),
    );
}

/** The port of everything that delivers mail; each implementation passes the suite in `mailer.laws.ts`. */
export interface Mailer {
  readonly name: "capture" | "smtp";
  /**
   * True if the hand-over is only a row written by `record`. Then a crash leaves nothing in doubt, and the caller need not
   * store beforehand that it is about to send.
   */
  readonly transactional: boolean;
  /** Number of messages it accepts at once. */
  readonly concurrency: number;
  /** Hands one message over. Throws only for a bug of ours, never for something the other side did. */
  send(mail: OutgoingMail): Promise<Receipt>;
  /** Connects to the next hop: null if it lets us in, else the reason. */
  check(): Promise<string | null>;
  /** Reason delivery is paused now, for `mailsvc doctor`; null if it is not. With a workspace: the reason its mail is paused. */
  fault(workspaceId?: string): string | null;
  /** Takes no further messages. Lets those under way finish for `graceMs` (ten seconds), then cuts their connections. */
  close(graceMs?: number): Promise<void>;
}
