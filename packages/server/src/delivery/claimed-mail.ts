import { readDeliveryJob } from "../emails/emails.ts";
import type { LaneJob, Settle } from "../queue/queue.ts";
import type { Effect, Mark } from "./effects.ts";
import type { Held } from "./holds.ts";
import type { Ended, Next } from "./next.ts";
import type { EmailOutcome } from "./outcome.ts";
import type { Postponed } from "./postponed.ts";
import type { MailLane } from "./slots.ts";
import type { PendingMail } from "./transform.ts";

/** One email of a claimed job. It is settled, or fails, once. */
export class ClaimedMail {
  readonly workspaceId: string;
  readonly emailId: string;
  readonly lane: MailLane;
  /** The size of a large message. */
  readonly bytes: number | undefined;
  readonly #job: MailJob;
  #whenEnded: (() => void) | null = null;

  constructor(job: MailJob, { workspaceId, emailId, lane, bytes }: Pick<ClaimedMail, "workspaceId" | "emailId" | "lane" | "bytes">) {
    this.workspaceId = workspaceId;
    this.emailId = emailId;
    this.lane = lane;
    this.bytes = bytes;
    this.#job = job;
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
      await this.#job.mark(mark);
    } catch (error) {
      return { next: "fail", error };
    }
    if (mark.isSending) return { next: "fail", error: new Error("The email is marked already, by an earlier try or another process.") };
    return mark.marked ? { next: "handOver", mail: { ...mail, email: mark.marked } } : { next: "settle" };
  }

  /** Ends its attempt; resolves once that is stored. Never rejects: an end that cannot be stored is a failure of its job. */
  async end(ended: Ended): Promise<void> {
    if (ended.next === "fail") await this.#job.fail(ended.error);
    else await this.#job.settle(ended.effect, this.#bytesToWrite(ended.effect));
    this.#whenEnded?.();
  }

  #bytesToWrite(effect: Settled | undefined): number | undefined {
    return effect?.kind === "outcome" && effect.record ? this.bytes : undefined;
  }
}

/** The emails of a claimed job. A job without any is settled at once. */
export function listMails(job: LaneJob, settle: Settle<Effect>): ClaimedMail[] {
  const { workspaceId, emailIds, single, bytes } = readDeliveryJob(job.payload);
  const mailJob = single ? new SingleJob(job, settle) : new SharedJob(job, settle, emailIds.length);
  const lane = job.lane === "bulk" ? "bulk" : "single";
  if (emailIds.length === 0) void settle(job, {});
  return emailIds.map((emailId) => new ClaimedMail(mailJob, { workspaceId, emailId, lane, bytes }));
}

/** Data to store at the end of an email's attempt. */
type Settled = EmailOutcome | Held | Postponed;

interface MailJob {
  mark(mark: Mark): Promise<void>;
  settle(effect: Settled | undefined, bytes: number | undefined): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A job of one email: it ends with the email's attempt, or is repeated with it. */
class SingleJob implements MailJob {
  readonly #job: LaneJob;
  readonly #settle: Settle<Effect>;

  constructor(job: LaneJob, settle: Settle<Effect>) {
    this.#job = job;
    this.#settle = settle;
  }

  mark(mark: Mark): Promise<void> {
    return this.#settle(this.#job, { effect: mark, more: true });
  }

  settle(effect: Settled | undefined, bytes: number | undefined): Promise<void> {
    const again = effect?.kind === "outcome" ? effect.retryAt : effect?.kind === "postponed" ? effect.runAt : undefined;
    return this.#settle(this.#job, { effect, again, bytes });
  }

  fail(error: unknown): Promise<void> {
    return this.#settle(this.#job, { error });
  }
}

/** A job of many emails: it ends when the last of them is settled, and runs again if one of them failed. */
class SharedJob implements MailJob {
  readonly #job: LaneJob;
  readonly #settle: Settle<Effect>;
  #left: number;
  #failure: { readonly error: unknown } | null = null;

  constructor(job: LaneJob, settle: Settle<Effect>, emails: number) {
    this.#job = job;
    this.#settle = settle;
    this.#left = emails;
  }

  mark(mark: Mark): Promise<void> {
    return this.#settle(this.#job, { effect: mark, more: true });
  }

  async settle(effect: Settled | undefined, bytes: number | undefined): Promise<void> {
    if (!effect) return this.#end();
    try {
      await this.#settle(this.#job, { effect: { ...effect, sharedJob: this.#job }, more: true, bytes });
    } catch (error) {
      this.#failure = { error };
    }
    await this.#end();
  }

  fail(error: unknown): Promise<void> {
    this.#failure = { error };
    return this.#end();
  }

  async #end(): Promise<void> {
    this.#left -= 1;
    if (this.#left === 0) await this.#settle(this.#job, this.#failure ?? {});
  }
}
