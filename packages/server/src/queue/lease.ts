import type { Clock, Timer } from "../lib/clock.ts";
import { MINUTE } from "../lib/units.ts";

/** An attempt that takes longer (real time) has lost its job; what it commits later is refused. */
export const LEASE_MS = 10 * MINUTE;

/**
 * The right of an attempt to its job, for ten minutes from its begin or its last sign of life. `expired` is called once if neither a
 * sign of life nor the end comes in time.
 */
export class Lease {
  readonly #real: Clock["real"];
  readonly #expired: (error: Error) => void;
  #aliveAt: number;
  #timer: Timer;

  constructor(real: Clock["real"], expired: (error: Error) => void) {
    this.#real = real;
    this.#expired = expired;
    this.#aliveAt = real.now();
    this.#timer = real.after(LEASE_MS, () => this.#check());
  }

  /** Lets the ten minutes begin again. The timer stays: it looks when it fires. */
  renew(): void {
    this.#aliveAt = this.#real.now();
  }

  end(): void {
    this.#timer.cancel();
  }

  #check(): void {
    const left = this.#aliveAt + LEASE_MS - this.#real.now();
    if (left > 0) this.#timer = this.#real.after(left, () => this.#check());
    else this.#expired(new Error("The attempt took longer than its lease of 10 minutes."));
  }
}
