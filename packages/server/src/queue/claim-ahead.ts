/** How far to claim ahead. */
export interface ClaimAheadLimits {
  /** What is claimed ahead at first, and of a slow lane. */
  readonly min: number;
  readonly max: number;
  /** What is claimed ahead should last about this long, ms (real time). */
  readonly lastsMs: number;
}

// The first step up from nothing.
const FIRST_STEP = 8;

/**
 * How many jobs to claim beyond the free slots, so that a claim is one statement for many short jobs. The number adapts: what was
 * used up before `lastsMs` had passed is doubled, what lasted longer is halved, so that no process sits on work that another one
 * could do.
 */
export class ClaimAhead {
  readonly #limits: ClaimAheadLimits;
  readonly #now: () => number;
  #size: number;
  #claimedAt = 0;

  /** `now` is real time in ms. */
  constructor(limits: ClaimAheadLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#size = Math.min(limits.min, limits.max);
  }

  /** The present number. */
  get size(): number {
    return this.#size;
  }

  /** Adapts the number to the time since the last claim, and returns it. Called once for each claim. */
  adapt(): number {
    const { min, max, lastsMs } = this.#limits;
    const now = this.#now();
    const isUsedUp = now - this.#claimedAt < lastsMs;
    this.#claimedAt = now;
    const next = isUsedUp ? Math.max(FIRST_STEP, this.#size * 2) : Math.max(min, Math.floor(this.#size / 2));
    this.#size = Math.min(next, max);
    return this.#size;
  }
}
