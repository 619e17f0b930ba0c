import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { currentTime } from "../runtime.ts";

/** Options of `signedRequest`. */
export interface SignedRequestOptions {
  /** The secret of the listing. */
  secret: string;
  /** The number of the attempt, from 1. */
  attempt?: number;
  /** Time of sending, ms since 1970; now by default. */
  now?: number;
}

/** A request as the service sends it. */
export interface SignedRequest {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Signs an event as the service does: pass the result to `agent.handle(body, headers)`, or to `fetch(url, request)`. An event may be any
 * object, so that tests can send unknown types and fields; a text is signed as it is.
 */
export function signedRequest(event: object | string, { secret, attempt = 1, now = currentTime() }: SignedRequestOptions): SignedRequest {
  const body = typeof event === "string" ? event : JSON.stringify(event);
  const { id = "evt_sample", type = "", timestamp = "" } = (typeof event === "string" ? {} : event) as Record<string, string>;
  const seconds = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const standard = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-service-signature": createHmac("sha256", secret).update(body).digest("hex"),
      "x-service-event-id": id,
      "x-service-event-type": type,
      "x-service-timestamp": timestamp,
      "x-service-attempt": String(attempt),
      "webhook-id": id,
      "webhook-timestamp": seconds,
      "webhook-signature": `v1,${standard}`,
    },
    body,
  };
}
