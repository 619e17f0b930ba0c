import type { Tx } from "../db/db.ts";
import { waitForTurn } from "../lib/turn.ts";
import type { BatchHandler, Lane, LaneJob, Settle } from "../queue/queue.ts";
import { ClaimBudget } from "./claim-budget.ts";
import { type ClaimedMail, listMails } from "./claimed-mail.ts";
import type { DeliveryDeps } from "./deps.ts";
import { type Effect, storeEffects } from "./effects.ts";
import { handOver } from "./hand-over.ts";
import { MailLoader } from "./load.ts";
import { MAX_MARKED_AHEAD, Marks } from "./marks.ts";
import type { Ended, Next } from "./next.ts";
import { OutcomeBatch } from "./outcome-batch.ts";
import { MAX_AGE_MS, renewMails, type WaitingMail } from "./renew.ts";
import { Slots } from "./slots.ts";
import { checkSuppressed } from "./suppressed.ts";

// Emails that are captured in one turn of the event loop: a few ms.
const EMAILS_PER_TURN = 32;

/** A claimed email, loaded and transformed. */
interface LoadedMail extends WaitingMail {
  readonly claimed: ClaimedMail;
  /** When its loading, or its last renewal, began: real time, ms. */
  readonly renewedAt: number;
}

/**
 * Delivers emails in batches. The life of one email here, from the claim of its job until it is settled; its states in the database
 * are in `emails/states.ts`.
 *
 * | email is     | trigger                                                     | becomes                                              |
 * | ------------ | ----------------------------------------------------------- | ---------------------------------------------------- |
 * | (none)       | its job is claimed, within `ClaimBudget`                    | claimed; a large one waits for memory                |
 * | claimed      | loaded: it is to be handed over                             | waiting for a slot                                   |
 * | claimed      | loaded: cancelled, rescheduled, withdrawn, its domain held  | settled                                              |
 * | claimed      | it cannot be loaded or transformed                          | failed                                               |
 * | waiting      | `Slots` gives it a slot, to single mail first               | being marked, or checked if the mailer needs no mark |
 * | waiting      | the same, more than 500 ms after it was loaded              | renewed (`renewMails`), then the same or settled     |
 * | being marked | the mark is durable; checked: its address may get mail      | marked                                               |
 * | being marked | it was changed, or its address was suppressed, meanwhile    | settled                                              |
 * | being marked | the mark cannot be stored                                   | failed                                               |
 * | marked       | `Marks`: fewer are under way than the mailer takes at once  | under way                                            |
 * | marked       | the same, more than 500 ms after it was renewed             | renewed, then under way or settled                   |
 * | under way    | a receipt; or the mailer throws, for a bug of ours          | left: its outcome waits in `OutcomeBatch`            |
 * | left         | the next marks are stored, or 25 ms pass                    | settled, or failed if the mailer threw               |
 *
 * Settled: `storeEffects` has written what becomes of the email, in the transaction that ends its job. Failed: its job runs again.
 * A crash before the mark is durable leaves no trace, and the job is claimed again. One between mark and stored outcome leaves the email
 * `sending`: it is in doubt and is sent again under the same Message-ID. There are no more of those than slots and 64.
 *
 * An email that hangs holds its own slot only. A slot is free when the receipt has come; that of a captured email when its outcome
 * is stored, so that no more captured emails wait in memory than there are slots.
 */
export class Dispatch implements BatchHandler<Effect> {
  readonly #deps: DeliveryDeps;
  readonly #transactional: boolean;
  readonly #budget: ClaimBudget;
  readonly #loader: MailLoader;
  readonly #slots: Slots<LoadedMail>;
  readonly #marks: Marks<LoadedMail>;
  readonly #outcomes: OutcomeBatch;
  #filling = false;

  constructor(deps: DeliveryDeps) {
    const { clock, mailer } = deps;
    this.#deps = deps;
    this.#transactional = mailer.transactional;
    this.#loader = new MailLoader(deps, (loaded, startedAt) => this.#sort(loaded, startedAt));
    this.#budget = new ClaimBudget(mailer.concurrency, clock.real.now);
    this.#marks = new Marks(mailer.concurrency, mailer.transactional ? 0 : MAX_MARKED_AHEAD, clock.real.now);
    this.#slots = new Slots(mailer.concurrency, () => this.#marks.ahead);
    this.#outcomes = new OutcomeBatch(clock.real);
  }

  freeSlots(lane: Lane): number {
    return this.#budget.freeSlots(lane);
  }

