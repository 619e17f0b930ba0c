import type { Clock } from "../lib/clock.ts";
import { yieldToEventLoop } from "../lib/turn.ts";

// Node accepts one connection per turn of the event loop, and a turn that serves hundreds of requests lasts a tenth of a second: a
// new connection behind 300 others waited 12 s. So a turn starts requests for a few ms only, and for one while connections arrive.
const BUDGET_MS = 8;
const BUDGET_WHILE_ACCEPTING_MS = 1;

/**
 * Bounds the time that one turn of the event loop spends on starting requests. Requests beyond the budget wait, first come first
 * served, for the next turn; their bodies stay unread meanwhile.
 *
 *   state    | trigger                      | next
 *   ---------|------------------------------|----------------------------------------------
 *   idle     | request                      | running: served at once, the turn's time starts
 *   running  | request within the budget    | running: served at once
 *   running  | request beyond the budget    | running: queued
 *   running  | end of turn, queue empty     | idle
 *   running  | end of turn, requests queued | running: new budget, the queue is served first
 */
export class TurnBudget {
  readonly #real: Clock["real"];
  readonly #queue: (() => void)[] = [];
  #running = false;
  #turnStartedAt = 0;
  /** Whether a connection was accepted in this turn, and in the one before. */
  #accepted = false;
  #acceptedBefore = false;

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  /** Requests that have not been started yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Notes that a connection was accepted: others may be waiting behind it. */
  connectionAccepted(): void {
    this.#accepted = true;
  }

  /** Starts a request now, or in a later turn. `start` must not throw. */
  run(start: () => void): void {
    if (this.#queue.length > 0 || (this.#running && this.#isSpent())) {
      this.#queue.push(start);
      return;
    }
    if (!this.#running) this.#startTurn();
    start();
  }

  #isSpent(): boolean {
    const accepting = this.#accepted || this.#acceptedBefore;
    return this.#real.now() - this.#turnStartedAt >= (accepting ? BUDGET_WHILE_ACCEPTING_MS : BUDGET_MS);
  }

  #startTurn(): void {
    this.#running = true;
    this.#turnStartedAt = this.#real.now();
    void yieldToEventLoop().then(() => {
      this.#running = false;
      this.#acceptedBefore = this.#accepted;
      this.#accepted = false;
      if (this.#queue.length === 0) return;
      this.#startTurn();
      this.#serveQueue();
    });
  }

  #serveQueue(): void {
    const start = this.#queue.shift();
    if (!start) return;
    start();
    // Most of a request's work happens in microtasks: look at the time only once they have run.
    if (this.#queue.length > 0)
      queueMicrotask(() =>
        process.nextTick(() => {
          if (!this.#isSpent()) this.#serveQueue();
        }),
      );
  }
}
