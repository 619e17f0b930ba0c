import type { Socket } from "node:net";
import type { Clock, Timer } from "../lib/clock.ts";
import type { UrlFault } from "../lib/guard-url.ts";
import { type Attempt, classOfError, classOfStatus } from "./attempt.ts";
import { type Ending, Line, TooLong } from "./line.ts";
import { excerptOf } from "./response-snippet.ts";
import { LIMIT_MS } from "./retry-policy.ts";

// An attempt that took no longer than this leaves room for others.
const QUICK_MS = 1000;

// Requests to one webhook at a time, when it answers well.
const MOST = 64;

const DAY = 86_400_000;

// How often connections that nobody has used for long are closed.
const SWEEP_MS = 1000;

export interface ReceiverParts {
  readonly clock: Clock;
  /** Why the URL must not be called, if so. */
  readonly fault: UrlFault;
  readonly connect: (url: URL) => Promise<Socket>;
  /** Whether so many connections are open that none is kept. */
  readonly isCrowded: () => boolean;
}

/**
 * A webhook: its connections, and how much of a load it takes. One that was never called gets one request at a time; each answer
 * doubles that, up to 64, and each attempt without an answer halves it.
 */
export class Receiver {
  readonly url: string;
  /** Scheme, host and port: what it shares with other webhooks. */
  readonly origin: string;
  readonly #url: URL;
  /** The first lines of a request. */
  readonly #start: string;
  readonly #parts: ReceiverParts;
  /** Connections that carry nothing now. */
  readonly #free: Line[] = [];
  #sweep: Timer | null = null;
  /** The requests under way, oldest first. */
  readonly #under = new Set<{ readonly since: number }>();
  #limit = 1;
  #quick = false;
  #closed = false;

  constructor(url: string, parts: ReceiverParts) {
    // What is no URL is never called: `fault` says why.
    this.#url = new URL(URL.canParse(url) ? url : "https://invalid");
    const { pathname, search, host } = this.#url;
    this.url = url;
    this.origin = this.#url.origin;
    this.#start = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
    this.#parts = parts;
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

  /** One attempt. `headers` are lines of text. Never throws. */
  attempt(headers: string, body: Uint8Array, secrets: readonly string[]): Promise<Attempt> {
    const { clock, fault } = this.#parts;
    const at = clock.now();
    if (fault !== null)
      return Promise.resolve({ at, ms: 0, class: "blocked_address", message: fault, httpStatus: null, answer: null, retryAfter: null });
    const mark = { since: clock.real.now() };
    this.#under.add(mark);
    return new Promise((resolve) => {
      this.#send(this.#request(headers, body), mark.since, (ending) => {
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
    this.#sweep?.cancel();
    for (const line of this.#free.splice(0)) line.close();
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

  /** The bytes of a request, in one piece. */
  #request(headers: string, body: Uint8Array): Uint8Array {
    const head = `${this.#start}${headers}content-length: ${body.length}\r\n\r\n`;
    const bytes = Buffer.allocUnsafe(head.length + body.length);
    bytes.write(head, "latin1");
    bytes.set(body, head.length);
    return bytes;
  }

  #learn(answered: boolean, ms: number): void {
    this.#quick = ms <= QUICK_MS;
    this.#limit = answered ? Math.min(MOST, this.#limit * 2) : Math.max(1, this.#limit >> 1);
  }

  #send(request: Uint8Array, since: number, done: (ending: Ending) => void): void {
    const kept = this.#take();
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

  /** A kept connection that is still good. */
  #take(): Line | undefined {
    for (;;) {
      const line = this.#free.pop();
      if (!line || line.isFree) return line;
      line.close();
    }
  }

  /** Sends on a new connection, all within `limit`. */
  #dial(request: Uint8Array, limit: number, done: (ending: Ending) => void): void {
    const { real } = this.#parts.clock;
    const since = real.now();
    let late = false;
    const timer = real.after(limit, () => {
      late = true;
      done({ error: new TooLong(), answered: false });
    });
    this.#parts.connect(this.#url).then(
      (socket) => {
        timer.cancel();
        const line = new Line(socket, real);
        if (late) line.close();
        else this.#carry(line, request, limit - (real.now() - since), done);
      },
      (error: unknown) => {
        timer.cancel();
        if (!late) done({ error, answered: false });
      },
    );
  }

  #carry(line: Line, request: Uint8Array, limit: number, done: (ending: Ending) => void): void {
    line.send(request, limit, (ending) => {
      if (line.isFree && !this.#closed && !this.#parts.isCrowded()) this.#keep(line);
      else line.close();
      done(ending);
    });
  }

  #keep(line: Line): void {
    this.#free.push(line);
    this.#sweep ??= this.#parts.clock.real.after(SWEEP_MS, () => {
      this.#sweep = null;
      const all = this.#free.splice(0);
      for (const one of all) {
        if (one.isFree) this.#keep(one);
        else one.close();
      }
    });
  }
}

/** Seconds or a date, as ms from now; null when it is neither. */
function retryAfterMs(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Math.min(Number(text) * 1000, DAY);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - now), DAY);
}