  run(jobs: readonly LaneJob[], settle: Settle<Effect>): void {
    const claimed = jobs.flatMap((job) => listMails(job, settle));
    for (const { lane } of claimed) this.#budget.claim(lane);
    this.#loader.load(claimed);
  }

  commit(tx: Tx, effects: readonly Effect[]): Promise<void> {
    return storeEffects(tx, this.#deps, effects);
  }

  /** Lets loaded emails wait for a slot, and ends those that are not handed over. */
  #sort(loaded: readonly (readonly [ClaimedMail, Next])[], renewedAt: number): void {
    for (const [claimed, next] of loaded)
      if (next.next === "handOver") this.#slots.wait(claimed.lane, { claimed, loaded: next.mail.email, mail: next.mail, renewedAt });
      else void this.#end(claimed, next);
    this.#fillSlots();
  }

  /** Gives free slots to emails that wait, and settles outcomes in the transaction of their marks. */
  #fillSlots(): void {
    if (this.#slots.busy) return;
    this.#outcomes.settleAll();
    const mails = this.#slots.take();
    const stale = mails.filter((one) => this.#isStale(one));
    if (stale.length > 0) void this.#renew(stale);
    this.#markOrCheck(stale.length === 0 ? mails : mails.filter((one) => !stale.includes(one)));
  }

  #markOrCheck(mails: readonly LoadedMail[]): void {
    if (this.#transactional) void this.#check(mails);
    else for (const one of mails) void this.#mark(one);
  }

  async #mark(one: LoadedMail): Promise<void> {
    this.#proceed(one, await one.claimed.mark(one.mail));
  }

  /** Whether what an email says, and that it may go, was read too long ago: the mail server is slow. */
  #isStale({ renewedAt }: LoadedMail): boolean {
    return this.#deps.clock.real.now() - renewedAt > MAX_AGE_MS;
  }

  /** Renews emails that have a slot, before they are marked. */
  async #renew(stale: readonly LoadedMail[]): Promise<void> {
    const renewedAt = this.#deps.clock.real.now();
    const renewed: LoadedMail[] = [];
    for (const [i, next] of (await renewMails(this.#deps, stale)).entries()) {
      const one = stale[i] as LoadedMail;
      if (next.next === "handOver") renewed.push({ ...one, loaded: next.mail.email, mail: next.mail, renewedAt });
      else this.#proceed(one, next);
    }
    this.#markOrCheck(renewed);
  }

  /** A transactional mailer needs no mark: its delivery is stored together with the outcome. */
  async #check(mails: readonly LoadedMail[]): Promise<void> {
    if (mails.length === 0) return;
    const checked = await checkSuppressed(
      this.#deps,
      mails.map(({ mail }) => mail),
    );
    for (const [i, one] of mails.entries()) {
      if (i > 0 && i % EMAILS_PER_TURN === 0) await waitForTurn();
      this.#proceed(one, checked[i] as Next);
    }
  }

  /** Goes on with an email that has a slot. */
  #proceed(one: LoadedMail, next: Next): void {
    if (next.next === "handOver") {
      this.#marks.add({ ...one, mail: next.mail });
      this.#handOverMarked();
    } else {
      void this.#end(one.claimed, next);
      this.#freeSlot();
    }
  }

  #handOverMarked(): void {
    for (let next = this.#marks.next(); next; next = this.#marks.next()) void this.#handOver(next);
  }

  async #handOver(one: LoadedMail): Promise<void> {
    const { claimed } = one;
    const [next] = this.#isStale(one) ? await renewMails(this.#deps, [one]) : [];
    const ended = next === undefined || next.next === "handOver" ? await handOver(this.#deps, next?.mail ?? one.mail) : next;
    this.#marks.received();
    this.#handOverMarked();
    if (this.#transactional) {
      this.#outcomes.add(() => void this.#end(claimed, ended).then(() => this.#freeSlot()));
      // A single email does not wait for others.
      if (claimed.lane === "single" || !this.#marks.anyUnderWay) this.#outcomes.settleAll();
    } else {
      this.#outcomes.add(() => void this.#end(claimed, ended));
      this.#freeSlot();
    }
  }

  #end(claimed: ClaimedMail, ended: Ended): Promise<void> {
    // First: the queue asks for free slots as soon as a job is settled.
    this.#budget.settle(claimed.lane);
    return claimed.end(ended);
  }

  /** Emails whose ends were stored together give their slots back together. */
  #freeSlot(): void {
    this.#slots.free();
    if (this.#filling) return;
    this.#filling = true;
    queueMicrotask(() => {
      this.#filling = false;
      this.#fillSlots();
    });
  }
}
