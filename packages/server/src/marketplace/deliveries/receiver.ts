import type { Client } from "undici";
import type { Clock } from "../../lib/clock.ts";
import type { Fault } from "../../lib/guard-url.ts";
import { type Attempt, classOfError, classOfStatus } from "./attempt.ts";
import { excerptOf } from "./excerpt.ts";
import { type Ending, type Post, post, TooLong } from "./post.ts";

/** The whole of an attempt, ms: name, connection, answer and its body (SPEC 6). */
export const LIMIT_MS = 8000;

// An attempt that took no longer than this leaves room for others.
const QUICK_MS = 1000;

// Requests to one webhook at a time, when it answers well.
const MOST = 64;

const DAY = 86_400_000;

/** Seconds or a date, as ms from now; null when it is neither. */
const retryAfterMs = (text: string | null, now: number): number | null => {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Math.min(Number(text) * 1000, DAY);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - now), DAY);
};

export interface ReceiverParts {
  readonly clock: Clock;
  /** Why the URL must not be called, if so. */
  readonly fault: Fault;
  readonly connect: (origin: string) => Promise<Client>;
}

/**
 * A webhook: its connections, and how much of a load it takes. One that was never called gets one request at a time; each answer
 * doubles that, up to 64, and each attempt without an answer halves it.
 */
export class Receiver {
  readonly url: string;
  readonly #origin: string;
  readonly #path: string;
  readonly #parts: ReceiverParts;
  /** Connections that carry nothing now. */
  readonly #free: Client[] = [];
  /** The requests under way, oldest first. */
  readonly #under = new Set<{ readonly since: number }>();
  #limit = 1;
  #quick = false;
  #closed = false;

  constructor(url: string, parts: ReceiverParts) {
    const { origin, pathname, search } = new URL(url);
    this.url = url;
    this.#origin = origin;
    this.#path = `${pathname}${search}`;
    this.#parts = parts;
  }

  /** Scheme, host and port: what it shares with other webhooks. */
  get origin(): string {
    return this.#origin;
  }

  /** Requests under way. */
  get busy(): number {
    return this.#under.size;
  }

  /** Requests it may have at a time. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether it has answered well lately, and is not keeping us waiting now. */
  get quick(): boolean {
    if (!this.#quick) return false;
    for (const { since } of this.#under) {
      if (this.#parts.clock.real.now() - since > QUICK_MS) this.#quick = false;
      break;
    }
    return this.#quick;
  }

  /** One attempt. Never throws. */
  attempt(headers: string[], body: Uint8Array, secrets: readonly string[]): Promise<Attempt> {
    const { clock, fault } = this.#parts;
    const at = clock.now();
    if (fault !== null)
      return Promise.resolve({ at, ms: 0, class: "blocked_address", message: fault, httpStatus: null, answer: null, retryAfter: null });
    const mark = { since: clock.real.now() };
    this.#under.add(mark);
    return new Promise((resolve) => {
      this.#send({ path: this.#path, headers, body }, mark.since, (ending) => {
        this.#under.delete(mark);
        const ms = Math.round(clock.real.now() - mark.since);
        this.#learn("status" in ending, ms);
        resolve(this.#attemptOf(ending, at, ms, secrets));
      });
    });
  }

  /** Closes its connections; what is under way ends by itself. */
  close(): void {
    this.#closed = true;
    for (const client of this.#free.splice(0)) void client.destroy();
  }

  #attemptOf(ending: Ending, at: number, ms: number, secrets: readonly string[]): Attempt {
    if ("error" in ending) {
      const { class: kind, message } =
        ending.error instanceof TooLong
          ? ({ class: "timeout", message: "No whole answer within 8 seconds." } as const)
          : classOfError(ending.error);
      return { at, ms, class: kind, message, httpStatus: null, answer: null, retryAfter: null };
    }
    const { status, bytes, retryAfter } = ending;
    const { class: kind, message } = classOfStatus(status);
    const answer = excerptOf(bytes, secrets);
    return { at, ms, class: kind, message, httpStatus: status, answer, retryAfter: retryAfterMs(retryAfter, this.#parts.clock.now()) };
  }

  #learn(answered: boolean, ms: number): void {
    this.#quick = ms <= QUICK_MS;
    this.#limit = answered ? Math.min(MOST, this.#limit * 2) : Math.max(1, this.#limit >> 1);
  }

  #send(request: Post, since: number, done: (ending: Ending) => void): void {
    const kept = this.#free.pop();
    if (!kept) {
      this.#dial(request, LIMIT_MS, done);
      return;
    }
    this.#carry(kept, request, LIMIT_MS, (ending) => {
      // A kept connection that the other side had closed already: nobody has seen the request, so it goes once more, on a new
      // one, as the same attempt.
      const left = LIMIT_MS - (this.#parts.clock.real.now() - since);
      if ("error" in ending && !ending.answered && !(ending.error instanceof TooLong) && left > 0) this.#dial(request, left, done);
      else done(ending);
    });
  }

  #dial(request: Post, limit: number, done: (ending: Ending) => void): void {
    this.#parts.connect(this.#origin).then(
      (client) => this.#carry(client, request, limit, done),
      (error: unknown) => done({ error, answered: false }),
    );
  }

  #carry(client: Client, request: Post, limit: number, done: (ending: Ending) => void): void {
    post(client, request, limit, this.#parts.clock.real, (ending) => {
      if ("status" in ending && ending.whole && !this.#closed) this.#free.push(client);
      else void client.destroy();
      done(ending);
    });
  }
}
