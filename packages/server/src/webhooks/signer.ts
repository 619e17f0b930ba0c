import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { iso } from "../lib/clock.ts";
import type { Message } from "./endpoint.ts";
import type { SigningSecrets } from "./secrets.ts";

const PREFIX = "whsec_";

interface Keys {
  /** The key is the text of the secret, `whsec_` and all. */
  readonly spec: KeyObject;
  /** Standard Webhooks: the key is the bytes that the base64 after the prefix decodes to. */
  readonly standard: KeyObject;
}

/** Signs messages with the secrets of an endpoint. */
export class Signer {
  /** The secrets themselves, to be redacted in what is stored. */
  readonly secrets: readonly string[];
  readonly #current: Keys;
  readonly #next: Keys | null;

  constructor({ current, next }: SigningSecrets) {
    this.secrets = next === null ? [current] : [current, next];
    this.#current = makeKeys(current);
    this.#next = next === null ? null : makeKeys(next);
  }

  /**
   * The headers of an attempt that is sent at `sentAt` (real time, ms), names and values in turns: the signature of
   * docs/agents-webhooks.md#signatures, and the three headers of Standard Webhooks. X-Service-Timestamp is the event's time, the same on
   * every attempt; webhook-timestamp is the attempt's.
   *
   * During a rotation webhook-signature holds a signature with each secret. X-Service-Signature holds one: that of the old secret, so
   * that a receiver that was not changed goes on, and X-Service-Signature-Next that of the new one.
   */
  headers({ id, type, at, attempt }: Message, bytes: Uint8Array, sentAt: number): string[] {
    const seconds = String(Math.floor(sentAt / 1000));
    const prefix = `${id}.${seconds}.`;
    const sign = ({ standard }: Keys): string => `v1,${createHmac("sha256", standard).update(prefix).update(bytes).digest("base64")}`;
    const hex = ({ spec }: Keys): string => createHmac("sha256", spec).update(bytes).digest("hex");
    const standard = this.#next === null ? sign(this.#current) : `${sign(this.#current)} ${sign(this.#next)}`;
    // biome-ignore format: a name and its value per line
    const headers = [
      "content-type", "application/json",
      "accept-encoding", "identity",
      "x-service-signature", hex(this.#current),
      "x-service-event-id", id,
      "x-service-event-type", type,
      "x-service-timestamp", iso(at),
      "x-service-attempt", String(attempt),
      "webhook-id", id,
      "webhook-timestamp", seconds,
      "webhook-signature", standard,
    ];
    if (this.#next !== null) headers.push("x-service-signature-next", hex(this.#next));
    return headers;
  }
}

/** The headers of Standard Webhooks among these, names and values in turns, under the names that Svix gives them. */
export function toSvixHeaders(headers: readonly string[]): string[] {
  return headers.flatMap((name, i) =>
    i % 2 === 0 && name.startsWith("webhook-") ? [name.replace("webhook-", "svix-"), headers[i + 1] ?? ""] : [],
  );
}

function makeKeys(secret: string): Keys {
  return {
    spec: createSecretKey(secret, "utf8"),
    standard: createSecretKey(secret.slice(PREFIX.length), "base64"),
  };
}
