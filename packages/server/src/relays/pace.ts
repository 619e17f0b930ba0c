import type { MailLane } from "../delivery/delivery.ts";
import { type Rate, TokenBuckets } from "../lib/rate.ts";
import { SECOND } from "../lib/units.ts";

// Mails leave in groups of a tenth of a second, so that a fast pace does not need a timer for each.
const GROUP_MS = 100;
// Time for which bulk mail makes way for single mails that are due.
const YIELD_MS = 50;
// The last turn that is foreseen: a pace may change, and mails may be cancelled.
const MAX_WAIT_MS = 300 * SECOND;

interface PaceOptions {
  /** Mails per second of all server processes together. */
  readonly perSecond: number;
  /** The server processes that are alive, this one included. */
  readonly processes: () => number;
  readonly now: () => number;
}

/**
 * The turns of a relay's mails, at `perSecond` by the clock: single mails before bulk mail. A turn that cannot be taken now is
 * not reserved; the mail asks again at the instant it is told. Each process takes an equal share of the relay's pace: all of them claim
 * from the same queue, so each has mail for its share.
 */
export class Pace {
  readonly #perSecond: number;
  readonly #processes: () => number;
  readonly #now: () => number;
  readonly #bucket: TokenBuckets;
  /** Time at which the last of the waiting mails will ask again, ms. */
  readonly #lastTurn: Record<MailLane, number> = { single: 0, bulk: 0 };

  constructor({ perSecond, processes, now }: PaceOptions) {
    this.#perSecond = perSecond;
    this.#processes = processes;
    this.#now = now;
    this.#bucket = new TokenBuckets(now);
  }

  /** Takes a turn: null if it is now, else when to ask again, ms. */
  take(lane: MailLane): number | null {
    const now = this.#now();
    const rate = this.#share();
    const makesWay = lane === "bulk" && now < this.#lastTurn.single + YIELD_MS && this.#lastTurn.single > 0;
    if (!makesWay && this.#bucket.take("mails", rate).allowed) return null;
    const spacing = SECOND / rate.perSecond;
    const first = lane === "bulk" ? Math.max(now, this.#lastTurn.single) : now;
    const turn = Math.min(Math.max(first, this.#lastTurn[lane]) + spacing, now + Math.max(MAX_WAIT_MS, spacing));
    this.#lastTurn[lane] = turn;
    return Math.max(now + 1, Math.ceil(turn / GROUP_MS) * GROUP_MS);
  }

  /** Returns the share of this process in the relay's rate. */
  #share(): Rate {
    const perSecond = this.#perSecond / this.#processes();
    return { perSecond, burst: Math.max(1, Math.floor((perSecond * GROUP_MS) / SECOND)) };
  }
}
