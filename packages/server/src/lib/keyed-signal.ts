import type { Clock } from "./clock.ts";

/** Wakes those who wait for something to happen to one of many things, within this process. */
export class KeyedSignal {
  readonly #real: Clock["real"];
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  wake(keys: Iterable<string>): void {
    for (const key of keys) for (const wake of [...(this.#waiting.get(key) ?? [])]) wake();
  }

  /** Settles when the key is woken, after `ms` of real time, or when `signal` aborts. */
  wait(key: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting);
      const wake = (): void => {
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        timer.cancel();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = this.#real.after(ms, wake);
      waiting.add(wake);
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
    });
  }
}
