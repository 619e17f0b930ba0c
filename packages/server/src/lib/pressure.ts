import { performance } from "node:perf_hooks";
import type { Clock } from "./clock.ts";

// How long a measurement of the event loop counts.
const SAMPLE_MS = 50;
// A server that answers as fast as it can stands at 0.65 and more, since callers need a moment too; one with many slow
// callers far below.
const BUSY = 0.5;

/**
 * Tells whether the event loop has nothing to spare: measured over the last 50 ms at least, so asking often costs
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
