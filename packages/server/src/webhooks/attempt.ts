import type { AttemptClass } from "@mailsvc/sdk/contract";
import { SECOND } from "../lib/units.ts";

/** The whole of an attempt, ms: name lookup, connection, response and its body. */
export const ATTEMPT_TIMEOUT_MS = 8000;

/**
 * Delays after each failed attempt to send an event, ms. Without jitter, so that retries happen as documented, to the
 * millisecond. Many retries due at one instant do no harm, since each endpoint gets only a limited number of requests at a time.
 */
export interface RetrySchedule {
  /** After each direct attempt but the last; the event is `pending` meanwhile. */
  readonly direct: readonly number[];
  /** After the direct attempts, then after each queued one; the event is `queued` meanwhile. */
  readonly queued: readonly number[];
}

/** State of an event after a failed attempt, and its next attempt. */
export interface RetryPlan {
  readonly state: "pending" | "queued" | "dead";
  /** Attempts that count so far. */
  readonly tries: number;
  /** ms until the next attempt; null when the event is given up. */
  readonly delay: number | null;
}

/**
 * Plans what follows a failed attempt. `before` is the number of attempts that counted until then; `directOnly` for events that
 * are given up after the direct attempts. 410 gives an event up at once. When an overloaded receiver (429 or 503) sends
 * Retry-After, the direct attempts that are left are skipped, and the queue waits for as long as it asks, up to twice its own delay.
 */
export function planRetry(
  { direct, queued }: RetrySchedule,
  { httpStatus, retryAfter }: Pick<Attempt, "httpStatus" | "retryAfter">,
  before: number,
  directOnly: boolean,
): RetryPlan {
  const directTries = direct.length + 1;
  const spared = retryAfter !== null && (httpStatus === 429 || httpStatus === 503) && !directOnly;
  const tries = spared ? Math.max(before + 1, directTries) : before + 1;
  const delay = direct[tries - 1];
  if (httpStatus === 410) return { state: "dead", tries, delay: null };
  if (delay !== undefined) return { state: "pending", tries, delay };
  const planned = directOnly ? undefined : queued[tries - directTries];
  if (planned === undefined) return { state: "dead", tries, delay: null };
  return { state: "queued", tries, delay: spared ? Math.min(Math.max(retryAfter, planned), 2 * planned) : planned };
}

/** Result of one attempt to deliver. */
export interface Attempt {
  /** Start of the attempt, ms. */
  readonly at: number;
  /** Duration. */
  readonly ms: number;
  readonly class: AttemptClass;
  readonly httpStatus: number | null;
  /** Failure in our own sentence; null for a success. */
  readonly message: string | null;
  /** The beginning of the response, secrets redacted; null when there was none. */
  readonly answer: string | null;
  /** Wait that the receiver asks for, ms. */
  readonly retryAfter: number | null;
}

/** Returns advice for the webhook's owner, from the class of an attempt and the webhook's answer. */
export function explainAttempt({ class: kind, answer }: Pick<Attempt, "class" | "answer">): string {
  if (kind === "signature_rejected" && answer !== null) for (const [said, hint] of CLOCK_HINTS) if (said.test(answer)) return hint;
  return HINTS[kind];
}

const REAL_TIME = "webhook-timestamp is the real time of the attempt, also while `mailsvc clock` shows another one.";

/** Answers of receivers that compare webhook-timestamp with their own clock: ours, and those built with Standard Webhooks. */
const CLOCK_HINTS: readonly (readonly [said: RegExp, hint: string])[] = [
  [
    /too[_ ]new|from the future/i,
    `Your webhook answered 401 because our request is too new for its clock (too_new). ${REAL_TIME} Set the clock of the receiver's machine.`,
  ],
  [
    /too[_ ]old|seconds old/i,
    `Your webhook answered 401 because our request is too old for its clock (too_old). ${REAL_TIME} Set the clock of the receiver's machine, and verify a request when it arrives.`,
  ],
];

/** Time limit of an attempt, for messages. */
const LIMIT = `${ATTEMPT_TIMEOUT_MS / SECOND} seconds`;

const HINTS: Readonly<Record<AttemptClass, string>> = {
  ok: "Your webhook works.",
  signature_rejected:
    "Your webhook answered 401: it does not accept our signature. Check the secret that it verifies with (of an agent: AGENT_WEBHOOK_SECRET), and verify the raw bytes of the body before any JSON parsing.",
  http_status: "Your webhook answered with an error. Answer 2xx as soon as the event is stored, and process it afterwards.",
  redirect: "Your webhook answered with a redirect, which is not followed. Set the webhook's URL to the final one.",
  timeout: `Your webhook did not respond in full within ${LIMIT}. Store the event, answer 200, and process it afterwards.`,
  dns: "The host name of your webhook could not be resolved. Check its spelling and its DNS records.",
  tls: "No secure connection to your webhook: its certificate must be valid, for this name, and from an authority that browsers trust.",
  connection:
    "The connection to your webhook could not be made, or broke off. Check that it is running and that its port can be reached from outside.",
  blocked_address: "The URL of your webhook leads to an address that webhooks are not sent to: it must be on the public Internet.",
  bad_response: "The response of your webhook is not valid HTTP/1.1.",
};

