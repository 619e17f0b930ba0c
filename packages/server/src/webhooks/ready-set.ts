/** Which listings have something for their webhooks: now, and when next. */
export class Agenda {
  /** Those with something that is due, the one that waits longest first. */
  readonly #ready = new Set<string>();
  /** Those that were woken since the last round began. */
  readonly #woken = new Set<string>();
  /** When something falls due next, by listing. */
  readonly #later = new Map<string, number>();

  /** Listings with something that is due, as they stand now. */
  get ready(): string[] {
    return [...this.#ready];
  }

  get isEmpty(): boolean {
    return this.#ready.size === 0;
  }

  wake(listingId: string): void {
    this.#ready.add(listingId);
    this.#woken.add(listingId);
  }

  /** Notes when something of a listing is due; null for never. */
  note(listingId: string, at: number | null, now: number): void {
    if (at === null) return;
    if (at <= now) this.#ready.add(listingId);
    else this.#later.set(listingId, Math.min(at, this.#later.get(listingId) ?? at));
  }

  /** Notes what the database says: when something of a listing is due next, and that nothing is before. */
  correct(listingId: string, at: number | null, now: number): void {
    if (at === null || at > now) {
      this.#ready.delete(listingId);
      this.#later.delete(listingId);
    }
    this.note(listingId, at, now);
  }

  /** Leaves a listing out until somebody notes it again. */
  drop(listingId: string): void {
    this.#ready.delete(listingId);
  }

  /** Puts a listing at the end of the line. */
  yieldTurn(listingId: string): void {
    this.#ready.delete(listingId);
    this.#ready.add(listingId);
  }

  /** Begins a round: who is woken from now on has something that it may not see. */
  beginRound(): void {
    this.#woken.clear();
  }

  endRound(): void {
    for (const listingId of this.#woken) this.#ready.add(listingId);
  }

  /** Moves what has fallen due to the ready ones. Answers when the next one will be; null when nothing is planned. */
  advance(now: number): number | null {
    let next: number | null = null;
    for (const [listingId, at] of this.#later) {
      if (at <= now) {
        this.#later.delete(listingId);
        this.#ready.add(listingId);
      } else next = Math.min(next ?? at, at);
    }
    return next;
  }

  clear(): void {
    this.#ready.clear();
    this.#woken.clear();
    this.#later.clear();
  }
}
