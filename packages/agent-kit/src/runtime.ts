import { randomBytes } from "node:crypto";

/** Time as the kit sees it. A test passes its own clock. */
export interface AgentClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fire` once, `ms` from now. The timer does not keep the process alive. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void;
}

// setTimeout overflows beyond 2^31-1 ms (24.8 days) and then fires at once.
const MAX_TIMEOUT = 2 ** 31 - 1;

/** The clock of this machine. This file is the only place that reads it, and the only one that draws random numbers. */
export const systemClock: AgentClock = {
  now: () => Date.now(),
  after: (ms, fire) => {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number): void => {
      timer = setTimeout(() => (left > MAX_TIMEOUT ? arm(left - MAX_TIMEOUT) : fire()), Math.min(left, MAX_TIMEOUT));
      // Only Node's timers have it.
      (timer as { unref?: () => void }).unref?.();
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** The clock of this machine, ms since 1970. */
export function currentTime(): number {
  return Date.now();
}

/** Bytes for keys and nonces. */
export function randomData(length: number): Uint8Array {
  return randomBytes(length);
}

/** A random text of 128 bits. */
export function randomToken(): string {
  return randomBytes(16).toString("hex");
}

/** A random number from 0 to 1, for jitter. */
export function randomFraction(): number {
  return Math.random();
}

/** A variable of the environment; undefined where there is no environment. */
export function environment(name: string): string | undefined {
  return globalThis.process?.env?.[name];
}

/** Waits by real time, or until the signal aborts; the wait keeps the process alive. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}

/** Waits for work, at most so long by real time. Leaves no timer behind, so that a process that is done can end. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise((done) => {
    timer = setTimeout(done, ms);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** Waits until this process has had the chance to do what is ready to be done. Not in Workers. */
export function turn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
