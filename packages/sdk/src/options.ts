import { checkHeader, type HeaderInput, mergeHeaders } from "./call/headers.ts";
import { type MailsvcError, type RequestSummary, UsageError } from "./errors.ts";
import { platform } from "./platform/node.ts";
import {
  type FetchLike,
  fetchStream,
  fetchTransport,
  type StreamTransport,
  type Transport,
  type UndiciDispatcher,
} from "./platform/transport.ts";
import {
  DEFAULT_ATTEMPT_TIMEOUT_MS,
  DEFAULT_MAX_RETRIES,
  DEFAULT_TIMEOUT_MS,
  DEFAULT_URL,
  describeRuntime,
  environment,
  type Runtime,
  systemRuntime,
} from "./runtime.ts";
import { VERSION } from "./version.ts";

/** Validation of responses against the contract: `off`, `warn`, or `strict` (an error). */
export type ValidateMode = "off" | "warn" | "strict";

/** The argument of `onRetry`, called before each wait. */
export interface RetryNotice {
  readonly request: RequestSummary;
  readonly error: MailsvcError;
  readonly delayMs: number;
}

/** Options of a client. */
export interface MailsvcOptions extends Partial<Pick<Runtime, "now" | "random" | "sleep">> {
  /** The API key, or a function that returns it before each attempt. Default: MAILSVC_API_KEY, else the key of a running dev server. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** The server's address; it may include a path prefix. Default: MAILSVC_URL, else a running dev server, else port 2526. */
  readonly baseUrl?: string | undefined;
  /** Time limit in milliseconds for a call, retries and waits included. Default 30 000; Infinity for no limit. */
  readonly timeoutMs?: number | undefined;
  /** Time limit in milliseconds for one attempt. Default 15 000; Infinity for no limit. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Number of retries after the first attempt. Default 2. */
  readonly maxRetries?: number | undefined;
  /** A `fetch` implementation to use instead of undici, or instead of the global one where there is no undici. */
  readonly fetch?: FetchLike | undefined;
  /** An undici dispatcher: a pool, a proxy, a MockAgent. On Node only. */
  readonly dispatcher?: UndiciDispatcher | undefined;
  /** Headers sent with every request. */
  readonly headers?: HeaderInput | undefined;
  /** Prefix of the User-Agent header, such as `shop/1.2`. */
  readonly userAgent?: string | undefined;
  /** Generates the Idempotency-Key of a write; false sends none, and writes are then never retried. Default: a random UUID. */
  readonly idempotencyKey?: (() => string) | false | undefined;
  /** Validate responses against the contract, on Node only. Default `off`. */
  readonly validate?: ValidateMode | undefined;
  /** Receives warnings: of `validate: "warn"`, and of operations that will be gone. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Called before the wait of every retry. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Logs every attempt, its outcome and every retry, one line each, never with the key: to stderr, or to a function. Default: MAILSVC_DEBUG. */
  readonly debug?: boolean | ((line: string) => void) | undefined;
}

/** Options of one call; they override the client's. */
export interface CallOptions {
  /** Aborts the call, whether it is connecting, reading or waiting for a retry. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly attemptTimeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** Headers of this request; undefined removes a header of the client. */
  readonly headers?: HeaderInput | undefined;
  /** Your own key, which makes a repeat safe even across processes; false sends none. */
  readonly idempotencyKey?: string | false | undefined;
  readonly validate?: ValidateMode | undefined;
}

/** Options after defaults and validation. */
export interface Settings {
  readonly apiKey: (() => string | Promise<string>) | undefined;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: (() => string) | false;
  readonly validate: ValidateMode;
  readonly onRetry: ((notice: RetryNotice) => void) | undefined;
  /** Receives the debug log; undefined when it is off. */
  readonly log: ((line: string) => void) | undefined;
  /** True to refuse calls without a key before they are sent. A custom transport may add its own key. */
  readonly requireKey: boolean;
  /** Deprecated operations that the program has been warned of. */
  readonly announced: Set<string>;
  readonly runtime: Runtime;
  readonly transport: Transport;
  readonly stream: StreamTransport;
}

