import manifest from "../package.json" with { type: "json" };

/** Where a server on this machine listens unless it is told otherwise. */
export const DEFAULT_URL = "http://127.0.0.1:2526";

/** The version of this package. */
export const VERSION: string = manifest.version;

/** How long a call may take in all, retries and waits included. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** How long one attempt may take; half of the whole, so that a hung connection leaves time for another try. */
export const DEFAULT_ATTEMPT_TIMEOUT_MS = 15_000;

/** How many times a call is repeated after its first attempt. */
export const DEFAULT_MAX_RETRIES = 2;

/** What a client takes from its surroundings: time, timers, chance. Every part can be replaced, one by one. */
export interface Runtime {
  /** Milliseconds since 1970, on a clock that only goes forward. */
  now(): number;
  /** A number in [0, 1), for the jitter of retries. */
  random(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `fire` after `ms`; the returned function cancels it. */
  after(ms: number, fire: () => void): () => void;
  /** A fresh Idempotency-Key. */
  idempotencyKey(): string;
  /** Takes what `validate: "warn"` finds. */
  warn(message: string): void;
}

// setTimeout overflows beyond 2^31-1 ms (24.8 days) and then fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own time and chance. Works on Node and on runtimes without a `process`. */
export const systemRuntime: Runtime = {
  now: () => performance.timeOrigin + performance.now(),
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
};

/** A variable of the environment; undefined when it is unset, empty, or there is no environment. */
export function environment(name: "MAILSVC_URL" | "MAILSVC_API_KEY" | "MAILSVC_ACTIVATION_ID" | "MAILSVC_AGENT_KEY"): string | undefined {
  return (typeof process === "undefined" ? undefined : process.env?.[name]) || undefined;
}

/** What this program runs on, for the User-Agent: `node/24.1.0`; undefined where that cannot be told. */
export function platform(): string | undefined {
  return typeof process !== "undefined" && process.versions?.node ? `node/${process.versions.node}` : undefined;
}

function after(ms: number, fire: () => void): () => void {
  if (ms > MAX_TIMER_MS) return () => {};
  const timer = setTimeout(fire, ms);
  return () => clearTimeout(timer);
}
