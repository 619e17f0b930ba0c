import type { Dispatcher } from "undici";
import { checkHeader, type HeaderInput, mergeHeaders } from "./call/headers.ts";
import { type FetchLike, fetchTransport, type Transport, undiciTransport } from "./call/transport.ts";
import { type MailsvcError, type RequestSummary, UsageError } from "./errors.ts";
import {
  DEFAULT_ATTEMPT_TIMEOUT_MS,
  DEFAULT_MAX_RETRIES,
  DEFAULT_TIMEOUT_MS,
  DEFAULT_URL,
  environment,
  platform,
  type Runtime,
  systemRuntime,
  VERSION,
} from "./runtime.ts";

/** Whether answers are checked against the contract: not at all, with a warning, or with an error. */
export type ValidateMode = "off" | "warn" | "strict";

/** What a retry hook hears, before the wait. */
export interface RetryNotice {
  readonly request: RequestSummary;
  readonly error: MailsvcError;
  readonly delayMs: number;
}

/** What holds for one client. */
export interface MailsvcOptions extends Partial<Pick<Runtime, "now" | "random" | "sleep">> {
  /** The key, or a function that gives it before each attempt. Default: MAILSVC_API_KEY. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Where the server is; a path in front of the API is allowed. Default: MAILSVC_URL, else http://127.0.0.1:2526. */
  readonly baseUrl?: string | undefined;
  /** Milliseconds for a call with all its retries and waits. Default 30 000; Infinity for no limit. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for one attempt. Default 15 000; Infinity for no limit. */
  readonly attemptTimeoutMs?: number | undefined;
  /** How often to try again after the first attempt. Default 2. */
  readonly maxRetries?: number | undefined;
  /** A `fetch` to send with, in place of undici. */
  readonly fetch?: FetchLike | undefined;
  /** An undici dispatcher: a pool, a proxy, a MockAgent. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Headers of every request. */
  readonly headers?: HeaderInput | undefined;
  /** Stands in front of this package's own User-Agent: `shop/1.2`. */
  readonly userAgent?: string | undefined;
  /** Makes the Idempotency-Key of a write, or false for none: then writes are never retried. Default: a random UUID. */
  readonly idempotencyKey?: (() => string) | false | undefined;
  /** Check answers against the contract. Default `off`. */
  readonly validate?: ValidateMode | undefined;
  /** Takes what `validate: "warn"` finds. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Hears of every retry, before its wait. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** What holds for one call; the rest comes from the client. */
export interface CallOptions {
  /** Calls the request off: while connecting, reading or waiting for a retry. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly attemptTimeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** Headers of this request; undefined takes one of the client's away. */
  readonly headers?: HeaderInput | undefined;
  /** A key of your own, to make a repeat harmless even across processes; false for none. */
  readonly idempotencyKey?: string | false | undefined;
  readonly validate?: ValidateMode | undefined;
}

/** Options with everything decided and checked. */
export interface Settings {
  readonly apiKey: (() => string | Promise<string>) | undefined;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: (() => string) | false;
  readonly validate: ValidateMode;
  readonly onRetry: ((notice: RetryNotice) => void) | undefined;
  readonly runtime: Runtime;
  readonly transport: Transport;
}

/** Checks a time limit in milliseconds. Throws UsageError. */
export function checkTimeout(name: string, value: number): number {
  if (typeof value !== "number" || !(value > 0)) throw new UsageError({ message: `${name} must be more than 0 milliseconds.` });
  return value;
}

/** Checks a number of retries. Throws UsageError. */
export function checkRetries(value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new UsageError({ message: "maxRetries must be a whole number, 0 or more." });
  return value;
}

/** Turns options into settings. Throws UsageError, never with the key in it. */
export function resolveSettings(options: MailsvcOptions): Settings {
  const apiKey = options.apiKey ?? environment("MAILSVC_API_KEY");
  if (apiKey !== undefined && typeof apiKey !== "function") checkHeader("authorization", apiKey, "apiKey");
  const agent = [options.userAgent, `mailsvc-sdk/${VERSION}`, platform()].filter(Boolean).join(" ");
  return {
    apiKey: typeof apiKey === "string" ? () => apiKey : apiKey,
    baseUrl: parseBaseUrl(options.baseUrl ?? environment("MAILSVC_URL") ?? DEFAULT_URL),
    timeoutMs: checkTimeout("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    attemptTimeoutMs: checkTimeout("attemptTimeoutMs", options.attemptTimeoutMs ?? DEFAULT_ATTEMPT_TIMEOUT_MS),
    maxRetries: checkRetries(options.maxRetries ?? DEFAULT_MAX_RETRIES),
    headers: mergeHeaders({ "user-agent": agent }, options.headers),
    idempotencyKey: options.idempotencyKey ?? systemRuntime.idempotencyKey,
    validate: options.validate ?? "off",
    onRetry: options.onRetry,
    runtime: {
      ...systemRuntime,
      ...(options.now && { now: options.now }),
      ...(options.random && { random: options.random }),
      ...(options.sleep && { sleep: options.sleep }),
      ...(options.onWarning && { warn: options.onWarning }),
    },
    transport: createTransport(options),
  };
}

function parseBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError({ message: "baseUrl is not a URL.", hint: `Write it whole, such as ${DEFAULT_URL}` });
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new UsageError({ message: "baseUrl must begin with http:// or https://." });
  if (url.username !== "" || url.password !== "") throw new UsageError({ message: "baseUrl must not hold a user name or password." });
  if (url.search !== "" || url.hash !== "") throw new UsageError({ message: "baseUrl must not hold a query or fragment." });
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function createTransport({ fetch, dispatcher }: MailsvcOptions): Transport {
  if (fetch && dispatcher) throw new UsageError({ message: "Give either fetch or dispatcher, not both." });
  if (fetch) return fetchTransport(fetch);
  // Runtimes that are not Node have a fetch of their own, and undici would not run there.
  if (!dispatcher && platform() === undefined) return fetchTransport((url, init) => globalThis.fetch(url, init));
  return undiciTransport(dispatcher);
}
