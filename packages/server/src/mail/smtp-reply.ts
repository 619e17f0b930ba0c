import type { DeliveryError, Receipt } from "./mailer.ts";

// What a peer says is for people to read: long enough for any honest answer.
const MAX_MESSAGE = 500;

/** Text of a peer, made harmless: one line, no control or direction characters, at most 500 characters. */
export function peerText(text: string): string {
  return (
    text
      // Only the start is looked at: an answer may be a megabyte.
      .slice(0, 4 * MAX_MESSAGE)
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
      .trim()
      .slice(0, MAX_MESSAGE)
      .toWellFormed()
  );
}

/** What a 250 said, for people. */
export function acceptedText(reply: string): string {
  return readReply(reply).message;
}

/** Not now, for a reason on our side of the line. */
export function deferred(message: string): Receipt {
  return { outcome: "deferred", error: ours(message) };
}

/** How far a message had come when something went wrong. */
export type Phase =
  /** Connecting, TLS, EHLO, AUTH: nothing about this message yet. */
  | "session"
  /** MAIL, RCPT, DATA, and while the message is being written. */
  | "message"
  /** The whole message with its final dot is written; the answer is not in. */
  | "answer";

/** What nodemailer's SMTP client reports. */
export interface SmtpFailure {
  message: string;
  code?: string | undefined;
  command?: string | undefined;
  response?: string | undefined;
  responseCode?: number | undefined;
}

// Replies that are about us, whatever command they answer: 503 the session is out of step, 530 538 authenticate or
// encrypt first, 534 535 wrong credentials (RFC 4954 6), 421 the server is going away.
const ABOUT_US = new Set([421, 503, 530, 534, 535, 538]);

const MESSAGE_COMMANDS = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/**
 * The receipt for a failure. Only a 5xx that answers MAIL, RCPT or DATA bounces: a wrong password or a broken certificate
 * must never reach a recipient's record. Without an answer it is `unknown` once the whole message was out.
 */
export function failureReceipt(failure: SmtpFailure, phase: Phase): Receipt {
  const { code, command = "", response, responseCode = 0 } = failure;
  const answered = response !== undefined && MESSAGE_COMMANDS.has(command) && (code === "EENVELOPE" || code === "EMESSAGE");
  if (answered && phase !== "session") {
    const permanent = responseCode >= 500 && responseCode < 600 && !ABOUT_US.has(responseCode);
    return { outcome: permanent ? "bounced" : "deferred", error: readReply(response) };
  }
  // The server announced a limit (SIZE, RFC 1870) that this message is above: no attempt can change that.
  if (code === "EMESSAGE" && command === "MAIL FROM")
    return { outcome: "bounced", error: { ...ours(failure.message), enhancedCode: "5.3.4" } };
  // The client itself finds the address impossible to put into a command: < or > inside a quoted local part.
  if (code === "EENVELOPE" && response === undefined)
    return { outcome: "bounced", error: { ...ours(failure.message), enhancedCode: "5.1.3" } };
  const error = response === undefined ? ours(failure.message) : { ...readReply(response), message: peerText(failure.message) };
  return { outcome: phase === "answer" ? "unknown" : "deferred", error };
}

/** SMTPUTF8 is needed and not offered (RFC 6531 3.5, enhanced code from RFC 6531 4.4). */
export const utf8Refused: Receipt = {
  outcome: "bounced",
  error: { message: "The mail server does not take addresses beyond ASCII (SMTPUTF8).", smtpCode: null, enhancedCode: "5.6.7" },
};

/**
 * True when a bounce says that the mailbox itself is the trouble: such an address goes on the suppression list. A refused
 * sender, an oversized or suspicious message or a policy is no fault of the recipient.
 */
export function blamesRecipient({ smtpCode, enhancedCode }: DeliveryError): boolean {
  // RFC 3463 and its registry: bad or unknown mailbox, domain or syntax (5.1.x, not 5.1.7 and 5.1.8: the sender's),
  // and disabled mailboxes (5.2.1).
  if (enhancedCode !== null) return /^5\.(?:1\.(?:[1-6]|10)|2\.1)$/.test(enhancedCode);
  return smtpCode === 550 || smtpCode === 551 || smtpCode === 553;
}

/** A reply such as `550-5.1.1 No such\n550 5.1.1 user`: one line, its codes once at the start. */
function readReply(reply: string): DeliveryError {
  const [first = "", ...rest] = reply.slice(0, 8 * MAX_MESSAGE).split(/\r?\n/);
  const [, code, enhanced] = /^(\d{3})(?:[ -]([245]\.\d{1,3}\.\d{1,3})(?![\d.]))?/.exec(first) ?? [];
  const continued = rest.map((line) => line.replace(/^\d{3}[ -]?(?:[245]\.\d{1,3}\.\d{1,3}(?![\d.]))?/, ""));
  const message = peerText([first.replace(/^(\d{3})-/, "$1 "), ...continued].join(" "));
  return { message, smtpCode: code === undefined ? null : Number(code), enhancedCode: enhanced ?? null };
}

function ours(message: string): DeliveryError {
  return { message: peerText(message), smtpCode: null, enhancedCode: null };
}
