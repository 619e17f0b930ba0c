import type { DeliveryError, Receipt } from "./mailer.ts";
import { isMailboxGone } from "./reply-judge.ts";

// Replies are for people to read: long enough for any honest one.
const MAX_MESSAGE = 500;

/** The text of a peer, made safe to show: one line, no control or direction characters, at most 500 characters. */
export function peerText(text: string): string {
  return (
    text
      // Only the start is read: a reply may be a megabyte.
      .slice(0, 4 * MAX_MESSAGE)
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
      .trim()
      .slice(0, MAX_MESSAGE)
      .toWellFormed()
  );
}

/** The text of a 250 reply, for people to read. */
export function getAcceptedText(reply: string): string {
  return parseReply(reply).message;
}

/** A deferral because the next hop, or the mailer, is not there. */
export function deferred(message: string): Receipt {
  return { outcome: "deferred", error: ourError(message), unavailable: true };
}

/** The message was not sent, because it was not wanted any more when its bytes were to be written. */
export const notWanted: Receipt = { outcome: "deferred", error: ourError("The message was withdrawn before it was sent.") };

/** Progress of a message at the time of a failure. */
export type Phase =
  /** Connect, TLS, EHLO, AUTH: nothing about this message yet. */
  | "session"
  /** MAIL, RCPT, DATA, and while the message is written. */
  | "message"
  /** The whole message with its final dot is written; the reply is not here yet. */
  | "answer";

/** A failure as nodemailer's SMTP client reports it. */
export interface SmtpFailure {
  message: string;
  code?: string | undefined;
  command?: string | undefined;
  response?: string | undefined;
  responseCode?: number | undefined;
}

/** A failure of our own part of a session: `EENVELOPE` and `EMESSAGE` are refusals, of the envelope and of the message. */
export class SmtpError extends Error implements SmtpFailure {
  readonly code: "EENVELOPE" | "EMESSAGE" | "EPROTOCOL" | "ECONNECTION";
  readonly command: string | undefined;
  readonly response: string | undefined;

  constructor(code: SmtpError["code"], message: string, { command, response }: Pick<SmtpFailure, "command" | "response"> = {}) {
    super(response === undefined ? message : `${message}: ${response}`);
    this.code = code;
    this.command = command;
    this.response = response;
  }

  get responseCode(): number | undefined {
    return this.response === undefined ? undefined : Number(this.response.slice(0, 3));
  }
}

// Replies about us, whatever command they answer: 503 the session is out of step, 530 538 authenticate or
// encrypt first, 534 535 wrong credentials (RFC 4954 6), 421 the server is going away.
const ABOUT_US = new Set([421, 503, 530, 534, 535, 538]);

const MESSAGE_COMMANDS = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/**
 * The receipt for a failure. Only a 5xx reply to MAIL, RCPT or DATA, or to the message itself, bounces: a wrong password or
 * a broken certificate must never reach a recipient's record. Without a reply it is `unknown` once the whole message is out.
 */
export function failureReceipt(failure: SmtpFailure, phase: Phase): Receipt {
  const { code, command = "", response, responseCode = 0 } = failure;
  const answered = response !== undefined && MESSAGE_COMMANDS.has(command) && (code === "EENVELOPE" || code === "EMESSAGE");
  if (answered && phase !== "session") {
    const error = parseReply(response);
    const permanent = responseCode >= 500 && responseCode < 600 && !ABOUT_US.has(responseCode);
    if (!permanent) return { outcome: "deferred", error, ...(ABOUT_US.has(responseCode) && { unavailable: true }) };
    return { outcome: "bounced", error, ...(command === "RCPT TO" && isMailboxGone(error) && { invalidRecipient: true }) };
  }
  // The server announced a limit (SIZE, RFC 1870) that this message exceeds: no attempt can change that.
  if (code === "EMESSAGE" && command === "MAIL FROM")
    return { outcome: "bounced", error: { ...ourError(failure.message), enhancedCode: "5.3.4" } };
  // The client cannot put an address into a command: < or > inside a quoted local part. Only that of the recipient is its fault.
  if (code === "EENVELOPE" && response === undefined) {
    if (command === "MAIL FROM") return { outcome: "bounced", error: { ...ourError(failure.message), enhancedCode: "5.1.7" } };
    return { outcome: "bounced", error: { ...ourError(failure.message), enhancedCode: "5.1.3" }, invalidRecipient: true };
  }
  const error =
    response === undefined ? ourError(sayPlainly(failure)) : { ...parseReply(response), message: peerText(sayPlainly(failure)) };
  const unavailable = phase === "session" || response === undefined || ABOUT_US.has(responseCode);
  return { outcome: phase === "answer" ? "unknown" : "deferred", error, ...(unavailable && { unavailable }) };
}

/**
 * Describes a failed session for people. nodemailer repeats the reply, and Node's advice is meant for people who start their own
 * program.
 */
function sayPlainly({ message, response }: SmtpFailure): string {
  if (response !== undefined && message.startsWith("Invalid greeting")) return `The mail server turns connections away: ${response}`;
  if (message === "Greeting never received") return "The mail server accepts connections, but does not greet in time.";
  return message.replace(/; if the root CA is installed locally, .*--use-system-ca.*$/, "");
}

/** The message needs SMTPUTF8, which the server does not offer (RFC 6531 3.5, enhanced code from RFC 6531 4.4). */
export const utf8Refused: Receipt = {
  outcome: "bounced",
  error: { message: "The mail server does not take addresses beyond ASCII (SMTPUTF8).", smtpCode: null, enhancedCode: "5.6.7" },
};

/**
 * The message has 8-bit bytes, and the server takes 7-bit ones only (RFC 6152 3). Encoding it would break what is signed in it, so it comes
 * back (RFC 3463 3.7: conversion required but not supported).
 */
export const eightBitRefused: Receipt = {
  outcome: "bounced",
  error: {
    message:
      "The mail server takes 7-bit messages only (it does not offer 8BITMIME), and this message has 8-bit bytes. The program that wrote it must encode its texts as quoted-printable or base64.",
    smtpCode: null,
    enhancedCode: "5.6.3",
  },
};

/** A reply such as `550-5.1.1 No such\n550 5.1.1 user`: one line, its codes once at the start. */
export function parseReply(reply: string): DeliveryError {
  const [first = "", ...rest] = reply.slice(0, 8 * MAX_MESSAGE).split(/\r?\n/);
  const [, code, enhanced] = /^(\d{3})(?:[ -]([245]\.\d{1,3}\.\d{1,3})(?![\d.]))?/.exec(first) ?? [];
  const continued = rest.map((line) => line.replace(/^\d{3}[ -]?(?:[245]\.\d{1,3}\.\d{1,3}(?![\d.]))?/, ""));
  const message = peerText([first.replace(/^(\d{3})-/, "$1 "), ...continued].join(" "));
  return { message, smtpCode: code === undefined ? null : Number(code), enhancedCode: enhanced ?? null };
}

function ourError(message: string): DeliveryError {
  return { message: peerText(message), smtpCode: null, enhancedCode: null };
}
