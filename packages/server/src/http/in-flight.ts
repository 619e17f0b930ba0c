import type { Clock } from "../lib/clock.ts";

// This many requests in flight are a crowd: accepting requests then comes before delivering mail.
const CROWD = 16;
// A crowd counts for this long: between two commits of a busy server there are moments without a request in flight.
const CROWD_MS = 50;

/** Counts the requests in flight, for a graceful shutdown and for putting acceptance before delivery. */
export class InFlightRequests {
  readonly #real: Clock["real"];
  #count = 0;
  /** When a crowd last ended. */
  #dispersedAt = Number.NEGATIVE_INFINITY;
  /** True once the server is shutting down: responses then ask clients to close their connection. */
  draining = false;

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether at least 16 requests were in flight within the last 50 ms. */
  get crowded(): boolean {
    return this.#count >= CROWD || this.#real.now() - this.#dispersedAt < CROWD_MS;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    if (this.#count === CROWD) this.#dispersedAt = this.#real.now();
    this.#count -= 1;
  }
}
