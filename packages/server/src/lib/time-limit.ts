import type { Clock } from "./clock.ts";

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
