import type { Clock } from "../lib/clock.ts";

/** Wakes those who wait for captured mail. */
export interface Arrivals {
  announce(): void;
  /** Settles at the next arrival, after `ms` of real time, or when `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<void>;
}

export function makeArrivals(real: Clock["real"]): Arrivals {
  const waiting = new Set<() => void>();
  return {
    announce: () => {
      for (const wake of [...waiting]) wake();
    },
    next: (ms, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          timer.cancel();
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const timer = real.after(ms, wake);
        waiting.add(wake);
        signal.addEventListener("abort", wake);
        if (signal.aborted) wake();
      }),
  };
}
