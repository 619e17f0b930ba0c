import { performance } from "node:perf_hooks";
import type { Clock } from "./lib/clock.ts";

// Time for which a measurement of the event loop is used.
const SAMPLE_MS = 50;
// A server that answers as fast as it can reaches 0.65 and more, because callers need time, too; many slow callers keep it far below.
const BUSY = 0.5;

/**
 * Makes a function that tells whether the event loop is busy, measured over at least the last 50 ms, so that calling it often costs
 * nothing. Many slow callers do not make it busy; many fast ones do.
 */
export function measureLoopPressure(real: Clock["real"]): () => boolean {
  let since = performance.eventLoopUtilization();
  let at = real.now();
  let busy = false;
  return () => {
    if (real.now() - at >= SAMPLE_MS) {
      const now = performance.eventLoopUtilization();
      busy = performance.eventLoopUtilization(now, since).utilization > BUSY;
      since = now;
      at = real.now();
    }
    return busy;
  };
}
