// Requests from this process that may be under way at one origin, to all webhooks that live there.
const MOST = 64;
// Those of them to webhooks that hang or were never called before. The rest is left for others of the same origin.
const MOST_SLOW = 10;
/** How many times what may be under way is taken for webhooks that answer at once, and for their origins. */
export const AHEAD = 8;

interface Load {
  busy: number;
  slow: number;
  /** Taken, and not yet under way. */
  ahead: number;
}

const NONE: Load = { busy: 0, slow: 0, ahead: 0 };

/** How the listings of an origin wait: apart, so that those which hang do not stand before those which do not. */
interface Lines {
  readonly quick: Set<string>;
  readonly slow: Set<string>;
}

/**
 * How much of a load each origin has: any number of listings may have their webhooks at one host, which is to be knocked over
 * by them as little as it is to have all places.
 */
export class Origins {
  readonly #loads = new Map<string, Load>();
  readonly #lines = new Map<string, Lines>();
  /** At which origin a listing waits. */
  readonly #places = new Map<string, string>();

  /** How many requests may be begun there now. */
  room(origin: string, quick: boolean): number {
    const { busy, slow } = this.#loads.get(origin) ?? NONE;
    return Math.min(MOST - busy, quick ? MOST : MOST_SLOW - slow);
  }

  /** How many requests to webhooks that hang or were never called may be begun there as soon as there is a place. */
  roomSlow(origin: string): number {
    return MOST_SLOW - (this.#loads.get(origin) ?? NONE).slow;
  }

  /** How many events may be taken for webhooks there. What those that answer hold is no reason not to begin with another one. */
  roomAhead(origin: string, quick: boolean): number {
    const { busy, ahead } = this.#loads.get(origin) ?? NONE;
    return quick ? MOST * AHEAD - busy - ahead : this.roomSlow(origin);
  }

  begin(origin: string, slow: boolean): void {
    const load = this.#load(origin);
    load.busy += 1;
    if (slow) load.slow += 1;
  }

  end(origin: string, slow: boolean): void {
    const load = this.#load(origin);
    load.busy -= 1;
    if (slow) load.slow -= 1;
    this.#tidy(origin, load);
  }

  /** Notes that so many events more, or less, are taken and not under way. */
  ahead(origin: string, n: number): void {
    const load = this.#load(origin);
    load.ahead += n;
    this.#tidy(origin, load);
  }

  /** Lets a listing wait until there is room at its origin. */
  wait(origin: string, listingId: string, quick: boolean): void {
    this.#leave(listingId);
    const lines = this.#lines.get(origin) ?? { quick: new Set(), slow: new Set() };
    this.#lines.set(origin, lines);
    lines[quick ? "quick" : "slow"].add(listingId);
    this.#places.set(listingId, origin);
  }

  /** Where a listing waits, if it does. */
  placeOf(listingId: string): string | undefined {
    return this.#places.get(listingId);
  }

  /** Listings for which there is room by now; they wait no longer. Those that waited longest come first. */
  freed(): string[] {
    const out: string[] = [];
    for (const [origin, lines] of this.#lines)
      for (const quick of [true, false]) {
        let room = this.roomAhead(origin, quick);
        for (const listingId of lines[quick ? "quick" : "slow"]) {
          if (room <= 0) break;
          room -= 1;
          out.push(listingId);
        }
      }
    for (const listingId of out) this.#leave(listingId);
    return out;
  }

  clear(): void {
    this.#loads.clear();
    this.#lines.clear();
    this.#places.clear();
  }

  #leave(listingId: string): void {
    const origin = this.#places.get(listingId);
    if (origin === undefined) return;
    this.#places.delete(listingId);
    const lines = this.#lines.get(origin);
    lines?.quick.delete(listingId);
    lines?.slow.delete(listingId);
    if (lines && lines.quick.size + lines.slow.size === 0) this.#lines.delete(origin);
  }

  #load(origin: string): Load {
    const load = this.#loads.get(origin) ?? { ...NONE };
    this.#loads.set(origin, load);
    return load;
  }

  #tidy(origin: string, { busy, ahead }: Load): void {
    if (busy <= 0 && ahead <= 0) this.#loads.delete(origin);
  }
}
