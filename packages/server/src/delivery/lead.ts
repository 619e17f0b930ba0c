/** The most emails that are marked ahead of their hand-over. A crash leaves them in doubt, so they are few. */
export const MAX_LEAD = 64;

const WINDOW_MS = 50;

/** How many emails may be marked `sending` beyond those that are under way, so that many marks share a commit. */
export interface Lead {
  /** As many as left in the last 50 to 100 ms, 64 at most: none while nothing leaves. */
  size(): number;
  /** An email has left. */
  left(): void;
}

/** Creates the lead of one mailer. `now` gives real time, ms. */
export function createLead(now: () => number): Lead {
  let since = now();
  let current = 0;
  let previous = 0;
  const advance = (): void => {
    const age = now() - since;
    if (age < WINDOW_MS) return;
    previous = age < 2 * WINDOW_MS ? current : 0;
    current = 0;
    since += age;
  };
  return {
    size: () => {
      advance();
      return Math.min(Math.max(previous, current), MAX_LEAD);
    },
    left: () => {
      advance();
      current += 1;
    },
  };
}
