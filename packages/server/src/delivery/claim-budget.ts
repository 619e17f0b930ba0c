import { EMAILS_PER_JOB } from "../emails/emails.ts";
import { RecentCount } from "../lib/recent-count.ts";
import type { Lane } from "../queue/queue.ts";
import type { MailLane } from "./slots.ts";

// Emails claimed beyond the slots: those that are marked ahead, and as many that are loaded meanwhile.
const MAX_CLAIMED_AHEAD = 192;
// How long after a single email no bulk mail is claimed ahead: single emails would wait behind its loading.
const SINGLE_MS = 200;

/**
 * What to claim: in each lane as many emails as there are slots, and as many more as were settled a moment ago, so that no process
 * holds emails that another one could send; one more at least, so that the next one is loaded when a slot is free. An email counts
 * from its claim until it is settled.
 */
export class ClaimBudget {
  readonly #slots: number;
  readonly #now: () => number;
  readonly #settled: RecentCount;
  readonly #claimed = { single: 0, bulk: 0 };
  #singleClaimedAt = Number.NEGATIVE_INFINITY;

  /** `slots` is how many emails the mailer takes at once; `now` gives real time, ms. */
  constructor(slots: number, now: () => number) {
    this.#slots = slots;
    this.#now = now;
    this.#settled = new RecentCount(now);
  }

  /** An email was claimed. */
  claim(lane: MailLane): void {
    this.#claimed[lane] += 1;
    if (lane === "single") this.#singleClaimedAt = this.#now();
  }

  /** A claimed email is about to be settled. */
  settle(lane: MailLane): void {
    this.#claimed[lane] -= 1;
    this.#settled.add();
  }

  /** How many jobs of a lane to claim now. Few are not worth a claim while others wait: then it is none. */
  freeSlots(lane: Lane): number {
    if (lane === "default") return 0;
    const mailLane = lane === "mail" ? "single" : "bulk";
    const ahead = this.#claimedAhead(mailLane);
    const free = this.#slots + ahead - this.#claimed[mailLane];
    if (free <= 0 || free < ahead / 2) return 0;
    return mailLane === "single" ? free : Math.ceil(free / EMAILS_PER_JOB);
  }

  #claimedAhead(lane: MailLane): number {
    if (lane === "bulk" && this.#now() - this.#singleClaimedAt < SINGLE_MS) return 0;
    return Math.min(Math.max(this.#settled.value, 1), MAX_CLAIMED_AHEAD);
  }
}
