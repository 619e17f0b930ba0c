import { iso } from "../lib/clock.ts";
import type { SigningSecrets } from "../marketplace/listings/secrets.ts";
import { Hmac } from "./hmac.ts";
import type { Message } from "./port.ts";

const PREFIX = "whsec_";

interface Signer {
  /** SPEC 5: the key is the text of the secret as it stands. */
  readonly spec: Hmac;
  /** Standard Webhooks: the key is what the text behind the prefix means. */
  readonly standard: Hmac;
}

/** The secrets of a listing, ready to sign. */
export class Signers {
  /** The secrets themselves, to be kept out of what is stored. */
  readonly secrets: readonly string[];
  readonly #current: Signer;
  readonly #next: Signer | null;

  constructor({ current, next }: SigningSecrets) {
    this.secrets = next === null ? [current] : [current, next];
    this.#current = signerOf(current);
    this.#next = next === null ? null : signerOf(next);
  }

  /**
   * The headers of an attempt that begins `now`, as lines: the signature of SPEC, and the triple of Standard Webhooks, in which
   * both secrets sign while one takes over from the other. What stands in X-Service-Timestamp is the event's time, the same on
   * every attempt; webhook-timestamp is the attempt's.
   */
  headersOf({ id, type, at, attempt }: Message, bytes: Uint8Array, now: number): string {
    const seconds = Math.floor(now / 1000);
    const prefix = Buffer.from(`${id}.${seconds}.`);
    const signed = (signer: Signer): string => `v1,${signer.standard.digest("base64", prefix, bytes)}`;
    const signatures = this.#next === null ? signed(this.#current) : `${signed(this.#current)} ${signed(this.#next)}`;
    return (
      "content-type: application/json\r\naccept-encoding: identity\r\n" +
      `x-service-signature: ${this.#current.spec.digest("hex", bytes)}\r\n` +
      `x-service-event-id: ${id}\r\nx-service-event-type: ${type}\r\nx-service-timestamp: ${iso(at)}\r\n` +
      `x-service-attempt: ${attempt}\r\nwebhook-id: ${id}\r\nwebhook-timestamp: ${seconds}\r\nwebhook-signature: ${signatures}\r\n`
    );
  }
}

function signerOf(secret: string): Signer {
  return {
    spec: new Hmac(Buffer.from(secret)),
    standard: new Hmac(Buffer.from(secret.slice(PREFIX.length), "base64")),
  };
}
