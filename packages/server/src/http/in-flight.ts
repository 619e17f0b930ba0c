import type { Clock } from "../lib/clock.ts";

// This many requests in flight are a crowd: accepting requests then comes before delivering mail.
const CROWD = 16;
// A request with a large body, such as a batch of emails, is as much work as several: one for each of these bytes.
const BYTES_PER_REQUEST = 4096;
// A crowd counts for this long: between two commits of a busy server there are moments without a request in flight.
const CROWD_MS = 50;

/** Counts the requests in flight, for a graceful shutdown and for putting acceptance before delivery. */
export class InFlightRequests {
  readonly #real: Clock["real"];
  #count = 0;
  /** The requests in flight, large ones counted several times. */
  #weight = 0;
  /** Time at which a crowd last ended. */
  #dispersedAt = Number.NEGATIVE_INFINITY;
  /** True once the server is shutting down: responses then ask clients to close their connection. */
  draining = false;

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  get count(): number {
    return this.#count;
  }

  /** True if at least 16 requests, or as much work in fewer, were in flight within the last 50 ms. */
  get crowded(): boolean {
    return this.#weight >= CROWD || this.#real.now() - this.#dispersedAt < CROWD_MS;
  }

  /** Counts a request. Call `end` when it has been answered. */
  begin(): RequestInFlight {
    let weight = 1;
    this.#count += 1;
    this.#weight += weight;
    return {
      received: (bytes) => {
        const whole = Math.max(weight, Math.floor(bytes / BYTES_PER_REQUEST));
        this.#weight += whole - weight;
        weight = whole;
      },
      end: () => {
        if (this.#weight >= CROWD) this.#dispersedAt = this.#real.now();
        this.#count -= 1;
        this.#weight -= weight;
      },
    };
  }
}

/** One request in flight. */
export interface RequestInFlight {
  /** Its whole body has come: one that is still on its way is no work yet. */
  received(bytes: number): void;
  end(): void;
}
