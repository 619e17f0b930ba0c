import type { Clock, Timer } from "../lib/clock.ts";
import { MAX_AGE_MS } from "../lib/freshness.ts";
import { waitForTurn } from "../lib/turn.ts";
import { MINUTE, SECOND } from "../lib/units.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { MailerBudget } from "./claim-budget.ts";
import type { ClaimedMail } from "./claimed-mail.ts";
import type { DeliveryDeps } from "./deps.ts";
import { handOver } from "./hand-over.ts";
import { MAX_MARKED_AHEAD, Marks } from "./marks.ts";
import type { Ended, Next } from "./next.ts";
import { renewMails, type WaitingMail } from "./renew.ts";
import { Slots } from "./slots.ts";
import { checkSuppressed } from "./suppressed.ts";
import type { PendingMail } from "./transform.ts";

// Interval at which waiting emails are offered to other relays while theirs is out of service (real time).
const WATCH_MS = 1000;
// Limits of the wait of an email for which its mailer has no room. It depends on how many emails left lately.
const MIN_DELAY_MS = SECOND;
const MAX_DELAY_MS = MINUTE;

// Emails that are captured in one turn of the event loop: a few ms.
const EMAILS_PER_TURN = 32;

/** A claimed email, loaded and transformed. */
interface LoadedMail extends WaitingMail {
  readonly claimed: ClaimedMail;
  /** Start of its loading or last renewal: real time, ms. */
  readonly renewedAt: number;
}

interface LineOptions {
  readonly deps: DeliveryDeps;
  readonly mailer: Mailer;
  readonly budget: MailerBudget;
  /** Takes an email that another mailer is to get. */
  readonly move: (claimed: ClaimedMail, mail: PendingMail, renewedAt: number) => void;
}

/**
 * The emails that one mailer takes, from the moment they wait for a slot until they are settled; the table is in `dispatch.ts`. A mailer
 * that hangs holds up the emails of its own line only.
 */
export class MailerLine {
  readonly #deps: DeliveryDeps;
  readonly #mailer: Mailer;
  readonly #budget: MailerBudget;
  readonly #move: LineOptions["move"];
  readonly #slots: Slots<LoadedMail>;
  readonly #marks: Marks<LoadedMail>;
  readonly #outcomes: OutcomeBatch;
  #filling = false;
  #watch: Timer | null = null;
  /** Latest retry time given to an email for which there was no room, ms. */
  #lastTurn = 0;

  constructor({ deps, mailer, budget, move }: LineOptions) {
    const { now } = deps.clock.real;
    this.#deps = deps;
    this.#mailer = mailer;
    this.#budget = budget;
    this.#move = move;
    this.#marks = new Marks(mailer.concurrency, mailer.transactional ? 0 : MAX_MARKED_AHEAD, now);
    this.#slots = new Slots(mailer.concurrency, () => this.#marks.ahead);
    this.#outcomes = new OutcomeBatch(deps.clock.real);
  }

  /** Lets an email that was loaded at `renewedAt` (real time, ms) wait for a slot. `fillSlots` is to follow. */
  wait(claimed: ClaimedMail, mail: PendingMail, renewedAt: number): void {
    this.#slots.wait(claimed.lane, { claimed, loaded: mail.email, mail, renewedAt });
    this.#startWatch();
  }

