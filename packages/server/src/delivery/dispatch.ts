import type { Tx } from "../db/db.ts";
import { readDeliveryJob } from "../emails/emails.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { BatchHandler, ClaimedJob, Lane, LaneJob, Settle } from "../queue/queue.ts";
import { ClaimBudget, type MailerBudget } from "./claim-budget.ts";
import { ClaimedMail } from "./claimed-mail.ts";
import type { DeliveryDeps } from "./deps.ts";
import { type Effect, storeEffects } from "./effects.ts";
import { MailLoader } from "./load.ts";
import { MailerLine } from "./mailer-line.ts";
import type { Next } from "./next.ts";
import { faultyOutcome } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

/** State that this process keeps for one mailer. */
interface Line {
  readonly line: MailerLine;
  readonly budget: MailerBudget;
}

/**
 * Delivers emails in batches, those of each mailer in a line of their own (`MailerLine`). The life of one email here, from its claim until it
 * is settled; its states in the database are in `emails/states.ts`, its place in the queue is in `mail-store.ts`.
 *
 * | email is     | trigger                                                     | becomes                                              |
 * | ------------ | ----------------------------------------------------------- | ---------------------------------------------------- |
 * | (none)       | it is claimed, within `ClaimBudget`                         | claimed; a large one waits for memory                |
 * | claimed      | loaded: it is to be handed over by a mailer with room for it | waiting for a slot in the line of this mailer        |
 * | claimed      | the same, but its mailer has no room                        | settled: it is claimed again when it may have some   |
 * | claimed      | loaded: withdrawn, its domain held, its workspace deleted   | settled                                              |
 * | claimed      | it cannot be loaded or transformed                          | failed                                               |
 * | waiting      | `Slots` gives it a slot, to single mail first               | being marked, or checked if the mailer needs no mark |
 * | waiting      | the same, more than 500 ms after it was loaded              | renewed (`renewMails`), then the same, settled, or waiting in the line of another mailer |
 * | waiting      | another mailer gets it, whose pace gives it no turn now     | settled: it is claimed again at its turn             |
 * | being marked | the mark is durable; checked: its address may get mail      | marked                                               |
 * | being marked | it was changed, or its address was suppressed, meanwhile    | settled                                              |
 * | being marked | the mark cannot be stored                                   | failed                                               |
 * | marked       | `Marks`: fewer are under way than the mailer takes at once  | under way                                            |
 * | marked       | the same, more than 500 ms after it was renewed             | renewed, then under way or settled                   |
 * | under way    | a receipt; or the mailer throws, for a bug of ours          | left: its outcome waits in `OutcomeBatch`            |
 * | left         | the next marks are stored, or 25 ms pass                    | settled, or failed if the mailer threw               |
 *
 * Settled: `storeEffects` has written the outcome of the email. Failed: it is claimed again after a while, and `failed` after 25 times.
 * A crash before the mark is durable leaves no trace, and the email is claimed again. A crash between mark and stored outcome leaves the
 * email `sending`: it is in doubt and is sent again under the same Message-ID. These are at most as many as there are slots, and 64.
 *
 * An email that hangs holds its own slot only. A slot is free when the receipt has come; that of a captured email when its outcome
 * is stored, so that no more captured emails wait in memory than there are slots.
 */
export class Dispatch implements BatchHandler<Effect> {
  readonly #deps: DeliveryDeps;
  readonly #budget: ClaimBudget;
  readonly #loader: MailLoader;
  readonly #lines = new Map<Mailer, Line>();
  /** The mailers as they were when `#lines` was updated. */
  #mailers: readonly Mailer[] = [];
  /** Mailers that get no further emails; their lines go with their last one. */
  readonly #leaving = new Set<Mailer>();

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#budget = new ClaimBudget(deps.clock.real.now);
    this.#loader = new MailLoader(
      deps,
      (claimed, mail) => this.#admit(claimed, mail),
      (loaded, startedAt) => this.#sort(loaded, startedAt),
    );
    this.#updateLines();
  }

  freeSlots(lane: Lane): number {
    if (this.#deps.mailers.all !== this.#mailers || this.#leaving.size > 0) this.#updateLines();
    return this.#budget.freeSlots(lane);
  }

  run(jobs: readonly LaneJob[], settle: Settle<Effect>): void {
    const claimed = jobs.map((job) => new ClaimedMail(job, settle));
    for (const { lane } of claimed) this.#budget.claim(lane);
    this.#loader.load(claimed);
  }

  commit(tx: Tx, effects: readonly Effect[]): Promise<void> {
    return storeEffects(tx, this.#deps, effects);
  }

  giveUp(job: ClaimedJob): Effect {
    return faultyOutcome(readDeliveryJob(job), this.#deps.clock.now());
  }

  /** Lets loaded emails wait for a slot, and ends those that are not handed over. */
  #sort(loaded: readonly (readonly [ClaimedMail, Next])[], renewedAt: number): void {
    const lines = new Set<MailerLine>();
    for (const [claimed, next] of loaded) {
      if (next.next === "handOver") lines.add(this.#assign(claimed, next.mail, renewedAt));
      else {
        // First: the queue asks for free slots as soon as a job is settled.
        this.#budget.settle(claimed.lane);
        void claimed.end(next);
      }
    }
    for (const line of lines) line.fillSlots();
  }

  /** Null if the email's mailer takes it now, else when to ask again, ms. */
  #admit({ lane }: ClaimedMail, { choice }: PendingMail): number | null {
    if (choice === null) return null;
    const { line, budget } = this.#lineOf(choice.mailer);
    return budget.hasRoom(lane) ? choice.takeTurn(lane) : line.nextTurn();
  }

  #assign(claimed: ClaimedMail, mail: PendingMail, renewedAt: number): MailerLine {
    const { line, budget } = this.#lineOf(mail.choice?.mailer ?? this.#deps.mailers.main);
    budget.assign(claimed.lane);
    line.wait(claimed, mail, renewedAt);
    return line;
  }

  /** An email leaves the line of one mailer for that of another, which may have its own pace: then it waits for its turn there. */
  #moveOn(claimed: ClaimedMail, mail: PendingMail, renewedAt: number): void {
    const runAt = mail.choice?.takeTurn(claimed.lane) ?? null;
    if (runAt === null) this.#assign(claimed, mail, renewedAt).fillSlots();
    else {
      this.#budget.settle(claimed.lane);
      void claimed.end({ next: "settle", effect: { kind: "postponed", email: mail.email, runAt } });
    }
  }

  #lineOf(mailer: Mailer): Line {
    const known = this.#lines.get(mailer);
    if (known) return known;
    const budget = this.#budget.addMailer(mailer.concurrency);
    const move = (claimed: ClaimedMail, mail: PendingMail, at: number): void => this.#moveOn(claimed, mail, at);
    const made = { budget, line: new MailerLine({ deps: this.#deps, mailer, budget, move }) };
    this.#lines.set(mailer, made);
    if (!this.#deps.mailers.all.includes(mailer)) this.#leaving.add(mailer);
    return made;
  }

  /** Each mailer that may get emails has a line, so that its room counts. */
  #updateLines(): void {
    this.#mailers = this.#deps.mailers.all;
    for (const mailer of this.#mailers) this.#lineOf(mailer);
    for (const [mailer, { budget }] of this.#lines) {
      if (this.#mailers.includes(mailer)) this.#leaving.delete(mailer);
      else if (!budget.isEmpty) this.#leaving.add(mailer);
      else {
        budget.remove();
        this.#lines.delete(mailer);
        this.#leaving.delete(mailer);
      }
    }
  }
}
