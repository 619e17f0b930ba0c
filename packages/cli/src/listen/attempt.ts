import { explainFailedRequest, type FailedRequest } from "./failed-request.ts";
import { buildSignedHeaders, type OutgoingEvent } from "./signed-headers.ts";

/** Dependencies of an attempt to deliver an event to a webhook. */
export interface AttemptParts {
  readonly secret: string;
  readonly fetch: typeof globalThis.fetch;
  /** True if something accepts connections at this URL. */
  readonly listens: (url: URL) => Promise<boolean>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Result of an attempt. */
export interface AttemptResult {
  readonly url: string;
  readonly attempt: number;
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Reason there was no answer; null when there was one. */
  readonly failed: FailedRequest["kind"] | null;
  readonly ms: number;
  /** Fault; null for 2xx. */
  readonly error: string | null;
}

/** Changes to a request after it was signed, so that a receiver that verifies must refuse it. */
export const TAMPERINGS = ["body", "signature", "timestamp"] as const;
export type Tampering = (typeof TAMPERINGS)[number];

/** A request as it should be, but with `webhook-signature` only: a webhook that checks the time takes it. */
export const STANDARD_ONLY = "standard only";

// The same as for the real webhook.
const TIMEOUT_MS = 8000;
// Older than any receiver accepts.
const LONG_AGO_MS = 3_600_000;

/** Sends a signed event once. Never throws. */
export async function attemptDelivery(
  event: OutgoingEvent,
  url: string,
  { secret, fetch, listens, now, signal }: AttemptParts,
  attempt = 1,
  tampering?: Tampering | typeof STANDARD_ONLY,
): Promise<AttemptResult> {
  const from = now();
  const result = (status: number | null, error: string | null, failed: FailedRequest["kind"] | null = null): AttemptResult => ({
    url,
    attempt,
    status,
    failed,
    ms: now() - from,
    error,
  });
  try {
    const response = await fetch(url, {
      method: "POST",
      ...buildRequest(event, secret, attempt, from, tampering),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.arrayBuffer();
    return result(response.status, response.ok ? null : `answered ${response.status}`);
  } catch (error) {
    if ((error as Error).name === "TimeoutError") {
      // fetch does not say whether it waited for a connection, as with a firewall that drops packets, or for the answer.
      if (await listens(new URL(url))) return result(null, `no answer within ${TIMEOUT_MS / 1000} s`, "unanswered");
      return result(null, `no connection within ${TIMEOUT_MS / 1000} s`, "absent");
    }
    const { kind, message } = explainFailedRequest(error);
    return result(null, message, kind);
  }
}

function buildRequest(
  event: OutgoingEvent,
  secret: string,
  attempt: number,
  now: number,
  tampering: Tampering | typeof STANDARD_ONLY | undefined,
) {
  const headers = buildSignedHeaders(event, secret, attempt, tampering === "timestamp" ? now - LONG_AGO_MS : now);
  switch (tampering) {
    case STANDARD_ONLY:
    case "timestamp": {
      // X-Service-Signature covers the body only and would still be valid: a receiver that takes either signature could not tell.
      const { "x-service-signature": _, ...dated } = headers;
      return { headers: dated, body: event.body };
    }
    case "body":
      return { headers, body: event.body.replace(/^\{/, '{"tampered":true,') };
    case "signature":
      return {
        headers: buildSignedHeaders(event, `whsec_${Buffer.from("another secret").toString("base64")}`, attempt, now),
        body: event.body,
      };
    default:
      return { headers, body: event.body };
  }
}
