import { BULK, type EmailRow, readDeliveryJob } from "../emails/emails.ts";
import type { LaneJob, Settle } from "../queue/queue.ts";
import type { Effect, Mark } from "./effects.ts";
import type { Ended, Next } from "./next.ts";
import type { MailLane } from "./slots.ts";
import type { PendingMail } from "./transform.ts";

/** A claimed email. It is settled, or fails, once. */
export class ClaimedMail {
  readonly lane: MailLane;
  /** The size of a large message. */
  readonly bytes: number | undefined;
  readonly #job: LaneJob;
  readonly #settle: Settle<Effect>;
  #whenEnded: (() => void) | null = null;

  constructor(job: LaneJob, settle: Settle<Effect>) {
    const { lane, bytes } = readDeliveryJob(job);
    this.lane = lane === BULK ? "bulk" : "single";
    this.bytes = bytes === 0 ? undefined : bytes;
    this.#job = job;
    this.#settle = settle;
  }

  /** The email as it was claimed or marked. */
  get email(): EmailRow {
    return readDeliveryJob(this.#job);
  }

  /** Calls `fn` once, when its end is stored. */
  whenEnded(fn: () => void): void {
    this.#whenEnded = fn;
  }

  /**
   * Stores that it is about to be handed over. It is not if it was changed, or its address suppressed, meanwhile. If it was marked before
   * this, by a commit whose answer was lost, its attempt fails: the next one finds it in doubt. Never rejects.
   */
  async mark(mail: PendingMail): Promise<Next> {
    const mark: Mark = { kind: "mark", mail, marked: null };
    try {
      await this.#settle(this.#job, { effect: mark, more: true });
    } catch (error) {
      return { next: "fail", error };
    }
    if (mark.isSending) return { next: "fail", error: new Error("The email is marked already, by an earlier try or another process.") };
    if (!mark.marked) return { next: "settle" };
    this.#job.payload.email = mark.marked;
    return { next: "handOver", mail: { ...mail, email: mark.marked } };
  }

  /** Ends its attempt; resolves once that is stored. Never rejects: an end that cannot be stored is a failure of the attempt. */
  async end(ended: Ended): Promise<void> {
    if (ended.next === "fail") await this.#settle(this.#job, { error: ended.error });
    else {
      const effect = ended.effect ?? { kind: "left" as const, email: this.email };
      const again = effect.kind === "outcome" ? effect.retryAt : effect.kind === "postponed" ? effect.runAt : undefined;
      const bytes = effect.kind === "outcome" && effect.record ? this.bytes : undefined;
      await this.#settle(this.#job, { effect, again, bytes });
    }
    this.#whenEnded?.();
  }
}
