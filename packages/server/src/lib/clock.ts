/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void;
}

/**
 * The source of time. Everything the product decides by time asks this clock, so that tests and developers can control it
 * (`/__dev/clock`). Waits that concern the outside world, such as timeouts of requests, use `real`, which always runs.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `fire` once, `ms` from now. `mailsvc clock` shows `name`. The timer does not keep the process alive. */
  after(ms: number, name: string, fire: () => void): Timer;
  /** True while a developer moves the clock forward: time stands still until the work of each instant is done. */
  readonly advancing?: boolean;
  /** Real time, whatever the clock does. */
  readonly real: {
    /** Milliseconds of a monotonic clock. */
    now(): number;
    /** Milliseconds since 1970 by the clock of the machine: the time that other machines have. */
    date(): number;
    after(ms: number, fire: () => void): Timer;
    sleep(ms: number): Promise<void>;
  };
}

/*
 * The longest delay that is given to setTimeout. A longer timer is set again each time, and compares itself with the machine's clock then.
 * For each delay in ms Node keeps a list of timers, also when all are cancelled, until they would have fired: the timer of a job that is
 * due tomorrow is set anew with every job before it, each time with another delay.
 */
const STEP_MS = 60_000;

/** Real time, which nothing can control. */
export const realTime: Clock["real"] = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (ms, fire) => realTimer(ms, fire, false),
  sleep: (ms) => new Promise((done) => realTimer(ms, done, true)),
};

/** The machine's clock, for production. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, _name, fire) => wallTimer(ms, fire),
  real: realTime,
};

/** An instant in the format of the API: ISO 8601, UTC, milliseconds. Throws RangeError if it is none. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * A timer that also fires when the machine's clock has reached its instant before as much time has passed: the clock was set forward, or
 * the machine slept. It looks once a minute.
 */
function wallTimer(ms: number, fire: () => void): Timer {
  const [dueAt, end] = [Date.now() + ms, performance.now() + ms];
  const look = (): void => {
    if (performance.now() >= end || Date.now() >= dueAt) fire();
    else timer = arm();
  };
  const arm = (): Timer => realTimer(Math.min(end - performance.now(), STEP_MS), look, false);
  let timer = arm();
  return { cancel: () => timer.cancel() };
}

function realTimer(ms: number, fire: () => void, ref: boolean): Timer {
  const due = performance.now() + ms;
  const arm = (): NodeJS.Timeout => {
    const left = Math.max(0, due - performance.now());
    const handle = setTimeout(() => (left > STEP_MS ? (timeout = arm()) : fire()), Math.min(left, STEP_MS));
    return ref ? handle : handle.unref();
  };
  let timeout = arm();
  return { cancel: () => clearTimeout(timeout) };
}

/**
 * Returns the result of `work`, or `late` if that takes longer than `ms` (real time). The work then goes on, and its result is
 * ignored.
 */
export async function withinTime<T, Late>(real: Clock["real"], ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  let timer: { cancel(): void } | null = null;
  const expired = new Promise<Late>((done) => {
    timer = real.after(ms, () => done(late));
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    (timer as { cancel(): void } | null)?.cancel();
  }
}