/** Validates a time limit in milliseconds. Throws UsageError. */
export function checkTimeout(name: string, value: number): number {
  if (typeof value !== "number" || !(value > 0)) throw new UsageError({ message: `${name} must be more than 0 milliseconds.` });
  return value;
}

/** Validates a number of retries. Throws UsageError. */
export function checkRetries(value: number): number {
  if (!Number.isInteger(value) || value < 0) throw new UsageError({ message: "maxRetries must be a whole number, 0 or more." });
  return value;
}

/** Checks that the build can validate, if it is to. Throws UsageError. */
export function checkValidate(mode: ValidateMode): ValidateMode {
  if (mode !== "off" && platform.loadOutputSchema === null)
    throw new UsageError({ message: `validate: "${mode}" is for Node: the build for browsers and workers has no schemas.` });
  return mode;
}

/** Applies defaults and validates options. Throws UsageError, which never contains the key. */
export function resolveSettings(options: MailsvcOptions): Settings {
  if (options.apiKey === "")
    throw new UsageError({
      message: "apiKey is empty.",
      hint: "Check that the variable it is read from is set, or leave it out for MAILSVC_API_KEY.",
    });
  const givenKey = options.apiKey ?? environment("MAILSVC_API_KEY");
  const givenUrl = options.baseUrl ?? environment("MAILSVC_URL");
  const isDefaultTransport = options.fetch === undefined && options.dispatcher === undefined;
  // Only for a client that was told nothing: a key is never sent to an address it was not made for.
  const dev = isDefaultTransport && givenKey === undefined && givenUrl === undefined ? platform.findDevServer() : null;
  const apiKey = givenKey ?? dev?.apiKey;
  if (apiKey !== undefined && typeof apiKey !== "function") checkHeader("authorization", apiKey, "apiKey");
  const agent = [options.userAgent, `mailsvc-sdk/${VERSION}`, describeRuntime()].filter(Boolean).join(" ");
  return {
    apiKey: typeof apiKey === "string" ? () => apiKey : apiKey,
    baseUrl: parseBaseUrl(givenUrl ?? dev?.url ?? DEFAULT_URL),
    timeoutMs: checkTimeout("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    attemptTimeoutMs: checkTimeout("attemptTimeoutMs", options.attemptTimeoutMs ?? DEFAULT_ATTEMPT_TIMEOUT_MS),
    maxRetries: checkRetries(options.maxRetries ?? DEFAULT_MAX_RETRIES),
    headers: mergeHeaders({ "user-agent": agent }, options.headers),
    idempotencyKey: options.idempotencyKey ?? systemRuntime.idempotencyKey,
    validate: checkValidate(options.validate ?? "off"),
    onRetry: options.onRetry,
    log: createLog(options.debug ?? environment("MAILSVC_DEBUG") !== undefined),
    requireKey: isDefaultTransport,
    announced: new Set(),
    runtime: {
      ...systemRuntime,
      ...(options.now && { now: options.now }),
      ...(options.random && { random: options.random }),
      ...(options.sleep && { sleep: options.sleep }),
      ...(options.onWarning && { warn: options.onWarning }),
    },
    ...createTransports(options),
  };
}

function createLog(debug: boolean | ((line: string) => void)): Settings["log"] {
  return typeof debug === "function" ? debug : debug ? systemRuntime.log : undefined;
}

function parseBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError({ message: "baseUrl is not a URL.", hint: `Use a full URL such as ${DEFAULT_URL}.` });
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new UsageError({ message: "baseUrl must begin with http:// or https://." });
  if (url.username !== "" || url.password !== "") throw new UsageError({ message: "baseUrl must not hold a user name or password." });
  if (url.search !== "" || url.hash !== "") throw new UsageError({ message: "baseUrl must not hold a query or fragment." });
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function createTransports({ fetch, dispatcher }: MailsvcOptions): Pick<Settings, "transport" | "stream"> {
  if (fetch && dispatcher) throw new UsageError({ message: "Give either fetch or dispatcher, not both." });
  if (fetch) return { transport: fetchTransport(fetch), stream: fetchStream(fetch) };
  return platform.createTransports(dispatcher);
}
