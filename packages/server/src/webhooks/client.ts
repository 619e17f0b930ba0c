import type { Clock } from "../lib/clock.ts";
import type { UrlFault } from "../lib/guard-url.ts";
import { DAY } from "../lib/units.ts";
import { ATTEMPT_TIMEOUT_MS, type Attempt, AttemptTimeout, classifyError, classifyStatus, toResponseSnippet } from "./attempt.ts";
import type { Connection, Result, WebhookRequest } from "./connection.ts";

// An attempt that took no longer than this is quick.
const QUICK_MS = 1000;

// While a developer advances the clock, how long an attempt may take at an endpoint that has timed out before. Without it, the nine
// attempts of an endpoint that hangs would hold the clock for over a minute of real time.
const ADVANCING_TIMEOUT_MS = 250;
const HURRIED = "No complete response within a quarter of a second: it timed out before, and the clock is being advanced.";

// Requests in flight to one endpoint, when it answers well.
const MAX_IN_FLIGHT = 64;

interface EndpointClientParts {
  readonly clock: Clock;
  /** Reason the URL must not be called; null if it may be called. */
  readonly fault: UrlFault;
  /** Opens a connection; `closed` is called once, when either side closes it. */
  open(origin: string, closed: (connection: Connection) => void): Promise<Connection>;
  /** True if too many connections are open to keep any. */
  readonly isCrowded: () => boolean;
}

/**
 * Calls one endpoint: keeps its connections, and learns how many requests it takes. One that was never called gets one request at
 * a time; each response doubles that, up to 64, and each attempt without a response halves it.
 */
export class EndpointClient {
  readonly url: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly #path: string;
  readonly #parts: EndpointClientParts;
  /** Idle connections. */
  readonly #idle: Connection[] = [];
  /** Requests in flight, oldest first. */
  readonly #inFlight = new Set<{ readonly since: number }>();
  #limit = 1;
  #quick = false;
  /** Its last attempt timed out. */
  #hung = false;
  #closed = false;

  constructor(url: string, parts: EndpointClientParts) {
    // An invalid URL is never called; see `fault`.
    const { origin, pathname, search } = new URL(URL.canParse(url) ? url : "https://invalid");
    this.url = url;
    this.origin = origin;
    this.#path = `${pathname}${search}`;
    this.#parts = parts;
  }

  /** Requests in flight. */
  get busy(): number {
    return this.#inFlight.size;
  }

  /** Requests it may have in flight. */
  get limit(): number {
    return this.#limit;
  }

  /** True if its last attempt was quick and none in flight takes long. */
  get quick(): boolean {
    if (!this.#quick) return false;
    for (const { since } of this.#inFlight) {
      if (this.#parts.clock.real.now() - since > QUICK_MS) this.#quick = false;
      break;
    }
    return this.#quick;
  }

  /** Does what an attempt has to wait for, with its slot. */
  async hold(work: () => Promise<void>): Promise<void> {
    const request = { since: this.#parts.clock.real.now() };
    this.#inFlight.add(request);
    try {
      await work();
    } finally {
      this.#inFlight.delete(request);
    }
  }

  /** One attempt; `headers` are names and values in turns. Never throws. */
  attempt(headers: string[], body: Buffer, secrets: readonly string[]): Promise<Attempt> {
    const { clock, fault } = this.#parts;
    const at = clock.now();
    if (fault !== null)
      return Promise.resolve({ at, ms: 0, class: "blocked_address", message: fault, httpStatus: null, answer: null, retryAfter: null });
    const request = { since: clock.real.now() };
    const hurried = this.#hung && clock.advancing === true;
    this.#inFlight.add(request);
    return new Promise((resolve) => {
      this.#send({ path: this.#path, headers, body }, hurried ? ADVANCING_TIMEOUT_MS : ATTEMPT_TIMEOUT_MS, request.since, (result) => {
        this.#inFlight.delete(request);
        const ms = Math.round(clock.real.now() - request.since);
        this.#learn(result, ms);
        const attempt = this.#toAttempt(result, at, ms, secrets);
        resolve(hurried && attempt.class === "timeout" ? { ...attempt, message: HURRIED } : attempt);
      });
    });
  }

  /** Closes idle connections; requests in flight end by themselves. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #toAttempt(result: Result, at: number, ms: number, secrets: readonly string[]): Attempt {
    if ("error" in result) return { at, ms, ...classifyError(result.error), httpStatus: null, answer: null, retryAfter: null };
    const { status, bytes, retryAfter } = result;
    const answer = toResponseSnippet(bytes, secrets);
    return {
      at,
      ms,
      ...classifyStatus(status),
      httpStatus: status,
      answer,
      retryAfter: parseRetryAfter(retryAfter, this.#parts.clock.real.date()),
    };
  }

  #learn(result: Result, ms: number): void {
    this.#hung = "error" in result && result.error instanceof AttemptTimeout;
    this.#quick = ms <= QUICK_MS && !this.#hung;
    this.#limit = "status" in result ? Math.min(MAX_IN_FLIGHT, this.#limit * 2) : Math.max(1, this.#limit >> 1);
  }

  #send(request: WebhookRequest, limitMs: number, since: number, done: (result: Result) => void): void {
    const kept = this.#idle.pop();
    if (!kept) {
      this.#sendOnNew(request, limitMs, done);
      return;
    }
    this.#sendOn(kept, request, limitMs, (result) => {
      // The receiver had closed the idle connection, so it has not seen the request: send it again, once, on a new one.
      const left = limitMs - (this.#parts.clock.real.now() - since);
      const unseen = "error" in result && !result.responding && !(result.error instanceof AttemptTimeout);
      if (unseen && left > 0) this.#sendOnNew(request, left, done);
      else done(result);
    });
  }

  #sendOnNew(request: WebhookRequest, limitMs: number, done: (result: Result) => void): void {
    this.#parts
      .open(this.origin, (closed) => this.#forget(closed))
      .then(
        (connection) => this.#sendOn(connection, request, limitMs, done),
        (error: unknown) => done({ error, responding: false }),
      );
  }

  #sendOn(connection: Connection, request: WebhookRequest, limitMs: number, done: (result: Result) => void): void {
    connection.send(request, limitMs, this.#parts.clock.real, (result) => {
      if (this.#closed || this.#parts.isCrowded()) connection.close();
      if (!connection.isClosed) this.#idle.push(connection);
      done(result);
    });
  }

  #forget(connection: Connection): void {
    const i = this.#idle.indexOf(connection);
    if (i >= 0) this.#idle.splice(i, 1);
  }
}

/** Seconds or a date, as ms from now, a day at most; null when it is neither. */
function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Math.min(Number(text) * 1000, DAY);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - now), DAY);
}
