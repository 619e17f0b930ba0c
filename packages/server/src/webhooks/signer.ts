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
   * The headers of an attempt that begins `now`, names and values in turns: the signature of docs/agents-webhooks.md#signatures, and the
   * three headers of Standard Webhooks, signed with both secrets during a rotation. X-Service-Timestamp is the event's time, the same on
   * every attempt; webhook-timestamp is the attempt's.
   */
  headers({ id, type, at, attempt }: Message, bytes: Uint8Array, now: number): string[] {
    const seconds = String(Math.floor(now / 1000));
    const prefix = `${id}.${seconds}.`;
    const sign = ({ standard }: Keys): string => `v1,${createHmac("sha256", standard).update(prefix).update(bytes).digest("base64")}`;
    const standard = this.#next === null ? sign(this.#current) : `${sign(this.#current)} ${sign(this.#next)}`;
    // biome-ignore format: a name and its value per line
    return [
      "content-type", "application/json",
      "accept-encoding", "identity",
      "x-service-signature", createHmac("sha256", this.#current.spec).update(bytes).digest("hex"),
      "x-service-event-id", id,
      "x-service-event-type", type,
      "x-service-timestamp", iso(at),
      "x-service-attempt", String(attempt),
      "webhook-id", id,
      "webhook-timestamp", seconds,
      "webhook-signature", standard,
    ];
  }
}

function makeKeys(secret: string): Keys {
  return {
    spec: createSecretKey(secret, "utf8"),
    standard: createSecretKey(secret.slice(PREFIX.length), "base64"),
  };
}
