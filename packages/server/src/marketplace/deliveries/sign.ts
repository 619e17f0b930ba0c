import { createHmac } from "node:crypto";
import { iso } from "../../lib/clock.ts";
import type { SigningSecrets } from "../listings/webhook.ts";
import type { Message } from "./port.ts";

const PREFIX = "whsec_";

/** The key of Standard Webhooks: what the text behind the prefix means. X-Service-Signature takes the text as it stands. */
const standardKey = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), "base64");

/** SPEC 5: hex of the HMAC-SHA256 of the raw bytes. */
export const signature = (body: Uint8Array, secret: string): string => createHmac("sha256", secret).update(body).digest("hex");

const standardSignature = (id: string, seconds: number, body: Uint8Array, secret: string): string =>
  `v1,${createHmac("sha256", standardKey(secret)).update(`${id}.${seconds}.`).update(body).digest("base64")}`;

/**
 * The headers of an attempt that begins `now`: the signature of SPEC, and the triple of Standard Webhooks, in which both
 * secrets sign while one takes over from the other. What stands in X-Service-Timestamp is the event's time, the same on every
 * attempt; webhook-timestamp is the attempt's. Names and values in turns.
 */
export const headersOf = ({ id, type, at, attempt }: Message, bytes: Uint8Array, { current, next }: SigningSecrets, now: number): string[] => {
  const seconds = Math.floor(now / 1000);
  const standard = standardSignature(id, seconds, bytes, current);
  return [
    "content-type",
    "application/json",
    "accept",
    "*/*",
    "accept-encoding",
    "identity",
    "x-service-signature",
    signature(bytes, current),
    "x-service-event-id",
    id,
    "x-service-event-type",
    type,
    "x-service-timestamp",
    iso(at),
    "x-service-attempt",
    String(attempt),
    "webhook-id",
    id,
    "webhook-timestamp",
    String(seconds),
    "webhook-signature",
    next === null ? standard : `${standard} ${standardSignature(id, seconds, bytes, next)}`,
  ];
};
