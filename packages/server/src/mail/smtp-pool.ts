import type { Clock, Timer } from "../lib/clock.ts";
import type { Receipt } from "./mailer.ts";
import { openSession } from "./smtp-connection.ts";
import { deferred } from "./smtp-reply.ts";
import type { Envelope, SmtpSession } from "./smtp-session.ts";
import type { SmtpTarget } from "./smtp-url.ts";

// Servers close idle connections after five minutes, some under load after ten seconds.
const IDLE_MS = 30_000;
const CLOSE_MS = 10_000;
const CLOSED = deferred("The mailer is closed.");

/**
 * A pool of connections to one next hop.
 *
 * | A session is   | event                                    | next                    |
 * | -------------- | ---------------------------------------- | ----------------------- |
 * | (none)         | a message has a slot                     | opening                 |
 * | opening        | logged in                                | busy                    |
 * | opening        | refused, not reachable, or cut by close  | (none), message defers  |
 * | busy           | outcome known, session reusable          | idle                    |
 * | busy           | found dead before the message was sent   | opening a new one       |
 * | busy           | outcome known, session spent or dead     | (none)                  |
 * | idle           | the next message                         | busy                    |
 * | idle           | 30 seconds, or the pool closes           | (none)                  |
 */
export class SmtpPool {
  readonly maxConnections: number;
  readonly #target: SmtpTarget;
  readonly #time: Clock["real"];
  readonly #maxMessages: number;
  readonly #idle = new Map<SmtpSession, Timer>();
  readonly #busy = new Set<SmtpSession>();
  /** Callers waiting for a slot, the right to one connection. A slot is freed once its connection is idle or closed. */
  readonly #waiting: (() => void)[] = [];
  #freeSlots: number;
  #closed = false;
  #drained = (): void => {};
  /** Aborts once the time of `close` is over: nothing is waited for any more, also no reply to QUIT. */
  readonly #cut = new AbortController();

  constructor(target: SmtpTarget, time: Clock["real"]) {
    const { maxConnections = 5, maxMessages = 100 } = target;
    this.#target = target;
    this.#time = time;
    this.maxConnections = maxConnections;
    this.#maxMessages = maxMessages;
    this.#freeSlots = maxConnections;
  }

  async send(envelope: Envelope, message: Buffer): Promise<Receipt> {
    await this.#takeSlot();
    if (this.#closed) {
      this.#giveSlot();
      return CLOSED;
    }
    return this.#attempt(envelope, message, this.#leaveIdle());
  }

  /** Connects and logs in: null if that works, else the reason. */
  async check(): Promise<string | null> {
    // Takes no slot: the result must not depend on how much mail is being sent.
    const opened = await openSession(this.#target, this.#time);
    if (!isSession(opened)) return "error" in opened ? opened.error.message : null;
    await opened.quit();
    return null;
  }

  /** Defers messages that wait. Lets those under way finish for `graceMs`, then cuts all connections, also half open ones. */
  async close(graceMs = CLOSE_MS): Promise<void> {
    this.#closed = true;
    const gone = [...this.#idle].map(([session, timer]) => {
      timer.cancel();
      return session.quit();
    });
    this.#idle.clear();
    for (const next of this.#waiting.splice(0)) {
      this.#freeSlots -= 1;
      next();
    }
    const late = this.#time.after(graceMs, () => {
      this.#cut.abort();
      for (const session of this.#busy) session.abort("The mailer was closed.");
    });
    if (this.#freeSlots < this.maxConnections) await new Promise<void>((resolve) => (this.#drained = resolve));
    late.cancel();
    await Promise.all(gone);
  }

  async #attempt(envelope: Envelope, message: Buffer, kept: SmtpSession | undefined): Promise<Receipt> {
    const session = kept ?? (await openSession(this.#target, this.#time, this.#cut.signal));
    if (!isSession(session)) {
      this.#giveSlot();
      return session;
    }
    this.#busy.add(session);
    if (this.#closed) {
      void this.#park(session, true);
      return CLOSED;
    }
    const { receipt, stale, untouched = false } = await session.send(envelope, message);
    if (stale && !this.#closed) {
      this.#busy.delete(session);
      return this.#attempt(envelope, message, undefined);
    }
    void this.#park(session, receipt.outcome === "sent" || untouched);
    return receipt;
  }

  /** Keeps a session for the next message, or ends it, and gives its slot back. */
  async #park(session: SmtpSession, clean: boolean): Promise<void> {
    const usable = session.alive && session.messages < this.#maxMessages && !this.#closed && (clean || (await session.reset()));
    // Until it has ended it can be cut.
    if (!usable || this.#closed) await session.quit();
    this.#busy.delete(session);
    if (usable && !this.#closed) {
      const leave = (): void => {
        this.#idle.delete(session);
        void session.quit();
      };
      this.#idle.set(session, this.#time.after(IDLE_MS, leave));
    }
    this.#giveSlot();
  }

  #leaveIdle(): SmtpSession | undefined {
    for (const [session, timer] of this.#idle) {
      timer.cancel();
      this.#idle.delete(session);
      if (session.alive) return session;
    }
    return undefined;
  }

  #takeSlot(): Promise<void> {
    if (this.#freeSlots === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#freeSlots -= 1;
    return Promise.resolve();
  }

  #giveSlot(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#freeSlots += 1;
    if (this.#freeSlots === this.maxConnections) this.#drained();
  }
}

function isSession(opened: SmtpSession | Receipt): opened is SmtpSession {
  return "send" in opened;
}
