import type { Attempt } from "./attempt.ts";

/*
 * Without jitter: what a builder reads in the documentation is what happens, to the millisecond of the clock. That many
 * retries fall due at one instant does no harm, since each webhook gets only so many requests at a time.
 */

/** The whole of an attempt, ms: name, connection, answer and its body (SPEC 6). */
export const LIMIT_MS = 8000;

/** How long to wait after each failed direct attempt, ms (SPEC 6: one attempt and three retries). */
export const DIRECT_DELAYS = [1000, 2000, 4000] as const;

/** How long to wait after the direct attempts, and then after each queued one, ms: e^(2.5 n) seconds, a day at most. In all about 31 hours. */
export const QUEUED_DELAYS = [12_000, 148_000, 1_808_000, 22_026_000, 86_400_000] as const;

const DIRECT_TRIES = DIRECT_DELAYS.length + 1;

/** What becomes of an event after a failed attempt: tries that count, and when the next one is due; null when it is given up. */
export interface Plan {
  readonly state: "pending" | "queued" | "dead";
  readonly tries: number;
  readonly delay: number | null;
}

const DEAD = { state: "dead", delay: null } as const;

/**
 * The next step after a failed attempt, `before` the tries that counted until then. `directOnly`: the event is not worth
 * the queue. 410 ends it at once. A receiver that is overloaded (429 or 503) and says for how long is spared the direct attempts that
 * are left, and gets what it asks for up to twice the planned wait.
 */
export function planAfter(
  { httpStatus, retryAfter }: Pick<Attempt, "httpStatus" | "retryAfter">,
  before: number,
  directOnly: boolean,
): Plan {
  const spared = retryAfter !== null && (httpStatus === 429 || httpStatus === 503) && !directOnly;
  const tries = spared ? Math.max(before + 1, DIRECT_TRIES) : before + 1;
  if (httpStatus === 410) return { ...DEAD, tries };
  const direct = DIRECT_DELAYS[tries - 1];
  if (direct !== undefined) return { state: "pending", tries, delay: direct };
  const queued = directOnly ? undefined : QUEUED_DELAYS[tries - DIRECT_TRIES];
  if (queued === undefined) return { ...DEAD, tries };
  const delay = spared ? Math.min(Math.max(retryAfter, queued), 2 * queued) : queued;
  return { state: "queued", tries, delay };
}