const DNS = /^(?:ENOTFOUND|ENODATA|EAI_|ESERVFAIL|EREFUSED|ETIMEOUT|EBADRESP|EBADNAME|ECANCELLED|ENONAME|EFORMERR|ENOTIMP)/;
const TLS =
  /^(?:CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO|CRL_|ERROR_IN_|INVALID_PURPOSE|PATH_LENGTH)/;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Messages for faults of a certificate, or for another protocol than TLS. */
const TLS_MESSAGES: readonly (readonly [codes: RegExp, message: string])[] = [
  [/^CERT_HAS_EXPIRED$/, "The certificate of the webhook has expired"],
  [/^CERT_NOT_YET_VALID$/, "The certificate of the webhook is not valid yet"],
  [/ALTNAME_INVALID$|^HOSTNAME_MISMATCH$/, "The certificate of the webhook is for another name than the URL's"],
  [/SELF_SIGNED/, "The certificate of the webhook is self-signed"],
  [
    /^UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)/,
    "The certificate of the webhook is from no authority that is trusted here, or its intermediate certificates are missing",
  ],
  [/PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, "The webhook does not speak TLS 1.2 or later"],
  [/WRONG_VERSION_NUMBER$|PACKET_LENGTH_TOO_LONG$/, "The webhook does not speak TLS at this port"],
];

/** The guard of connections refuses this address. */
export class BlockedAddress extends Error {
  override name = "BlockedAddress";
  readonly code = "BLOCKED_ADDRESS";
}

/** The whole of an attempt took longer than it may. */
export class AttemptTimeout extends Error {
  override name = "AttemptTimeout";
  readonly code = "ATTEMPT_TIMEOUT";

  constructor() {
    super(`No complete response within ${LIMIT}.`);
  }
}

/** Response that is not valid HTTP/1.1, or larger than the limits. */
export class BadResponse extends Error {
  override name = "BadResponse";

  /** `reason` is shown to the owner of the webhook. */
  constructor(reason: string) {
    super(`The response is not valid HTTP/1.1: ${reason}.`);
  }
}

/** The class of an attempt that ended without a response, and a sentence about it. */
export function classifyError(error: unknown): { class: AttemptClass; message: string } {
  if (error instanceof AttemptTimeout) return { class: "timeout", message: error.message };
  if (error instanceof BadResponse) return { class: "bad_response", message: error.message };
  if (error instanceof BlockedAddress) return { class: "blocked_address", message: `${error.message}.` };
  const code = getCode(error);
  // The text of an error may name addresses of our network, so only its code is shown, if that is a plain one.
  const shown = /^[A-Z][A-Z0-9_]{2,40}$/.test(code) && !code.startsWith("UND_ERR_") ? ` (${code})` : "";
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return { class: "timeout", message: `No connection within ${LIMIT}.` };
  if (DNS.test(code)) return { class: "dns", message: `The host name could not be resolved${shown}.` };
  if (TLS.test(code)) {
    const message = TLS_MESSAGES.find(([codes]) => codes.test(code))?.[1] ?? "No secure connection";
    return { class: "tls", message: `${message}${shown}.` };
  }
  if (code === "UND_ERR_SOCKET") return { class: "connection", message: "The connection was closed before the response was complete." };
  return { class: "connection", message: `The connection failed${shown}.` };
}

/** The class of an attempt by the status of its response, and a sentence about it; null for 2xx, which alone is a success. */
export function classifyStatus(status: number): { class: AttemptClass; message: string | null } {
  if (status >= 200 && status < 300) return { class: "ok", message: null };
  if (REDIRECTS.includes(status)) return { class: "redirect", message: `The webhook answered ${status}; redirects are not followed.` };
  if (status === 401) return { class: "signature_rejected", message: "The webhook answered 401: it did not accept the signature." };
  return { class: "http_status", message: `The webhook answered ${status}.` };
}

// Maximum stored length of a response, in bytes of UTF-8.
const SNIPPET_BYTES = 2048;

// Our keys and secrets, wherever a receiver echoes them, with everything that follows without a break.
const SECRETS = /(?:ms_[a-z]{2,10}_|whsec_)[A-Za-z0-9+/=_%\\-]*/gi;

/**
 * The beginning of a response, fit to be stored and shown: text without control characters, our keys, or the given secrets. Null
 * when nothing is left.
 */
export function toResponseSnippet(bytes: Uint8Array, secrets: readonly string[]): string | null {
  if (bytes.length === 0) return null;
  let text = Buffer.from(bytes).toString();
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "***");
  text = text
    .replace(SECRETS, "***")
    .replace(/[^\P{Cc}\t\n\r]/gu, "\uFFFD")
    .toWellFormed();
  const snippet = truncate(text, SNIPPET_BYTES).trim();
  return snippet === "" ? null : snippet;
}

/** Truncates a text to this many bytes of UTF-8, without half a character at its end. */
function truncate(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text;
  return whole
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD+$/, "");
}

function getCode(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === "string") return code;
  return errors && errors.length > 0 ? getCode(errors[0]) : "";
}
