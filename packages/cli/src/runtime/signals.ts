/** The signals that ask a program to end, and that a terminal sends to all programs in its foreground. */
export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

interface Listener {
  readonly signals: readonly Signal[];
  readonly hear: (signal: Signal) => void;
}

/** Signals of this process. Only the latest listener hears a signal. */
export class Signals {
  readonly #process: NodeJS.Process;
  readonly #listeners: Listener[] = [];

  constructor(ofProcess: NodeJS.Process) {
    this.#process = ofProcess;
  }

  /** Calls `hear` on each of these signals until the returned function is called. */
  listen(signals: readonly Signal[], hear: (signal: Signal) => void): () => void {
    const listener: Listener = { signals, hear };
    this.#listeners.push(listener);
    const tell = (signal: NodeJS.Signals): void => {
      const asked = signals.find((one) => one === signal);
      if (asked !== undefined && this.#latest(asked) === listener) hear(asked);
    };
    for (const signal of signals) this.#process.on(signal, tell);
    return () => {
      for (const signal of signals) this.#process.off(signal, tell);
      const at = this.#listeners.indexOf(listener);
      if (at >= 0) this.#listeners.splice(at, 1);
    };
  }

  #latest(signal: Signal): Listener | undefined {
    return this.#listeners.findLast(({ signals }) => signals.includes(signal));
  }
}
