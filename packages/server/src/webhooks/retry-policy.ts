import type { Attempt } from "./attempt.ts";

/** The whole of an attempt, ms: name lookup, connection, response and its body. */
export const ATTEMPT_TIMEOUT_MS = 8000;

/**
 * Delays after each failed attempt to send an event, ms. Without jitter, so that retries happen as documented, to the
 * millisecond. Many retries due at one instant do no harm, since each endpoint gets only a limited number of requests at a time.
 */
export interface RetrySchedule {
  /** After each direct attempt but the last; the event is `pending` meanwhile. */
  readonly direct: readonly number[];
  /** After the direct attempts, then after each queued one; the event is `queued` meanwhile. */
  readonly queued: readonly number[];
}

/** State of an event after a failed attempt, and its next attempt. */
export interface RetryPlan {
  readonly state: "pending" | "queued" | "dead";
  /** Attempts that count so far. */
  readonly tries: number;
  /** ms until the next attempt; null when the event is given up. */
  readonly delay: number | null;
}

/**
 * Plans what follows a failed attempt. `before` is the number of attempts that counted until then; `directOnly` for events that
 * are given up after the direct attempts. 410 gives an event up at once. When an overloaded receiver (429 or 503) sends
 * Retry-After, the direct attempts that are left are skipped, and the queue waits for as long as it asks, up to twice its own delay.
 */
export function planRetry(
  { direct, queued }: RetrySchedule,
  { httpStatus, retryAfter }: Pick<Attempt, "httpStatus" | "retryAfter">,
  before: number,
  directOnly: boolean,
): RetryPlan {
  const directTries = direct.length + 1;
  const spared = retryAfter !== null && (httpStatus === 429 || httpStatus === 503) && !directOnly;
  const tries = spared ? Math.max(before + 1, directTries) : before + 1;
  const delay = direct[tries - 1];
  if (httpStatus === 410) return { state: "dead", tries, delay: null };
  if (delay !== undefined) return { state: "pending", tries, delay };
  const planned = directOnly ? undefined : queued[tries - directTries];
  if (planned === undefined) return { state: "dead", tries, delay: null };
  return { state: "queued", tries, delay: spared ? Math.min(Math.max(retryAfter, planned), 2 * planned) : planned };
}
