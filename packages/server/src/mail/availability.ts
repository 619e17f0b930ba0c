import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { MINUTE, SECOND } from "../lib/units.ts";
import type { Mailer, Receipt } from "./mailer.ts";

// Time after which a relay that went down is checked first; doubled for each further check, up to the maximum.
const FIRST_CHECK_MS = 15 * SECOND;
const MAX_CHECK_MS = 10 * MINUTE;
// Time (real time) without any answer to mails under way after which other relays get new mail.
const STALLED_MS = 10 * SECOND;

/** The name of the timer of a check. */
const CHECK_TIMER = "relays.check";

interface Down {
  readonly reason: string;
  readonly since: number;
  readonly nextCheckAt: number;
  readonly timer: Timer;
}

interface AvailabilityOptions {
  /** The relay's name, for the log. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Availability of a relay: it accepts connections and our login.
 *
 * | State | Event                                                                        | Next |
 * | ----- | ---------------------------------------------------------------------------- | ---- |
 * | up    | a receipt with `unavailable`: no connection, login refused, 421, no reply    | down |
 * | up    | mails are under way for ten seconds, and none is answered                    | stalled, until one is |
 * | down  | any other receipt, of a mail that was handed over since                      | up   |
 * | down  | a check succeeds: a timer begins one when it is due, also while no mail waits | up   |
 * | down  | a check fails; a receipt with `unavailable`                                  | down, the next check is due later |
 *
 * It stops no mail: that of a relay without another one to take over is handed over as ever.
 */
export class Availability {
  readonly #mailer: Mailer;
  readonly #options: AvailabilityOptions;
  /** Time at which each mail under way was handed over: real time, ms. */
  readonly #underWay = new Map<symbol, number>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #workedAt: number | null = null;
  #down: Down | null = null;
  #closed = false;
  /** Number of failures since it last took a mail. */
  #failures = 0;
  #changedAt: number;

  constructor(mailer: Mailer, options: AvailabilityOptions) {
    this.#mailer = mailer;
    this.#options = options;
    this.#changedAt = options.clock.now();
  }

  /** Reason not to give it mail that another relay could take; null if it is up. */
  get reason(): string | null {
    return this.#down?.reason ?? (this.#isStalled() ? "It answers no mail any more." : null);
  }

  /** Time of the last change between up and down, ms. */
  get since(): number {
    return this.#changedAt;
  }

  /** Time at which it last took a mail or a check, ms; null before the first. */
  get workedAt(): number | null {
    return this.#workedAt;
  }

  /** The mailer, watched. */
  watched(): Mailer {
    return {
      ...this.#mailer,
      send: (mail) => this.#send(() => this.#mailer.send(mail)),
      check: () => this.#checkForOthers(),
      close: (graceMs) => {
        this.#closed = true;
        this.#down?.timer.cancel();
        return this.#mailer.close(graceMs);
      },
    };
  }

  async #send(send: () => Promise<Receipt>): Promise<Receipt> {
    const { now } = this.#options.clock.real;
    const id = Symbol();
    const downSince = this.#down?.since ?? null;
    this.#underWay.set(id, now());
    try {
      const receipt = await send();
      this.#answeredAt = now();
      if (!isUnavailable(receipt)) this.#workedAt = this.#options.clock.now();
      if (isUnavailable(receipt)) this.#goDown(receipt.error.message);
      // A mail that was under way when the relay went down does not show that it is up again.
      else if (downSince === (this.#down?.since ?? null)) {
        this.#failures = 0;
        this.#goUp();
      }
      return receipt;
    } finally {
      this.#underWay.delete(id);
    }
  }

  #isStalled(): boolean {
    const [oldest] = this.#underWay.values();
    return oldest !== undefined && this.#options.clock.real.now() - Math.max(oldest, this.#answeredAt) > STALLED_MS;
  }

  /** A check that somebody asked for. A failed one takes no relay out of service: that is for mail to find out. */
  async #checkForOthers(): Promise<string | null> {
    const reason = await this.#mailer.check();
    if (reason === null) this.#goUp();
    return reason;
  }

  async #check(): Promise<void> {
    const down = this.#down;
    const reason = await this.#mailer.check().catch((error: Error) => error.message);
    if (down === null || this.#down !== down) return;
    if (reason === null) this.#goUp();
    else this.#goDown(reason);
  }

  #goDown(reason: string): void {
    const { clock, log, name } = this.#options;
    const wasUp = this.#down === null;
    // Many mails may fail at once: only the first one, and each check, count.
    if (!wasUp && clock.now() < (this.#down?.nextCheckAt ?? 0)) return;
    this.#failures += 1;
    const now = clock.now();
    const wait = Math.min(FIRST_CHECK_MS * 2 ** (this.#failures - 1), MAX_CHECK_MS);
    this.#down?.timer.cancel();
    if (this.#closed) return;
    const timer = clock.after(wait, CHECK_TIMER, () => void this.#check());
    this.#down = { reason, since: this.#down?.since ?? now, nextCheckAt: now + wait, timer };
    if (!wasUp) return;
    this.#changedAt = now;
    log.error("a relay is out of service", { relay: name, reason, next: `mailsvc relays test ${name}` });
  }

  #goUp(): void {
    const { clock, log, name } = this.#options;
    this.#workedAt = clock.now();
    if (this.#down === null) return;
    this.#down.timer.cancel();
    this.#down = null;
    this.#changedAt = clock.now();
    log.info("a relay is in service again", { relay: name });
  }
}

/** True if a receipt says that the relay itself is out of service. */
function isUnavailable(receipt: Receipt): receipt is Extract<Receipt, { outcome: "deferred" | "unknown" }> {
  return (receipt.outcome === "deferred" || receipt.outcome === "unknown") && receipt.unavailable === true;
}
