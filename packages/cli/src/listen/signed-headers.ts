import { createHmac } from "node:crypto";

/** An event that goes to a webhook. */
export interface OutgoingEvent {
  /** The same on every attempt. */
  readonly id: string;
  readonly type: string;
  /** Time of the event, ISO 8601. */
  readonly at: string;
  /** The bytes that are signed and sent, as text. */
  readonly body: string;
}

/** The headers of an attempt that is sent at `now` (ms), signed as the service signs: docs/webhooks.md. */
export function buildSignedHeaders(
  { id, type, at, body }: OutgoingEvent,
  secret: string,
  attempt: number,
  now: number,
): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return {
    "content-type": "application/json",
    "x-service-signature": createHmac("sha256", secret).update(body).digest("hex"),
    "x-service-event-id": id,
    "x-service-event-type": type,
    "x-service-timestamp": at,
    "x-service-attempt": String(attempt),
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`,
  };
}
