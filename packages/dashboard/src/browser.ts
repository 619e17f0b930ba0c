/** The time of this machine, ms since 1970. In dev mode the server's clock may be another one. */
export function now(): number {
  return Date.now();
}

/** Language of dates and numbers: the browser's English, or else British English, whose days and hours most people read. */
export const LOCALE = navigator.language.startsWith("en") ? navigator.language : "en-GB";

/** Calls `fire` once, `ms` from now; returns how to cancel that. */
export function after(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms);
  return () => clearTimeout(timer);
}

/** Waits `ms`, or until the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const cancel = after(ms, done);
    signal?.addEventListener("abort", () => {
      cancel();
      done();
    });
  });
}

/** A number in [0, 1), to spread repeated calls of many tabs. */
export function chance(): number {
  return Math.random();
}
