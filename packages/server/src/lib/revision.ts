import { ApiError } from "./api-error.ts";
import type { Clock } from "./clock.ts";

/** Refuses a change that names another revision than the current one of an object. Throws ApiError conflict. */
export function assertRevision(what: string, current: number, named: number | undefined): void {
  if (named !== undefined && named !== current)
    throw new ApiError("conflict", `The ${what} was changed meanwhile: it is at revision ${current}, not ${named}.`, {
      details: [{ path: "revision", code: "outdated", message: `The current revision is ${current}.` }],
    });
}

/**
 * Returns the time (ms) of a change, always later than the change before, also within one millisecond or while the clock stands
 * still. The time of its last change can therefore serve as the revision of an object without a counter.
 */
export function nextChange(clock: Clock, before: number): number {
  return Math.max(clock.now(), before + 1);
}
