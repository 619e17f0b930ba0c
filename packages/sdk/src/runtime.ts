/** The default address of a server on this machine. */
export const DEFAULT_URL = "http://127.0.0.1:2526";

/** Default time limit of a call, retries and waits included. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Default time limit of one attempt: half of the call's, so that a hung connection leaves time for a retry. */
export const DEFAULT_ATTEMPT_TIMEOUT_MS = 15_000;

/** Default number of retries after the first attempt. */
export const DEFAULT_MAX_RETRIES = 2;

/** The time, timers and randomness a client uses. Each part can be replaced, for tests. */
export interface Runtime {
  /** Milliseconds on a monotonic clock, for time limits. It misses the time this machine was suspended. */
  now(): number;
  /** Milliseconds since 1970 by the clock of this machine, to compare with times that others have written. */
  wallTime(): number;
  /** A number in [0, 1), for the jitter of retries. */
  random(): number;
  /** Resolves after `ms`, or as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `fire` after `ms`; the returned function cancels it. */
  after(ms: number, fire: () => void): () => void;
  /** A fresh Idempotency-Key. */
  idempotencyKey(): string;
  /** Receives the warnings of `validate: "warn"`. */
  warn(message: string): void;
  /** Receives the lines of the debug log. */
  log(line: string): void;
}

// setTimeout overflows beyond 2^31-1 ms (24.8 days) and then fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The system's clock and randomness. Works on Node and on runtimes without a `process`. */
export const systemRuntime: Runtime = {
  now: () => performance.timeOrigin + performance.now(),
  wallTime: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((done) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        done();
      };
      const cancel = after(ms, end);
      signal.addEventListener("abort", end);
    }),
  after,
  idempotencyKey: () => crypto.randomUUID(),
  warn: (message) => {
    if (typeof process !== "undefined") process.emitWarning?.(message, "MailsvcWarning");
  },
  log: (line) => console.error(line),
};

/** A variable of the environment; undefined when it is unset, empty, or there is no environment. */
export function environment(
  name:
    | "HTTP_PROXY"
    | "HTTPS_PROXY"
    | "NO_PROXY"
    | "http_proxy"
    | "https_proxy"
    | "no_proxy"
    | "MAILSVC_URL"
    | "MAILSVC_API_KEY"
    | "MAILSVC_ACTIVATION_ID"
    | "MAILSVC_AGENT_KEY"
    | "MAILSVC_CEILING"
    | "MAILSVC_DEBUG"
    | "NODE_ENV",
): string | undefined {
  return (typeof process === "undefined" ? undefined : process.env?.[name]) || undefined;
}

/** The environment of this process, for programs that it starts. */
export function inheritEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The version of Bun; undefined on other runtimes. */
function readBunVersion(): string | undefined {
  return (globalThis as { readonly Bun?: { readonly version: string } }).Bun?.version;
}

/** The runtime's name and version for the User-Agent, such as `node/24.1.0`; undefined when unknown. */
export function describeRuntime(): string | undefined {
  const bun = readBunVersion();
  if (bun !== undefined) return `bun/${bun}`;
  return typeof process !== "undefined" && process.versions?.node ? `node/${process.versions.node}` : undefined;
}

function after(ms: number, fire: () => void): () => void {
  if (ms > MAX_TIMER_MS) return () => {};
  const timer = setTimeout(fire, ms);
  return () => clearTimeout(timer);
}

/** Sets what Node's console shows of an object. A method with a computed name would keep its class in every bundle. */
export function showAs(target: object, describe: () => string): void {
  Object.defineProperty(target, Symbol.for("nodejs.util.inspect.custom"), { value: describe });
}
