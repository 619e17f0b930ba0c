import { MailsvcError, UsageError } from "./errors.ts";
import { systemRuntime } from "./runtime.ts";
import type { Event } from "./types.generated.ts";

/** The headers of a request: `Headers`, or an object as Node gives it. Names may be in any case. */
export type WebhookHeaders = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of `webhooks.unwrap`. */
export interface UnwrapOptions {
  /** Maximum age of a request, and maximum lead of its time, in seconds. Default 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number;
}

/** A request to a webhook that must not be trusted: answer 401 or 400. */
export class WebhookVerificationError extends MailsvcError {
  override name = "WebhookVerificationError";
  /** `missing_headers`, `too_old`, `too_new`, `wrong_signature` or `not_an_event`. */
  readonly code: "missing_headers" | "too_old" | "too_new" | "wrong_signature" | "not_an_event";

  constructor(code: WebhookVerificationError["code"], message: string) {
    super({ message });
    this.code = code;
  }
}

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";

/**
 * Verifies a request to your webhook by its `webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard Webhooks), and gives
 * its event: `event.type` tells what `event.data` holds. `body` is the raw body, before any JSON parsing. Pass several secrets
 * while one replaces another. Throws WebhookVerificationError for a request that was forged, changed or repeated later, and
 * UsageError for a parsed body or a secret that is none. Uses WebCrypto: works in Node, Bun, Deno and Workers.
 */
export async function unwrap(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: UnwrapOptions = {},
): Promise<Event> {
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new UsageError({ message: "unwrap needs the raw body, as text or bytes, before any JSON parsing." });
  const keys = (typeof secrets === "string" ? [secrets] : secrets).map(decodeSecret);
  if (keys.length === 0) throw new UsageError({ message: "unwrap needs the secret of the webhook: whsec_…" });
  const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => readHeader(headers, name));
  if (!id || !timestamp || !signature)
    throw new WebhookVerificationError("missing_headers", "webhook-id, webhook-timestamp or webhook-signature is missing.");
  assertFresh(timestamp, options);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const message = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const given = signature.split(" ").flatMap((one) => (one.startsWith("v1,") ? [decodeBase64(one.slice(3))] : []));
  // Every key and signature is tried: the time it takes tells nothing.
  let valid = false;
  for (const key of keys) for (const one of given) if (one && (await verify(key, one, message))) valid = true;
  if (!valid) throw new WebhookVerificationError("wrong_signature", "No secret has signed this request.");
  return parseEvent(bytes);
}

function parseEvent(bytes: Uint8Array): Event {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    event = null;
  }
  if (typeof event !== "object" || event === null || typeof (event as { type?: unknown }).type !== "string")
    throw new WebhookVerificationError("not_an_event", "The request is signed, but its body is no event.");
  return event as Event;
}

function assertFresh(timestamp: string, { toleranceSeconds = TOLERANCE_SECONDS, now = systemRuntime.wallTime }: UnwrapOptions): void {
  const age = /^\d{1,12}$/.test(timestamp) ? now() / 1000 - Number(timestamp) : Number.NaN;
  if (Number.isNaN(age)) throw new WebhookVerificationError("missing_headers", "webhook-timestamp is no number of seconds.");
  if (age > toleranceSeconds)
    throw new WebhookVerificationError("too_old", `This request is ${Math.round(age)} seconds old. It may be a repeated one.`);
  if (age < -toleranceSeconds)
    throw new WebhookVerificationError("too_new", "This request is from the future. Check the clock of this machine.");
}

async function verify(
  key: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const { subtle } = globalThis.crypto;
  const imported = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  return subtle.verify("HMAC", imported, signature, message);
}

function readHeader(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers.get === "function") return (headers as { get(name: string): string | null }).get(name);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : null;
}

/** The bytes of a secret as the API shows it. */
function decodeSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof secret === "string" && secret.startsWith(PREFIX) ? decodeBase64(secret.slice(PREFIX.length)) : null;
  if (!bytes || bytes.length === 0)
    throw new UsageError({ message: "This is no secret of a webhook: it begins with whsec_ and is shown when the webhook is created." });
  return bytes;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/** Functions for receivers of webhooks. */
export const webhooks = /* @__PURE__ */ Object.freeze({ unwrap });
