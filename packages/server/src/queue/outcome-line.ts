import { yieldToEventLoop } from "../lib/turn.ts";
import { MB } from "../lib/units.ts";

// Outcomes in one transaction, and what they write. More would only lengthen the turn of the event loop.
const MAX_GROUP = 256;
const MAX_GROUP_BYTES = MB;
// Outcomes that are worth a transaction while another one is under way.
const MIN_GROUP = 16;

/** An outcome that waits to be stored, and what to call when it is stored or cannot be. */
export interface Unstored<Outcome> {
  readonly outcome: Outcome;
  stored(): void;
  failed(error: unknown): void;
}

/**
 * The line in which outcomes wait to be stored. They are stored in groups: what comes in one turn of the event loop, or while earlier
 * groups are being stored, shares a transaction. Up to `atOnce` groups are under way; a further one begins when it has 16 outcomes.
 *
 * | groups under way | outcomes wait | at the end of the turn                          |
 * | ---------------- | ------------- | ----------------------------------------------- |
 * | none             | any           | a group begins                                  |
 * | less than atOnce | 16 or more    | a group begins, with its share of the outcomes  |
 * | less than atOnce | fewer         | they wait for a group to end, or for others     |
 * | atOnce           | any           | they wait for a group to end                    |
 */
export class OutcomeLine<Outcome extends { readonly bytes?: number | undefined }> {
  readonly #atOnce: number;
  readonly #storeGroup: (group: readonly Unstored<Outcome>[]) => Promise<void>;
  #waiting: Unstored<Outcome>[] = [];
  #underWay = 0;
  #isScheduled = false;

  /** `storeGroup` settles each outcome of a group; it must not reject. */
  constructor(atOnce: number, storeGroup: (group: readonly Unstored<Outcome>[]) => Promise<void>) {
    this.#atOnce = atOnce;
    this.#storeGroup = storeGroup;
  }

  /** Resolves once the outcome is stored; rejects if it cannot be. */
  add(outcome: Outcome): Promise<void> {
    return new Promise((stored, failed) => {
      this.#waiting.push({ outcome, stored, failed });
      this.#schedule();
    });
  }

  get #mayBegin(): boolean {
    if (this.#underWay === 0) return this.#waiting.length > 0;
    return this.#underWay < this.#atOnce && this.#waiting.length >= MIN_GROUP;
  }

  /** At the end of the turn of the event loop: replies of several connections arrive in one turn, and others have a turn between groups. */
  #schedule(): void {
    if (this.#isScheduled || !this.#mayBegin) return;
    this.#isScheduled = true;
    void yieldToEventLoop().then(() => {
      this.#isScheduled = false;
      while (this.#mayBegin) void this.#storeNext();
    });
  }

  async #storeNext(): Promise<void> {
    const group = this.#waiting.splice(0, this.#sizeOfNext());
    this.#underWay += 1;
    await this.#storeGroup(group);
    this.#underWay -= 1;
    this.#schedule();
  }

  /** At least one, and as many as share a transaction unless what they write is large. */
  #sizeOfNext(): number {
    const share = Math.ceil(this.#waiting.length / this.#atOnce);
    const limit = Math.min(Math.max(share, MIN_GROUP), MAX_GROUP);
    let bytes = 0;
    const end = this.#waiting.slice(0, limit).findIndex(({ outcome }) => {
      bytes += outcome.bytes ?? 0;
      return bytes > MAX_GROUP_BYTES;
    });
    return end < 0 ? limit : Math.max(1, end);
  }
}
