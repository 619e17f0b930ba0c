import type { AgentEvent } from "./contract.generated.ts";
import { UsageError } from "./errors.ts";
import { parseEvent, type UnknownEvent } from "./event.ts";
import { NEXT_SIGNATURE_HEADER, SIGNATURE_HEADER, verifySignature } from "./verify.ts";

/** The headers of a request, as frameworks have them: a Headers object, or a record whose names may be in any case. */
export type RequestHeaders = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The secrets of a listing: one, or the old and the new one during a rotation, or a function that returns them for each request. */
export type Secrets = string | readonly string[] | (() => string | readonly string[] | Promise<string | readonly string[]>);

/** Response to a request. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** @internal The longest body of a request, in bytes. */
export const MAX_BODY = 1_048_576;

/** Verifies and parses a request; the reply if it is not an event of the service. */
export function receive(
  body: Uint8Array | string,
  headers: RequestHeaders,
  secrets: string | readonly string[],
): AgentEvent | UnknownEvent | { refusal: Reply } {
  if (body.length > MAX_BODY) return { refusal: reply(413, { error: "payload_too_large" }) };
  if (!isSigned(body, headers, secrets)) {
    const hint = "The signature does not match: check the secret of the listing, and that the raw bytes of the body are verified.";
    return { refusal: reply(401, { error: "invalid_signature", hint }) };
  }
  return parseEvent(body) ?? { refusal: reply(400, { error: "invalid_event", hint: "The body is signed, but it is not an event." }) };
}

/** A reply with a JSON body. `retryAfter` is in seconds. */
export function reply(status: number, body: Readonly<Record<string, unknown>>, retryAfter?: number): Reply {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  return { status, headers, body: JSON.stringify(body) };
}

/** Checks secrets, so that an unset variable or a stray line break is found before the first event. Throws UsageError. */
export function assertSecrets(secrets: string | readonly string[]): void {
  const all = typeof secrets === "string" ? [secrets] : secrets;
  if (all.length === 0 || !all.every((secret) => typeof secret === "string" && secret !== ""))
    throw new UsageError("secret is empty. It is the webhookSecret of the listing; set AGENT_WEBHOOK_SECRET to it.");
  if (all.some((secret) => /^\s|\s$|\p{Cc}/u.test(secret)))
    throw new UsageError("secret contains a line break or has a space at an end, which the webhookSecret of a listing never has: trim it.");
}

/**
 * Tells if one of the signatures is valid. During a rotation X-Service-Signature is made with the old secret, X-Service-Signature-Next with
 * the new one and webhook-signature with both, so that a receiver may know either. The time of a request is that of the machines, not of
 * the agent's clock, which a test may have moved.
 */
function isSigned(body: Uint8Array | string, headers: RequestHeaders, secrets: string | readonly string[]): boolean {
  // Without id and timestamp, so that the other form is not accepted in this header.
  for (const name of [SIGNATURE_HEADER, NEXT_SIGNATURE_HEADER])
    if (verifySignature({ body, signature: readHeader(headers, name), id: null, timestamp: null, secrets }) !== null) return true;
  const [signature, id, timestamp] = ["signature", "id", "timestamp"].map((name) => readHeader(headers, `webhook-${name}`));
  if (typeof signature !== "string" || !/^v\d/.test(signature)) return false;
  const single = (value: typeof id): string | null => (typeof value === "string" ? value : null);
  return verifySignature({ body, signature, id: single(id), timestamp: single(timestamp), secrets }) !== null;
}

function readHeader(headers: RequestHeaders, name: string): string | readonly string[] | null {
  if (typeof headers.get === "function") return headers.get(name);
  const wanted = name.toLowerCase();
  const found = Object.entries(headers).find(([one]) => one.toLowerCase() === wanted);
  return (found?.[1] as string | readonly string[] | undefined) ?? null;
}
