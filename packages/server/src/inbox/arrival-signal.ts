import type { Clock } from "../lib/clock.ts";

/** Wakes the requests that wait for captured mail. */
export interface ArrivalSignal {
  notify(): void;
  /** Settles when mail arrives, after `ms` of real time, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createArrivalSignal(real: Clock["real"]): ArrivalSignal {
  const waiting = new Set<() => void>();
  return {
    notify: () => {
      for (const wake of [...waiting]) wake();
    },
    wait: (ms, signal) =>
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
