/** The two kinds of mail that wait for slots; single mail goes first. */
export type MailLane = "single" | "bulk";

/**
 * Decides which emails may go now. There are as many slots as the mailer takes emails at once, and more for emails that are marked ahead.
 *
 * | email is  | trigger                                            | becomes    |
 * | --------- | -------------------------------------------------- | ---------- |
 * | (none)    | `wait`                                             | waiting    |
 * | waiting   | `take`: at least half of those ahead have left     | has a slot |
 * | has a slot| `free`                                             | (none)     |
 */
export class Slots<Mail> {
  readonly #slots: number;
  readonly #markedAhead: () => number;
  readonly #waiting: Readonly<Record<MailLane, Mail[]>> = { single: [], bulk: [] };
  #taken = 0;

  /** `markedAhead` tells how many emails may have a slot beyond the number of slots. */
  constructor(slots: number, markedAhead: () => number) {
    this.#slots = slots;
    this.#markedAhead = markedAhead;
  }

  /** Adds an email that waits for a slot. */
  wait(lane: MailLane, mail: Mail): void {
    this.#waiting[lane].push(mail);
  }

  /** True while the mailer has enough to do: many emails are then given slots at once. */
  get busy(): boolean {
    return this.#taken >= this.#slots + this.#markedAhead() / 2;
  }

  /** Gives the free slots to emails that wait. */
  take(): readonly Mail[] {
    if (this.busy) return [];
    const free = this.#slots + this.#markedAhead() - this.#taken;
    const mails = this.#waiting.single.splice(0, free);
    mails.push(...this.#waiting.bulk.splice(0, free - mails.length));
    this.#taken += mails.length;
    return mails;
  }

  /** Takes all emails that wait; they get no slots. */
  drain(): readonly Mail[] {
    return [...this.#waiting.single.splice(0), ...this.#waiting.bulk.splice(0)];
  }

  /** The email that has waited longest; undefined when none waits. */
  get first(): Mail | undefined {
    return this.#waiting.single[0] ?? this.#waiting.bulk[0];
  }

  /** Gives one slot back. */
  free(): void {
    this.#taken -= 1;
  }
}
