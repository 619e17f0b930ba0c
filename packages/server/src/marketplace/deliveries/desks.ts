import type { Agenda } from "./agenda.ts";
import type { Job } from "./lanes.ts";
import { Origins } from "./origins.ts";
import type { Receiver } from "./receiver.ts";
import type { Ended } from "./settle.ts";

// Requests under way at a time, to all webhooks together.
const MOST = 2048;
// Those of them that may be with webhooks which are slow or were never called before: the rest is left for the quick ones.
const MOST_SLOW = 1536;
// Webhooks that are remembered.
const MOST_DESKS = 1000;
// How many times what it may have under way is taken for a webhook that answers at once.
const AHEAD = 8;

/** Work for one webhook that is in memory: taken, and waiting for a free place. */
interface Desk {
  receiver: Receiver;
  readonly ahead: Job[];
}

/** So many events to take of a listing. */
export type Wish = readonly [listingId: string, n: number];

export interface DeskParts {
  /** A webhook by its URL. */
  receiver(url: string): Receiver;
  /** One attempt. Never throws. */
  deliver(receiver: Receiver, job: Job): Promise<Ended>;
  /** What became of events that were taken: their places are free by now. */
  ended(outcomes: readonly Ended[]): void;
}

/** What is taken and under way, webhook by webhook, and how much more there is room for. */
export class Desks {
  readonly #parts: DeskParts;
  readonly #desks = new Map<string, Desk>();
  readonly #origins = new Origins();
  /** Those whose webhook could take more of what they hold, if there were places. */
  readonly #stuck = new Set<Desk>();
  #under = 0;
  #underSlow = 0;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Requests under way. */
  get under(): number {
    return this.#under;
  }

  /**
   * What to take next, `most` events at most: some for each listing that has something and whose webhook has room, in turns. A
   * listing whose origin is full leaves the agenda until that has room.
   */
  wishes(agenda: Agenda, most: number): Wish[] {
    const out: Wish[] = [];
    for (const listingId of this.#origins.freed()) agenda.wake(listingId);
    /** Wished for in this round, by origin. */
    const wished = new Map<string, number>();
    let left = most;
    let slow = MOST_SLOW - this.#underSlow;
    for (const listingId of agenda.ready) {
      if (left <= 0) break;
      const desk = this.#desks.get(listingId);
      const quick = desk?.receiver.quick ?? false;
      const wanted = Math.min(desk ? this.#room(desk, quick) : 1, left, quick ? left : slow);
      if (wanted <= 0) continue;
      // Of a listing that was never called nobody knows where its webhook lives; what is taken for it may be given back.
      const origin = desk?.receiver.origin ?? this.#origins.placeOf(listingId);
      const before = origin === undefined ? 0 : (wished.get(origin) ?? 0);
      const n = origin === undefined ? wanted : Math.min(wanted, this.#origins.roomAhead(origin, quick) - before);
      if (origin !== undefined && n <= 0) {
        agenda.drop(listingId);
        this.#origins.wait(origin, listingId, quick);
        continue;
      }
      if (origin !== undefined) wished.set(origin, before + n);
      out.push([listingId, n]);
      left -= n;
      if (!quick) slow -= n;
      agenda.yieldTurn(listingId);
    }
    return out;
  }

  /** Begins with what was taken, or lets it wait for a place. */
  enter(job: Job): void {
    const desk = this.#deskOf(job);
    desk.ahead.push(job);
    this.#origins.ahead(desk.receiver.origin, 1);
    this.#begin(desk);
  }

  /** Gives back what is not under way. */
  clearAhead(): void {
    for (const desk of this.#desks.values()) this.#giveBack(desk);
  }

  clear(): void {
    this.#desks.clear();
    this.#stuck.clear();
    this.#origins.clear();
  }

  /** How much may be taken for a webhook, whoever else lives at its origin. */
  #room({ receiver, ahead }: Desk, quick: boolean): number {
    // A webhook that answers at once gets the next event as soon as the one before is there, without waiting for the database.
    const wanted = receiver.limit * (quick ? AHEAD : 1) - receiver.busy - ahead.length;
    return Math.min(wanted, MOST - this.#under, quick ? MOST : MOST_SLOW - this.#underSlow);
  }

  #deskOf({ listing: { id, webhookUrl } }: Job): Desk {
    const known = this.#desks.get(id);
    if (!known) {
      this.#makeRoom();
      const desk = { receiver: this.#parts.receiver(webhookUrl), ahead: [] };
      this.#desks.set(id, desk);
      return desk;
    }
    if (known.receiver.url !== webhookUrl) {
      // The listing has moved; what was learnt about the old place says nothing about the new one.
      this.#origins.ahead(known.receiver.origin, -known.ahead.length);
      known.receiver.close();
      known.receiver = this.#parts.receiver(webhookUrl);
      this.#origins.ahead(known.receiver.origin, known.ahead.length);
    }
    return known;
  }

  /** Webhooks that have nothing to do are forgotten, and their connections closed. */
  #makeRoom(): void {
    if (this.#desks.size < MOST_DESKS) return;
    for (const [id, { receiver, ahead }] of this.#desks) {
      if (receiver.busy > 0 || ahead.length > 0) continue;
      receiver.close();
      this.#desks.delete(id);
    }
  }

  #begin(desk: Desk): void {
    const { receiver, ahead } = desk;
    const { origin } = receiver;
    this.#stuck.delete(desk);
    while (ahead.length > 0 && receiver.busy < receiver.limit && this.#under < MOST && this.#origins.room(origin, receiver.quick) > 0) {
      this.#origins.ahead(origin, -1);
      void this.#run(desk, ahead.shift() as Job);
    }
    if (ahead.length === 0) return;
    // It has become slow under what was taken for it, or its origin is full: others may have that, or it later.
    if (!receiver.quick && (receiver.busy >= receiver.limit || this.#origins.room(origin, false) <= 0)) this.#giveBack(desk);
    else if (receiver.busy < receiver.limit) this.#stuck.add(desk);
  }

  #giveBack({ receiver, ahead }: Desk): void {
    if (ahead.length === 0) return;
    this.#origins.ahead(receiver.origin, -ahead.length);
    this.#parts.ended(ahead.splice(0).map((job) => ({ job, attempt: null })));
  }

  async #run(desk: Desk, job: Job): Promise<void> {
    const { receiver } = desk;
    const { origin } = receiver;
    const slow = !receiver.quick;
    this.#under += 1;
    if (slow) this.#underSlow += 1;
    this.#origins.begin(origin, slow);
    const outcome = await this.#parts.deliver(receiver, job);
    this.#origins.end(origin, slow);
    this.#under -= 1;
    if (slow) this.#underSlow -= 1;
    this.#begin(desk);
    if (this.#stuck.size > 0) for (const other of [...this.#stuck]) if (this.#under < MOST) this.#begin(other);
    this.#parts.ended([outcome]);
  }
}
