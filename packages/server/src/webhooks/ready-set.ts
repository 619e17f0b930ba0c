/** Endpoints with events that are due, and the times at which others will have some. */
export class ReadySet {
  /** Endpoints with events that are due; the one that waits longest comes first. */
  readonly due = new Set<string>();
  readonly #later = new Map<string, number>();

  /** Adds an endpoint whose next event is due at an instant (ms); null for never. */
  schedule(endpointId: string, at: number | null, now: number): void {
    if (at === null) return;
    if (at <= now) this.due.add(endpointId);
    else this.#later.set(endpointId, Math.min(at, this.#later.get(endpointId) ?? at));
  }

  /** Moves what has become due to the due ones. Returns when the next one will be; null when none is scheduled. */
  advance(now: number): number | null {
    for (const [endpointId, at] of this.#later)
      if (at <= now) {
        this.#later.delete(endpointId);
        this.due.add(endpointId);
      }
    return [...this.#later.values()].reduce<number | null>((next, at) => Math.min(next ?? at, at), null);
  }
}
