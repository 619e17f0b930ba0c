import type { Client } from "undici";
import type { Clock } from "../../lib/clock.ts";
import type { Fault } from "../../lib/guard-url.ts";
import { type Attempt, classOfError, classOfStatus } from "./attempt.ts";
import { excerptOf } from "./excerpt.ts";
import { type Ending, type Link, type Post, post } from "./post.ts";

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
  readonly #free: Link[] = [];
  /** When the requests under way began, oldest first. */
  readonly #under = new Map<symbol, number>();
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
    for (const since of this.#under.values()) {
      if (this.#parts.clock.real.now() - since > QUICK_MS) this.#quick = false;
      break;
    }
    return this.#quick;
  }

  /** One attempt. Never throws. */
  async attempt(headers: string[], body: Uint8Array, secrets: readonly string[]): Promise<Attempt> {
    const { real } = this.#parts.clock;
    const mark = Symbol();
    const since = real.now();
    const at = this.#parts.clock.now();
    const { fault } = this.#parts;
    if (fault !== null) return { at, ms: 0, class: "blocked_address", message: fault, httpStatus: null, answer: null, retryAfter: null };
    this.#under.set(mark, since);
    let ending: Ending;
    try {
      ending = await this.#send({ path: this.#path, headers, body }, since);
    } catch (error) {
      ending = { error, answered: false };
    }
    this.#under.delete(mark);
    const ms = Math.round(real.now() - since);
    this.#learn("status" in ending, ms);
    const times = { at, ms };
    if ("error" in ending) return { ...times, ...this.#failure(ending.error), httpStatus: null, answer: null, retryAfter: null };
    return {
      ...times,
      ...classOfStatus(ending.status),
      httpStatus: ending.status,
      answer: excerptOf(ending.bytes, secrets),
      retryAfter: retryAfterMs(ending.retryAfter, this.#parts.clock.now()),
    };
  }

  /** Closes its connections; what is under way ends by itself. */
  close(): void {
    this.#closed = true;
    for (const { client } of this.#free.splice(0)) void client.destroy();
  }

  #failure(error: unknown): Pick<Attempt, "class" | "message"> {
    const failure = classOfError(error);
    return (error as Error).name === "TooLong" ? { class: "timeout", message: "No whole answer within 8 seconds." } : failure;
  }

  #learn(answered: boolean, ms: number): void {
    this.#quick = ms <= QUICK_MS;
    this.#limit = answered ? Math.min(MOST, this.#limit * 2) : Math.max(1, this.#limit >> 1);
  }

  async #link(): Promise<Link> {
    return { client: await this.#parts.connect(this.#origin), served: 0 };
  }

  async #send(request: Post, since: number): Promise<Ending> {
    const { real } = this.#parts.clock;
    const link = this.#free.pop() ?? (await this.#link());
    const used = link.served > 0;
    const ending = await this.#carry(link, request, LIMIT_MS);
    // A kept connection that the other side had closed already: nobody has seen the request, so it goes once more, on a new
    // one, as the same attempt.
    const left = LIMIT_MS - (real.now() - since);
    const stale = used && "error" in ending && !ending.answered && (ending.error as Error).name !== "TooLong" && left > 0;
    return stale ? this.#carry(await this.#link(), request, left) : ending;
  }

  async #carry(link: Link, request: Post, limit: number): Promise<Ending> {
    const ending = await post(link, request, limit, this.#parts.clock.real);
    if ("status" in ending && ending.whole && !this.#closed) {
      link.served += 1;
      this.#free.push(link);
    } else void link.client.destroy();
    return ending;
  }
}
