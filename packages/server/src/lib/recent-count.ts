const WINDOW_MS = 50;

/**
 * Counts what happened in the last 50 to 100 ms. It is the measure of how far ahead work is taken: as much as ended a moment ago, so
 * much while it ends quickly, and none while nothing ends.
 */
export class RecentCount {
  readonly #now: () => number;
  #windowStartedAt: number;
  #current = 0;
  #previous = 0;

  /** `now` gives real time, ms. */
  constructor(now: () => number) {
    this.#now = now;
    this.#windowStartedAt = now();
  }

  add(n = 1): void {
    this.#advance();
    this.#current += n;
  }

  get value(): number {
    this.#advance();
    return Math.max(this.#previous, this.#current);
  }

  #advance(): void {
    const age = this.#now() - this.#windowStartedAt;
    if (age < WINDOW_MS) return;
    this.#previous = age < 2 * WINDOW_MS ? this.#current : 0;
    this.#current = 0;
    this.#windowStartedAt += age;
  }
}
