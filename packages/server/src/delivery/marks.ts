import { RecentCount } from "../lib/rate.ts";

/** The most emails that are marked ahead of their hand-over. A crash leaves them in doubt, so they are few. */
export const MAX_MARKED_AHEAD = 64;

/**
 * The emails that may be handed over: marked `sending` for a mail server, or to be captured. While emails leave quickly some more are
 * marked than there are slots; they keep the mailer busy while the next marks are stored.
 *
 * | email is  | trigger                                     | becomes   |
 * | --------- | ------------------------------------------- | --------- |
 * | (none)    | `add`: its mark is durable                  | marked    |
 * | marked    | `next`, fewer are under way than slots      | under way |
 * | under way | `received`: its receipt has come            | (none)    |
 */
export class Marks<Mail> {
  readonly #slots: number;
  readonly #maxAhead: number;
  readonly #left: RecentCount;
  readonly #marked: Mail[] = [];
  #underWay = 0;

  /** `maxAhead` is the most that may be marked beyond the slots; `now` gives real time, ms. */
  constructor(slots: number, maxAhead: number, now: () => number) {
    this.#slots = slots;
    this.#maxAhead = maxAhead;
    this.#left = new RecentCount(now);
  }

  /** Number of emails that may be marked beyond the slots: as many as left a moment ago, none while nothing leaves. */
  get ahead(): number {
    return Math.min(this.#left.value, this.#maxAhead);
  }

  /** Number of emails that left in the last 50 to 100 ms. */
  get leftRecently(): number {
    return this.#left.value;
  }

  /** Takes all emails that are marked, however many are under way. */
  drain(): readonly Mail[] {
    const mails = this.#marked.splice(0);
    this.#underWay += mails.length;
    return mails;
  }

  /** The email that was marked first; undefined when none waits. */
  get first(): Mail | undefined {
    return this.#marked[0];
  }

  /** True while an email is with the mailer. */
  get anyUnderWay(): boolean {
    return this.#underWay > 0;
  }

  add(mail: Mail): void {
    this.#marked.push(mail);
  }

  /** Takes the next email that may be handed over now; undefined when none may. */
  next(): Mail | undefined {
    if (this.#underWay >= this.#slots) return undefined;
    const mail = this.#marked.shift();
    if (mail !== undefined) this.#underWay += 1;
    return mail;
  }

  /** The receipt of an email has come: it has left. */
  received(): void {
    this.#underWay -= 1;
    this.#left.add();
  }
}
