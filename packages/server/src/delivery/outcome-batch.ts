import type { Clock, Timer } from "../lib/clock.ts";

// Longest wait of an outcome for the next marks, or for other outcomes, ms.
const MAX_WAIT_MS = 25;

/** Outcomes that are known and wait to be stored, so that they share a transaction with the next marks or with each other. */
export class OutcomeBatch {
  readonly #real: Clock["real"];
  #waiting: (() => void)[] = [];
  #timer: Timer | null = null;

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  /** Adds what settles an outcome. It is called by `settleAll`, 25 ms from now at the latest. Must not throw. */
  add(settle: () => void): void {
    this.#waiting.push(settle);
    this.#timer ??= this.#real.after(MAX_WAIT_MS, () => this.settleAll());
  }

  /** Settles all that wait, in one turn of the event loop: the queue stores them together. */
  settleAll(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const settle of this.#waiting.splice(0)) settle();
  }
}
