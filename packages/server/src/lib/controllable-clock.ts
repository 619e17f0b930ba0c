import { type Clock, realTime, type Timer } from "./clock.ts";

interface Pending {
  readonly at: number;
  readonly name: string;
  readonly fire: () => void;
  readonly order: number;
}

export interface FiredTimer {
  at: number;
  name: string;
}

type ClockMode = "running" | "frozen";

// The most timers one advance may fire: a timer that sets itself again for the same instant would otherwise never end.
const MAX_FIRED = 100_000;

/**
 * A clock that tests and developers control. It runs with real time or is frozen; either way it can be moved forward. It never goes
 * back except in `reset`.
 *
 *   mode    | trigger      | next
 *   --------|--------------|--------------------------------------------------
 *   running | freeze       | frozen, at the present or a later instant
 *   frozen  | thaw         | running, from the instant at which it was frozen
 *   any     | advanceTo    | the same mode, later; frozen while it moves
 *   any     | reset        | the given mode and instant; no timer fires
 */
export class ControllableClock implements Clock {
  readonly real: Clock["real"] = realTime;
  /** Bound, because many get it without the clock. */
  readonly now = (): number => this.read();
  readonly #pending = new Set<Pending>();
  #mode: ClockMode;
  /** The instant at which the clock stands, or at which it began to run at `#since` of real time. */
  #base: number;
  #since = realTime.now();
  #advancing = false;
  /** Fires the next timer while the clock runs. */
  #alarm: Timer | null = null;
  #order = 0;
  #moving: Promise<unknown> = Promise.resolve();

  constructor(start: number, mode: ClockMode) {
    this.#base = start;
    this.#mode = mode;
  }

  get mode(): ClockMode {
    return this.#mode;
  }

  get advancing(): boolean {
    return this.#advancing;
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#pending.size;
  }

  /** The next timer to fire, besides those of `names`; null when there is none. */
  next(names?: ReadonlySet<string>): FiredTimer | null {
    const next = this.#first(names);
    return next && toFired(next);
  }

  after(ms: number, name: string, fire: () => void): Timer {
    const timer: Pending = { at: this.#present() + Math.max(0, Math.ceil(ms)), name, fire, order: this.#order++ };
    this.#pending.add(timer);
    // A frozen clock still fires timers that are due at the present instant.
    if (this.#mode === "frozen" && timer.at <= this.#base) realTime.after(0, () => this.#pending.has(timer) && this.#fire(timer));
    else this.#arm();
    return {
      cancel: () => {
        if (this.#pending.delete(timer)) this.#arm();
      },
    };
  }

  /** Stops time, now or at a later instant. */
  freeze(at = 0): void {
    this.#set(Math.max(this.#present(), at));
    this.#mode = "frozen";
    this.#arm();
  }

  /** Lets time continue from where it stopped. */
  thaw(): void {
    if (this.#mode === "running") return;
    this.#run();
    this.#arm();
  }

  /**
   * Moves time to `to`, stopping at each timer on the way: it fires at its own instant, and `settle` waits for the work it
   * started before time moves on. So due work runs in order, and chains of timers unfold.
   */
  advanceTo(to: number, settle: () => Promise<void>): Promise<FiredTimer[]> {
    const move = (): Promise<FiredTimer[]> => this.#move(to, settle);
    const result = this.#moving.then(move, move);
    this.#moving = result.catch(() => {});
    return result;
  }

  /** Sets the clock without firing timers, when a snapshot is restored. */
  reset(at: number, mode: ClockMode): void {
    this.#set(at);
    this.#mode = mode;
    this.#arm();
  }

  /** Returns the time of this clock, for `now`. */
  protected read(): number {
    return this.#present();
  }

  async #move(to: number, settle: () => Promise<void>): Promise<FiredTimer[]> {
    const fired: FiredTimer[] = [];
    const ran = this.#mode === "running";
    // Frozen while it moves: otherwise time would run on during the work of the timers.
    this.#set(this.#present());
    this.#mode = "frozen";
    this.#advancing = true;
    this.#arm();
    try {
      await settle();
      for (let next = this.#first(); next && next.at <= to && fired.length < MAX_FIRED; next = this.#first()) {
        this.#set(Math.max(this.#base, next.at));
        fired.push(toFired(next));
        this.#fire(next);
        await settle();
      }
      this.#set(Math.max(this.#base, to));
    } finally {
      this.#advancing = false;
      if (ran) this.#run();
      this.#arm();
    }
    return fired;
  }

  #present(): number {
    return this.#mode === "frozen" ? this.#base : this.#base + Math.floor(realTime.now() - this.#since);
  }

  #set(at: number): void {
    this.#base = at;
    this.#since = realTime.now();
  }

  #run(): void {
    this.#since = realTime.now();
    this.#mode = "running";
  }

  #first(besides?: ReadonlySet<string>): Pending | null {
    let best: Pending | null = null;
    for (const p of this.#pending)
      if ((!best || p.at < best.at || (p.at === best.at && p.order < best.order)) && !besides?.has(p.name)) best = p;
    return best;
  }

  #fire(timer: Pending): void {
    this.#pending.delete(timer);
    timer.fire();
  }

  #arm(): void {
    this.#alarm?.cancel();
    this.#alarm = null;
    const next = this.#mode === "frozen" ? null : this.#first();
    if (!next) return;
    this.#alarm = realTime.after(Math.max(0, next.at - this.#present()), () => {
      for (let due = this.#first(); due && due.at <= this.#present(); due = this.#first()) this.#fire(due);
      this.#arm();
    });
  }
}

function toFired({ at, name }: Pending): FiredTimer {
  return { at, name };
}
