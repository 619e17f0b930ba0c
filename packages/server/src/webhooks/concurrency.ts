import type { Receiver } from "./client.ts";
import { AHEAD, Origins } from "./origins.ts";
import type { Ended } from "./outcomes.ts";
import type { Agenda } from "./ready-set.ts";
import type { Job } from "./streams.ts";

// Requests under way at a time, to all webhooks together.
const MOST = 2048;
// Those of them that may be with webhooks which are slow or were never called before: the rest is left for the quick ones.
const MOST_SLOW = 1536;
// Places that are left for webhooks which have fewer than FEW: nobody waits until others have got through all they have.
const KEPT_FREE = 256;
const FEW = 4;
// Webhooks that are remembered; so many of those that have nothing to do are forgotten at a time.
const MOST_DESKS = 1000;
const FORGOTTEN = 100;
// Events that wait in memory for their places, of all webhooks together: up to 20 KB each.
const MOST_AHEAD = 4096;

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
  /** Those that could have more of what they hold under way, if there were places: by origin, in turns. */
  readonly #lines = new Map<string, Set<Desk>>();
  /** Events taken that are not under way. */
  #ahead = 0;
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
    // They come first: those of their origin who have most would take all the room otherwise, time and again.
    const freed = this.#origins.freed();
    for (const listingId of freed) agenda.wake(listingId);
    /** Wished for in this round, by origin. */
    const wished = new Map<string, number>();
    let left = most;
    let slow = MOST_SLOW - this.#underSlow;
    for (const listingId of new Set([...freed, ...agenda.ready])) {
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
    this.#countAhead(desk, 1);
    this.#line(desk);
    this.#begin(desk.receiver.origin);
  }

  /** Gives back what is not under way. */
  clearAhead(): void {
    for (const desk of this.#desks.values()) this.#giveBack(desk, 0);
  }

  clear(): void {
    this.#desks.clear();
    this.#lines.clear();
    this.#origins.clear();
  }

  /** How much may be taken for a webhook, whoever else lives at its origin. */
  #room(desk: Desk, quick: boolean): number {
    const { receiver, ahead } = desk;
    // A webhook that answers at once gets the next event as soon as the one before is there, without waiting for the database.
    const further = quick ? Math.min((AHEAD - 1) * receiver.limit, Math.max(0, MOST_AHEAD - this.#ahead)) : 0;
    const own = Math.min(receiver.limit - receiver.busy, Math.max(1, this.#origins.room(receiver.origin, quick)));
    const wanted = own + further - ahead.length;
    return Math.min(wanted, this.#places(desk), quick ? MOST : MOST_SLOW - this.#underSlow);
  }

  /** Free places for requests of this webhook, whoever else lives at its origin. */
  #places({ receiver }: Desk): number {
    const free = MOST - this.#under;
    return Math.min(free, Math.max(free - KEPT_FREE, FEW - receiver.busy));
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
      this.#leave(known);
      this.#countAhead(known, -known.ahead.length);
      known.receiver.close();
      known.receiver = this.#parts.receiver(webhookUrl);
      this.#countAhead(known, known.ahead.length);
    }
    return known;
  }

  /** Some webhooks that have nothing to do are forgotten, those first that were called first, and their connections closed. */
  #makeRoom(): void {
    if (this.#desks.size < MOST_DESKS) return;
    let left = FORGOTTEN;
    for (const [id, { receiver, ahead }] of this.#desks) {
      if (receiver.busy > 0 || ahead.length > 0) continue;
      receiver.close();
      this.#desks.delete(id);
      left -= 1;
      if (left === 0) return;
    }
  }

  #countAhead({ receiver }: Desk, n: number): void {
    this.#ahead += n;
    this.#origins.ahead(receiver.origin, n);
  }

  /** Puts a webhook into the line of its origin if it has something that waits for a place only. */
  #line(desk: Desk): void {
    const { receiver, ahead } = desk;
    const { origin, quick, limit } = receiver;
    // It has become slow under what was taken for it: others may have that, or it later.
    if (!quick && (receiver.busy >= limit || this.#origins.roomSlow(origin) <= 0)) this.#giveBack(desk, 0);
    // Or it gets fewer at a time, since it does not answer: the rest would wait for longer than its leases last.
    else if (ahead.length > 2 * AHEAD * limit) this.#giveBack(desk, AHEAD * limit);
    if (ahead.length === 0 || receiver.busy >= limit) return;
    const line = this.#lines.get(origin);
    if (line) line.add(desk);
    else this.#lines.set(origin, new Set([desk]));
  }

  #leave(desk: Desk): void {
    const { origin } = desk.receiver;
    const line = this.#lines.get(origin);
    if (line?.delete(desk) && line.size === 0) this.#lines.delete(origin);
  }

  /** Begins with as much at an origin as there are places for, one request of each webhook at a time. */
  #begin(origin: string): void {
    const line = this.#lines.get(origin);
    if (!line) return;
    for (let tries = line.size; tries > 0 && this.#under < MOST && this.#origins.room(origin, true) > 0; ) {
      const [desk] = line;
      if (!desk) break;
      line.delete(desk);
      const { receiver, ahead } = desk;
      if (this.#places(desk) > 0 && this.#origins.room(origin, receiver.quick) > 0) {
        this.#countAhead(desk, -1);
        void this.#run(desk, ahead.shift() as Job);
      } else tries -= 1;
      this.#line(desk);
    }
    if (line.size === 0) this.#lines.delete(origin);
  }

  #giveBack(desk: Desk, from: number): void {
    const back = desk.ahead.splice(from);
    if (back.length === 0) return;
    this.#leave(desk);
    this.#countAhead(desk, -back.length);
    this.#parts.ended(back.map((job) => ({ job, attempt: null })));
  }

  async #run(desk: Desk, job: Job): Promise<void> {
    const { receiver } = desk;
    const { origin } = receiver;
    const slow = !receiver.quick;
    this.#under += 1;
    if (slow) this.#underSlow += 1;
    this.#origins.begin(origin, slow);
    const outcome = await this.#parts.deliver(receiver, job);
    const before = this.#under;
    this.#origins.end(origin, slow);
    this.#under -= 1;
    if (slow) this.#underSlow -= 1;
    this.#line(desk);
    this.#share(before);
    this.#begin(origin);
    // Its listing may have moved meanwhile.
    if (desk.receiver !== receiver) this.#begin(desk.receiver.origin);
    this.#parts.ended([outcome]);
  }

  /** Where places are what all wait for, those that are free again go to the origins in turns; so many were taken `before`. */
  #share(before: number): void {
    const most = before >= MOST ? MOST : MOST - KEPT_FREE;
    if (before < most) return;
    for (const [origin, line] of this.#lines) {
      if (this.#under >= most) return;
      const under = this.#under;
      this.#begin(origin);
      if (this.#under === under || line.size === 0) continue;
      this.#lines.delete(origin);
      this.#lines.set(origin, line);
    }
  }
}
