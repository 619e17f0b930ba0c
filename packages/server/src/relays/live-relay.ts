import type { RelayState } from "@mailsvc/sdk/contract";
import type { Choice } from "../delivery/delivery.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { MINUTE } from "../lib/units.ts";
import { Availability } from "../mail/availability.ts";
import { circuitBreaker } from "../mail/circuit-breaker.ts";
import type { Mailer } from "../mail/mailer.ts";
import { simulator } from "../mail/simulator.ts";
import { Pace } from "./pace.ts";

// While it refuses nearly everybody, one mail a minute tries whether it still does.
const PROBE_MS = MINUTE;

interface LiveRelayOptions {
  readonly name: string;
  /** Stored with the emails that it takes; null for the default relay. */
  readonly stored: string | null;
  readonly mailer: Mailer;
  readonly ratePerSecond: number | null;
  /** The server processes that are alive: they share the pace. */
  readonly processes: () => number;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes spans of hand-overs. */
  readonly traced: (mailer: Mailer) => Mailer;
}

/** One relay of this process: its mailer with its own connections, circuit breaker, availability and pace. */
export class LiveRelay {
  readonly name: string;
  readonly mailer: Mailer;
  readonly #stored: string | null;
  readonly #clock: Clock;
  readonly #availability: Availability;
  readonly #pace: Pace | null;
  #probedAt = Number.NEGATIVE_INFINITY;
  #retired = false;

  constructor({ name, stored, mailer, ratePerSecond, processes, clock, log, traced }: LiveRelayOptions) {
    this.name = name;
    this.#stored = stored;
    this.#clock = clock;
    this.#availability = new Availability(mailer, { name, clock, log });
    this.mailer = traced(simulator(circuitBreaker(this.#availability.watched(), { now: clock.now, log })));
    this.#pace = ratePerSecond === null ? null : new Pace({ perSecond: ratePerSecond, processes, now: clock.now });
  }

  get state(): { readonly state: RelayState; readonly reason: string | null; readonly since: number } {
    const paused = this.mailer.fault();
    const { reason, since } = this.#availability;
    return { state: paused !== null ? "paused" : reason !== null ? "down" : "up", reason: paused ?? reason, since };
  }

  /** Whether to give it a mail that another relay could take instead. */
  takesMail(): boolean {
    if (this.#retired) return false;
    if (this.mailer.fault() === null) return this.#availability.takesMail();
    if (this.#clock.now() - this.#probedAt < PROBE_MS) return false;
    this.#probedAt = this.#clock.now();
    return true;
  }

  /** Whether another relay should take its mail; unlike `takesMail`, asking changes nothing. */
  get isOutOfService(): boolean {
    return this.#retired || this.mailer.fault() !== null || this.#availability.reason !== null;
  }

  /** The choice of this relay for a mail. `others` could take it instead. */
  choose(others: readonly LiveRelay[]): Choice {
    return {
      mailer: this.mailer,
      relay: this.#stored,
      isOutOfService: () => this.#retired || (this.isOutOfService && others.some((other) => !other.isOutOfService)),
      takeTurn: (lane) => this.#pace?.take(lane) ?? null,
    };
  }

  /** It was changed or removed: gives its waiting mail back, and closes once the mail under way has ended. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.mailer.close();
  }
}
