import { RecentCount } from "../lib/rate.ts";
import type { Lane } from "../queue/queue.ts";
import type { MailLane } from "./slots.ts";

// Emails claimed beyond the slots: those that are marked ahead, and as many that are loaded meanwhile.
const MAX_CLAIMED_AHEAD = 192;
// For this long after a single email no bulk mail is claimed ahead: single emails would wait behind its loading.
const SINGLE_MS = 200;

/** The emails that were claimed for one mailer. */
export interface MailerBudget {
  /** True while no email is claimed for the mailer. */
  readonly isEmpty: boolean;
  /** False if the mailer has more emails than are ever claimed for it: they came while there was room at another one. */
  hasRoom(lane: MailLane): boolean;
  /** A claimed email is this mailer's. */
  assign(lane: MailLane): void;
  /** An email of this mailer is about to be settled. */
  settle(lane: MailLane): void;
  /** An email of this mailer goes to another one. */
  release(lane: MailLane): void;
  /** There is no such mailer any more. */
  remove(): void;
}

/**
 * Decides how many emails to claim: in each lane as many as there are slots, and as many more as were settled a moment ago, so that no
 * process holds emails that another one could send; one more at least, so that the next one is loaded when a slot is free. An email
 * counts from its claim until it is settled. Its mailer is unknown until it is read, so the budget is that of the mailer with the most
 * room.
 */
export class ClaimBudget {
  readonly #now: () => number;
  readonly #settled: RecentCount;
  readonly #mailers = new Set<{ readonly slots: number; readonly claimed: Record<MailLane, number> }>();
  /** Claimed, and not assigned to a mailer yet. */
  readonly #loading = { single: 0, bulk: 0 };
  #singleClaimedAt = Number.NEGATIVE_INFINITY;

  /** `now` gives real time, ms. */
  constructor(now: () => number) {
    this.#now = now;
    this.#settled = new RecentCount(now);
  }

  /** Adds a mailer that takes `slots` emails at once. */
  addMailer(slots: number): MailerBudget {
    const claimed = { single: 0, bulk: 0 };
    const mailer = { slots, claimed };
    this.#mailers.add(mailer);
    return {
      get isEmpty() {
        return claimed.single === 0 && claimed.bulk === 0;
      },
      remove: () => void this.#mailers.delete(mailer),
      hasRoom: (lane) => claimed[lane] < slots + MAX_CLAIMED_AHEAD,
      assign: (lane) => {
        this.#loading[lane] -= 1;
        claimed[lane] += 1;
      },
      settle: (lane) => {
        claimed[lane] -= 1;
        this.#settled.add();
      },
      release: (lane) => {
        claimed[lane] -= 1;
        this.#loading[lane] += 1;
      },
    };
  }

  /** An email was claimed. */
  claim(lane: MailLane): void {
    this.#loading[lane] += 1;
    if (lane === "single") this.#singleClaimedAt = this.#now();
  }

  /** A claimed email that no mailer gets is about to be settled. */
  settle(lane: MailLane): void {
    this.#loading[lane] -= 1;
    this.#settled.add();
  }

  /** Number of emails of a lane to claim now; none if only a few would be, because a claim costs too much for them. */
  freeSlots(lane: Lane): number {
    if (lane !== "mail" && lane !== "bulk") return 0;
    const mailLane = lane === "mail" ? "single" : "bulk";
    const ahead = this.#claimedAhead(mailLane);
    let most = Number.NEGATIVE_INFINITY;
    for (const { slots, claimed } of this.#mailers) most = Math.max(most, slots - claimed[mailLane]);
    const free = most + ahead - this.#loading[mailLane];
    return free <= 0 || free < ahead / 2 ? 0 : free;
  }

  #claimedAhead(lane: MailLane): number {
    if (lane === "bulk" && this.#now() - this.#singleClaimedAt < SINGLE_MS) return 0;
    return Math.min(Math.max(this.#settled.value, 1), MAX_CLAIMED_AHEAD);
  }
}
