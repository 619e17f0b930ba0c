import { ERRORS, type ErrorCode } from "@mailsvc/sdk/contract";
import type { ApiError } from "../lib/api-error.ts";
import { reply } from "../mail/smtp-listener.ts";
import { FIELD_HEADERS } from "./instructions.ts";

// RFC 5321 4.5.3.1.5: 512 bytes with code and line end.
const MAX_TEXT = 480;

/** The reply of codes that are not `550 5.6.0`, or `451 4.3.0` for errors of ours. */
const REPLIES: Partial<Readonly<Record<ErrorCode, readonly [number, string]>>> = {
  unauthorized: [535, "5.7.8"],
  key_revoked: [535, "5.7.8"],
  key_expired: [535, "5.7.8"],
  forbidden: [550, "5.7.1"],
  sender_not_verified: [550, "5.7.1"],
  recipient_suppressed: [550, "5.7.1"],
  rate_limited: [450, "4.7.1"],
  idempotency_in_progress: [450, "4.3.0"],
  payload_too_large: [552, "5.3.4"],
};

/**
 * An error of the API as a reply of SMTP: people see this line alone, so it has the hint too, but for the one that points at other
 * fields.
 */
export function toReply({ code, status, message, hint, headers }: ApiError): Error {
  const [number, enhanced] = REPLIES[code] ?? (status >= 500 ? [451, "4.3.0"] : [550, "5.6.0"]);
  const wait = headers["retry-after"];
  const text = [message, ...toAdvice(code, hint), ...(wait === undefined ? [] : [`Try again in ${wait} s.`])].join(" ");
  return reply(number, `${enhanced} ${toLine(nameHeaders(text))}`);
}

/** The hint, without those that speak of other fields or of headers of HTTP. */
function toAdvice(code: ErrorCode, hint: string): readonly string[] {
  if (hint !== ERRORS[code].hint) return [hint];
  if (code === "validation_error") return [];
  return code === "storage_unavailable" ? ["Nothing was stored."] : [hint];
}

/** A text about a send, with the headers that set its fields here. */
function nameHeaders(text: string): string {
  const { scheduledAt, bypassUnsubscribe } = FIELD_HEADERS;
  return text.replace(/\bscheduledAt\b/g, scheduledAt).replace(/\bbypassUnsubscribe\b/g, `${bypassUnsubscribe}: yes`);
}

/** One line of ASCII, as long as a reply may be. */
function toLine(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, MAX_TEXT);
}
