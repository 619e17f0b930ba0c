/** A timer that has been set and may be cancelled. */
export interface Timer {
  cancel(): void;
}

/**
 * The one source of time. Everything the product decides by time asks here, so that a test or a developer can own the
 * clock (`/__dev/clock`). Waits that belong to the outside world, such as how long a caller is kept waiting, use
 * `real`, which always runs.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `fire` once, `ms` from now. `name` is shown by `mailsvc clock`. The process may exit while it waits. */
  after(ms: number, name: string, fire: () => void): Timer;
  /** True while a developer moves the clock forward: time stands still until the work of each instant is done. */
  readonly advancing?: boolean;
  /** The same on real time, whatever the clock does. */
  readonly real: {
    /** Milliseconds on a clock that only goes forward. */
    now(): number;
    after(ms: number, fire: () => void): Timer;
    sleep(ms: number): Promise<void>;
  };
}

// setTimeout overflows beyond 2^31-1 ms (24.8 days) and then fires at once.
const MAX_TIMEOUT = 2 ** 31 - 1;

/** Real time that nothing can bend. */
export const realTime: Clock["real"] = {
  now: () => performance.now(),
  after: (ms, fire) => realTimer(ms, fire, false),
  sleep: (ms) => new Promise((done) => realTimer(ms, done, true)),
};

/** The clock of a production server: the machine's. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, _name, fire) => realTimer(ms, fire, false),
  real: realTime,
};

/** An instant as it stands on the wire: ISO 8601, UTC, milliseconds. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function realTimer(ms: number, fire: () => void, ref: boolean): Timer {
  const due = performance.now() + ms;
  const arm = (): NodeJS.Timeout => {
    const left = Math.max(0, due - performance.now());
    const handle = setTimeout(() => (left > MAX_TIMEOUT ? (timeout = arm()) : fire()), Math.min(left, MAX_TIMEOUT));
    return ref ? handle : handle.unref();
  };
  let timeout = arm();
  return { cancel: () => clearTimeout(timeout) };
}
