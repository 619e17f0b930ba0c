import type { AttemptClass } from "@mailsvc/sdk/contract";
import { BadAnswer } from "./answer-head.ts";

/** How one attempt to deliver ended. */
export interface Attempt {
  /** When it began. */
  readonly at: number;
  /** Duration. */
  readonly ms: number;
  readonly class: AttemptClass;
  readonly httpStatus: number | null;
  /** A sentence for the builder, made of our own words; null for a success. */
  readonly message: string | null;
  /** The beginning of the answer, without secrets; null when there was none. */
  readonly answer: string | null;
  /** How long the receiver asks to be left alone (ms). */
  readonly retryAfter: number | null;
}

/** What a builder can do about it. */
export const HINTS: Readonly<Record<AttemptClass, string>> = {
  ok: "Your webhook works.",
  signature_rejected:
    "Your webhook answered 401: it does not accept our signature. Check AGENT_WEBHOOK_SECRET, and that the raw bytes of the body are verified, before any JSON parser has seen them.",
  http_status: "Your webhook answered with an error. Answer 2xx as soon as the event is stored, and work on it afterwards.",
  redirect: "Your webhook answered with a redirect, which is not followed. Give the listing the final URL.",
  timeout: "Your webhook did not answer in full within 8 seconds. Store the event, answer 200, and work on it afterwards.",
  dns: "The host name of your webhook could not be resolved. Check its spelling and its DNS records.",
  tls: "No secure connection to your webhook: its certificate must be valid, for this name, and from an authority that browsers trust.",
  connection:
    "The connection to your webhook could not be made, or broke off. Check that it runs and that its port can be reached from outside.",
  blocked_address: "The URL of your webhook leads to an address that is not on the public Internet, which we do not call.",
  bad_response: "What your webhook answered is not valid HTTP/1.1.",
};

const DNS = /^(?:ENOTFOUND|ENODATA|EAI_|ESERVFAIL|EREFUSED|ETIMEOUT|EBADRESP|EBADNAME|ECANCELLED|ENONAME|EFORMERR|ENOTIMP)/;
const TLS =
  /^(?:CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO|CRL_|ERROR_IN_|INVALID_PURPOSE|PATH_LENGTH)/;

/** What is wrong with a certificate, or with what the other side speaks. */
const TLS_SAYS: readonly (readonly [codes: RegExp, says: string])[] = [
  [/^CERT_HAS_EXPIRED$/, "The certificate of the webhook has expired"],
  [/^CERT_NOT_YET_VALID$/, "The certificate of the webhook is not valid yet"],
  [/ALTNAME_INVALID$|^HOSTNAME_MISMATCH$/, "The certificate of the webhook is for another name than the URL's"],
  [/SELF_SIGNED/, "The certificate of the webhook is signed by itself and by no authority"],
  [
    /^UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)/,
    "The certificate of the webhook is from no authority that is trusted here, or those between are not sent along",
  ],
  [/PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, "The webhook does not speak TLS 1.2 or later"],
  [/WRONG_VERSION_NUMBER$|PACKET_LENGTH_TOO_LONG$/, "The webhook does not speak TLS at this port"],
];

/** An address that must not be called: what the guard of connections throws. */
export class BlockedAddress extends Error {
  override name = "BlockedAddress";
  readonly code = "BLOCKED_ADDRESS";
}

/** The class of an attempt that ended without an answer. */
export function classOfError(error: unknown): { class: AttemptClass; message: string } {
  const code = codeOf(error);
  // The text of an error may hold addresses of our network: what is shown is its code, if that is a plain one.
  const shown = /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? ` (${code})` : "";
  if (error instanceof BlockedAddress || code === "BLOCKED_ADDRESS")
    return { class: "blocked_address", message: "The address is not on the public Internet." };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return { class: "timeout", message: "No connection within 8 seconds." };
  if (DNS.test(code)) return { class: "dns", message: `The host name could not be resolved${shown}.` };
  if (TLS.test(code)) {
    const says = TLS_SAYS.find(([codes]) => codes.test(code))?.[1] ?? "No secure connection";
    return { class: "tls", message: `${says}${shown}.` };
  }
  if (error instanceof BadAnswer) return { class: "bad_response", message: `The answer is not valid HTTP${shown}.` };
  return { class: "connection", message: `The connection failed or broke off${shown}.` };
}

/** The class of an attempt that was answered. 2xx alone is a success. */
export function classOfStatus(status: number): { class: AttemptClass; message: string | null } {
  if (status >= 200 && status < 300) return { class: "ok", message: null };
  if (status >= 300 && status < 400) return { class: "redirect", message: `The webhook answered ${status}; redirects are not followed.` };
  if (status === 401) return { class: "signature_rejected", message: "The webhook answered 401: it did not accept the signature." };
  return { class: "http_status", message: `The webhook answered ${status}.` };
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === "string") return code;
  return errors && errors.length > 0 ? codeOf(errors[0]) : "";
}