  /** Returns the time at which an email without room is to ask again, ms: later than the times given before. */
  nextTurn(): number {
    const now = this.#deps.clock.now();
    // RecentCount counts for 50 to 100 ms.
    const perSecond = Math.max(1, this.#marks.leftRecently * 10);
    this.#lastTurn = Math.min(Math.max(now + MIN_DELAY_MS, this.#lastTurn) + SECOND / perSecond, now + MAX_DELAY_MS);
    return Math.round(this.#lastTurn);
  }

  /** Gives free slots to emails that wait, and settles outcomes in the transaction of their marks. */
  fillSlots(): void {
    if (this.#slots.busy) return;
    this.#outcomes.settleAll();
    const mails = this.#slots.take();
    const stale = mails.filter((one) => this.#isStale(one));
    if (stale.length > 0) void this.#renew(stale);
    this.#markOrCheck(stale.length === 0 ? mails : mails.filter((one) => !stale.includes(one)));
  }

  /** While there are other mailers: looks whether emails that wait should go to one of them. */
  #startWatch(): void {
    if (this.#watch !== null || this.#deps.mailers.all.length === 1) return;
    this.#watch = this.#deps.clock.real.after(WATCH_MS, () => {
      this.#watch = null;
      const first = this.#marks.first ?? this.#slots.first;
      if (first === undefined) return;
      if (first.mail.choice?.isOutOfService()) void this.#handOn();
      else this.#startWatch();
    });
  }

  /** The mailer is out of service: gives away the emails that wait for it. Marked ones get another attempt, the others another mailer. */
  async #handOn(): Promise<void> {
    for (const marked of this.#marks.drain()) void this.#handOver(marked);
    const waiting = this.#slots.drain();
    const renewedAt = this.#deps.clock.real.now();
    for (const [i, next] of (await renewMails(this.#deps, waiting)).entries()) {
      const { claimed } = waiting[i] as LoadedMail;
      if (next.next !== "handOver") void this.#end(claimed, next);
      else {
        this.#budget.release(claimed.lane);
        this.#move(claimed, next.mail, renewedAt);
      }
    }
  }

  #markOrCheck(mails: readonly LoadedMail[]): void {
    if (this.#mailer.transactional) void this.#check(mails);
    else for (const one of mails) void this.#mark(one);
  }

  async #mark(one: LoadedMail): Promise<void> {
    this.#proceed(one, await one.claimed.mark(one.mail));
  }

  /** True if an email and its permission to go were read too long ago, because the mail server is slow. */
  #isStale({ renewedAt }: Pick<LoadedMail, "renewedAt">): boolean {
    return this.#deps.clock.real.now() - renewedAt > MAX_AGE_MS;
  }

  /** Renews emails that have a slot, before they are marked. */
  async #renew(stale: readonly LoadedMail[]): Promise<void> {
    const renewedAt = this.#deps.clock.real.now();
    const renewed: LoadedMail[] = [];
    for (const [i, next] of (await renewMails(this.#deps, stale)).entries()) {
      const one = stale[i] as LoadedMail;
      if (next.next !== "handOver") this.#proceed(one, next);
      else if (next.mail.choice?.mailer === this.#mailer) renewed.push({ ...one, loaded: next.mail.email, mail: next.mail, renewedAt });
      else this.#leave(one, next.mail, renewedAt);
    }
    this.#markOrCheck(renewed);
  }

  /** Gives an email, and its slot, away. */
  #leave({ claimed }: LoadedMail, mail: PendingMail, renewedAt: number): void {
    this.#budget.release(claimed.lane);
    this.#move(claimed, mail, renewedAt);
    this.#freeSlot();
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
      if (this.#marks.first !== undefined) this.#startWatch();
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
    let { renewedAt } = one;
    const renew = async (): Promise<Next | undefined> => {
      if (!this.#isStale({ renewedAt })) return undefined;
      renewedAt = this.#deps.clock.real.now();
      return (await renewMails(this.#deps, [one]))[0];
    };
    const next = await renew();
    const ended = next === undefined || next.next === "handOver" ? await handOver(this.#deps, next?.mail ?? one.mail, renew) : next;
    this.#marks.received();
    this.#handOverMarked();
    if (this.#mailer.transactional) {
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
      this.fillSlots();
    });
  }
}

// Longest wait of an outcome for the next marks, or for other outcomes, ms.
const MAX_WAIT_MS = 25;

/** Outcomes that are known and wait to be stored, so that they share a transaction with the next marks or with each other. */
export class OutcomeBatch {
  readonly #real: Clock["real"];
  #waiting: (() => void)[] = [];
  #timer: Timer | null = null;

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  /** Adds what settles an outcome. It is called by `settleAll`, 25 ms from now at the latest. Must not throw. */
  add(settle: () => void): void {
    this.#waiting.push(settle);
    this.#timer ??= this.#real.after(MAX_WAIT_MS, () => this.settleAll());
  }

  /** Settles all that wait, in one turn of the event loop: the queue stores them together. */
  settleAll(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const settle of this.#waiting.splice(0)) settle();
  }
}
