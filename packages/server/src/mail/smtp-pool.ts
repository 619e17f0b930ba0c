import type { Clock, Timer } from "../lib/clock.ts";
import type { Receipt } from "./mailer.ts";
import { deferred } from "./smtp-reply.ts";
import { type Envelope, openSession, type SmtpSession } from "./smtp-session.ts";
import type { SmtpTarget } from "./smtp-url.ts";

/** A pool of connections to one next hop. */
interface SmtpPool {
  readonly maxConnections: number;
  send(envelope: Envelope, message: Buffer): Promise<Receipt>;
  /** Connects and logs in: null if that works, else the reason. */
  check(): Promise<string | null>;
  /** Defers messages that wait. Lets those under way finish for `graceMs` (ten seconds), then cuts all connections, also half open ones. */
  close(graceMs?: number): Promise<void>;
}

// Servers close idle connections after five minutes, some under load after ten seconds.
const IDLE_MS = 30_000;
const CLOSE_MS = 10_000;
const CLOSED = deferred("The mailer is closed.");

/**
 * Creates a pool on nodemailer's SMTP client. nodemailer's own pool does not tell how far a message had come when the connection
 * was lost, nor which extensions a connection has.
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
export function createSmtpPool(target: SmtpTarget, time: Clock["real"]): SmtpPool {
  const { maxConnections = 5, maxMessages = 100 } = target;
  const idle = new Map<SmtpSession, Timer>();
  const busy = new Set<SmtpSession>();
  const waiting: (() => void)[] = [];
  let free = maxConnections;
  let closed = false;
  let drained = (): void => {};
  // The time of `close` is over: nothing is waited for any more, also no reply to QUIT.
  const cut = new AbortController();

  // A slot is the right to one connection. It is released once the connection is idle or closed.
  const takeSlot = (): Promise<void> => {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve));
    free -= 1;
    return Promise.resolve();
  };
  const giveSlot = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
    if (free === maxConnections) drained();
  };

  const leaveIdle = (): SmtpSession | undefined => {
    for (const [session, timer] of idle) {
      timer.cancel();
      idle.delete(session);
      if (session.alive) return session;
    }
    return undefined;
  };

  const park = async (session: SmtpSession, clean: boolean): Promise<void> => {
    const usable = session.alive && session.messages < maxMessages && !closed && (clean || (await session.reset()));
    // Until it has ended it can be cut.
    if (!usable || closed) await session.quit();
    busy.delete(session);
    if (usable && !closed) {
      const leave = (): void => {
        idle.delete(session);
        void session.quit();
      };
      idle.set(session, time.after(IDLE_MS, leave));
    }
    giveSlot();
  };

  const attempt = async (envelope: Envelope, message: Buffer, kept: SmtpSession | undefined): Promise<Receipt> => {
    const session = kept ?? (await openSession(target, time, cut.signal));
    if (!isSession(session)) {
      giveSlot();
      return session;
    }
    busy.add(session);
    if (closed) {
      void park(session, true);
      return CLOSED;
    }
    const { receipt, stale, untouched = false } = await session.send(envelope, message);
    if (stale && !closed) {
      busy.delete(session);
      return attempt(envelope, message, undefined);
    }
    void park(session, receipt.outcome === "sent" || untouched);
    return receipt;
  };

  return {
    maxConnections,
    send: async (envelope, message) => {
      await takeSlot();
      if (closed) {
        giveSlot();
        return CLOSED;
      }
      return attempt(envelope, message, leaveIdle());
    },
    check: async () => {
      // Takes no slot: the result must not depend on how much mail is being sent.
      const opened = await openSession(target, time);
      if (!isSession(opened)) return "error" in opened ? opened.error.message : null;
      await opened.quit();
      return null;
    },
    close: async (graceMs = CLOSE_MS) => {
      closed = true;
      const gone = [...idle].map(([session, timer]) => {
        timer.cancel();
        return session.quit();
      });
      idle.clear();
      for (const next of waiting.splice(0)) {
        free -= 1;
        next();
      }
      const late = time.after(graceMs, () => {
        cut.abort();
        for (const session of busy) session.abort("The mailer was closed.");
      });
      if (free < maxConnections) await new Promise<void>((resolve) => (drained = resolve));
      late.cancel();
      await Promise.all(gone);
    },
  };
}

function isSession(opened: SmtpSession | Receipt): opened is SmtpSession {
  return "send" in opened;
}
