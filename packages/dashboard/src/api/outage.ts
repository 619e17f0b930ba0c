import { signal } from "@preact/signals";
import { chance, pause } from "../browser.ts";

const FIRST_MS = 1000;
const MAX_MS = 5000;

// Statuses of a proxy whose server does not answer.
const BY_PROXY: ReadonlySet<number> = new Set([502, 504]);

/** True while the server does not answer. */
export const isServerGone = signal(false);

/** The number of times the server has come back: effects that depend on it try again what has failed meanwhile. */
export const returns = signal(0);

/** Waits until the server comes back after an outage. */
export function nextReturn(): Promise<void> {
  const before = returns.peek();
  return new Promise((done) => {
    const stop = returns.subscribe((now) => {
      if (now === before) return;
      queueMicrotask(() => stop());
      done();
    });
  });
}

let isWatching = false;

/** Called when a request got no answer: asks the server until it answers again. One lost request alone is no outage. */
export function suspectOutage(): void {
  if (!isWatching) void watch();
}

async function watch(): Promise<void> {
  isWatching = true;
  for (let wait = FIRST_MS; !(await isThere()); wait = Math.min(MAX_MS, wait * 1.5)) {
    isServerGone.value = true;
    await pause(wait * (0.75 + chance() / 2));
  }
  isWatching = false;
  if (!isServerGone.peek()) return;
  isServerGone.value = false;
  returns.value += 1;
}

async function isThere(): Promise<boolean> {
  try {
    const { status } = await fetch("/dashboard/session", { credentials: "same-origin", cache: "no-store" });
    return !BY_PROXY.has(status);
  } catch {
    return false;
  }
}
