import type { Clock } from "../lib/clock.ts";
import { yieldToEventLoop } from "../lib/turn.ts";

// Node accepts one connection per turn of the event loop, and a turn that serves hundreds of requests lasts a tenth of a second: a
// new connection behind 300 others waited 12 s. So a turn starts requests for a few ms only, and for one while connections arrive.
const BUDGET_MS = 8;
const BUDGET_WHILE_ACCEPTING_MS = 1;

/** Requests of one connection that have not been started yet, in their order. */
interface Line {
  readonly waiting: (() => void)[];
}

/**
 * Bounds the time that one turn of the event loop spends on starting requests. Requests beyond the budget wait for a later turn; their
 * bodies stay unread meanwhile. Connections take turns, so that one with many requests does not hold up the others.
 *
 *   state    | trigger                      | next
 *   ---------|------------------------------|----------------------------------------------
 *   idle     | request                      | running: served at once, the turn's time starts
 *   running  | request within the budget    | running: served at once
 *   running  | request beyond the budget    | running: it waits
 *   running  | end of turn, none waits      | idle
 *   running  | end of turn, requests wait   | running: new budget, those that wait are served first
 *   any      | pause                        | paused: all requests wait, and turns are short
 *   paused   | resume                       | running if requests wait, else idle
 */
export class TurnBudget {
  readonly #real: Clock["real"];
  /** The connections whose requests wait, in the order of their turns. */
  readonly #lines: Line[] = [];
  #waiting = 0;
  #running = false;
  #paused = false;
  #turnStartedAt = 0;
  /** True if a connection was accepted in this turn; `#acceptedBefore` is about the turn before. */
  #accepted = false;
  #acceptedBefore = false;

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  /** Requests that have not been started yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Notes that a connection was accepted: others may be waiting behind it. */
  connectionAccepted(): void {
    this.#accepted = true;
  }

  /** Starts a request of a connection now, or in a later turn. `start` must not throw. */
  run(line: Line, start: () => void): void {
    if (this.#paused || this.#waiting > 0 || (this.#running && this.#isSpent())) {
      this.#waiting += 1;
      if (line.waiting.push(start) === 1) this.#lines.push(line);
      return;
    }
    if (!this.#running) this.#startTurn();
    start();
  }

  /** Starts no request until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    if (this.#running || this.#waiting === 0) return;
    this.#startTurn();
    this.#serveWaiting();
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
      if (this.#waiting === 0 || this.#paused) return;
      this.#startTurn();
      this.#serveWaiting();
    });
  }

  #serveWaiting(): void {
    const line = this.#lines.shift();
    const start = line?.waiting.shift();
    if (!line || !start) return;
    this.#waiting -= 1;
    if (line.waiting.length > 0) this.#lines.push(line);
    start();
    // Most of a request's work happens in microtasks: look at the time only once they have run.
    if (this.#waiting > 0)
      queueMicrotask(() =>
        process.nextTick(() => {
          if (!this.#paused && !this.#isSpent()) this.#serveWaiting();
        }),
      );
  }
}
