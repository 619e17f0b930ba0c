import type { Clock, Timer } from "../lib/clock.ts";
import type { WorkerStore } from "./job-store.ts";

/**
 * The timer of the next job that is not due yet. It is set from the store when it was invalidated since: by a job that was added,
 * put back or moved, or by the timer itself when it fired.
 */
export class DueTimer {
  readonly #store: Pick<WorkerStore, "next">;
  readonly #clock: Clock;
  readonly #fire: () => void;
  #timer: Timer | null = null;
  #isStale = true;

  constructor(store: Pick<WorkerStore, "next">, clock: Clock, fire: () => void) {
    this.#store = store;
    this.#clock = clock;
    this.#fire = fire;
  }

  /** A job may be due before the timer fires. */
  invalidate(): void {
    this.#isStale = true;
  }

  /**
   * Sets the timer, if it was invalidated, to the first job that is due after the instant `lookedUntil` (ms); at once if that is over
   * already. Throws what the store throws; the timer is then still invalid.
   */
  async arm(lookedUntil: number): Promise<void> {
    if (!this.#isStale) return;
    this.#isStale = false;
    try {
      const next = await this.#store.next(lookedUntil);
      this.#timer?.cancel();
      this.#timer = next && this.#clock.after(next.at - this.#clock.now(), next.kind, this.#fire);
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#isStale = true;
  }
}
