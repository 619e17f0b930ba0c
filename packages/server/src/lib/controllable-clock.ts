import { type Clock, realTime, type Timer } from "./clock.ts";

interface Pending {
  at: number;
  name: string;
  fire: () => void;
  order: number;
}

export interface FiredTimer {
  at: number;
  name: string;
}

export interface ControllableClock extends Clock {
  readonly mode: "running" | "frozen";
  /** The next timer to fire; null when there is none. */
  next(): FiredTimer | null;
  readonly timers: number;
  /** Stops time, now or at a later instant. */
  freeze(at?: number): void;
  /** Lets time continue from where it stopped. */
  thaw(): void;
  /**
   * Moves time to `to`, stopping at each timer on the way: it fires at its own instant, and `settle` waits for the work it
   * started before time moves on. So due work runs in order, and chains of timers unfold.
   */
  advanceTo(to: number, settle: () => Promise<void>): Promise<FiredTimer[]>;
  /** Sets the clock without firing timers, when a snapshot is restored. */
  reset(at: number, mode: "running" | "frozen"): void;
}

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
export function controllableClock(start: number, mode: "running" | "frozen"): ControllableClock {
  const pending = new Set<Pending>();
  let frozen = mode === "frozen";
  let advancing = false;
  let base = start;
  let since = realTime.now();
  let alarm: Timer | null = null;
  let order = 0;
  let moving: Promise<unknown> = Promise.resolve();

  const now = (): number => (frozen ? base : base + Math.floor(realTime.now() - since));
  const set = (at: number): void => {
    base = at;
    since = realTime.now();
  };
  const first = (): Pending | null => {
    let best: Pending | null = null;
    for (const p of pending) if (!best || p.at < best.at || (p.at === best.at && p.order < best.order)) best = p;
    return best;
  };
  const fire = (p: Pending): void => {
    pending.delete(p);
    p.fire();
  };
  const arm = (): void => {
    alarm?.cancel();
    alarm = null;
    const next = frozen ? null : first();
    if (!next) return;
    alarm = realTime.after(Math.max(0, next.at - now()), () => {
      for (let due = first(); due && due.at <= now(); due = first()) fire(due);
      arm();
    });
  };
  const shown = (p: Pending): FiredTimer => ({ at: p.at, name: p.name });

  return {
    real: realTime,
    now,
    get mode() {
      return frozen ? "frozen" : "running";
    },
    get advancing() {
      return advancing;
    },
    get timers() {
      return pending.size;
    },
    next: () => {
      const p = first();
      return p ? shown(p) : null;
    },
    after: (ms, name, fireIt) => {
      const p: Pending = { at: now() + Math.max(0, Math.ceil(ms)), name, fire: fireIt, order: order++ };
      pending.add(p);
      // A frozen clock still fires timers that are due at the present instant.
      if (frozen && p.at <= base) realTime.after(0, () => pending.has(p) && fire(p));
      else arm();
      return {
        cancel: () => {
          if (pending.delete(p)) arm();
        },
      };
    },
    freeze: (at) => {
      set(Math.max(now(), at ?? 0));
      frozen = true;
      arm();
    },
    thaw: () => {
      if (!frozen) return;
      since = realTime.now();
      frozen = false;
      arm();
    },
    advanceTo: (to, settle) => {
      const move = async (): Promise<FiredTimer[]> => {
        const fired: FiredTimer[] = [];
        const ran = !frozen;
        // Frozen while it moves: otherwise time would run on during the work of the timers.
        set(now());
        frozen = true;
        advancing = true;
        arm();
        try {
          await settle();
          for (let next = first(); next && next.at <= to && fired.length < MAX_FIRED; next = first()) {
            set(Math.max(base, next.at));
            fired.push(shown(next));
            fire(next);
            await settle();
          }
          set(Math.max(base, to));
        } finally {
          advancing = false;
          if (ran) {
            since = realTime.now();
            frozen = false;
          }
          arm();
        }
        return fired;
      };
      const result = moving.then(move, move);
      moving = result.catch(() => {});
      return result;
    },
    reset: (at, to) => {
      set(at);
      frozen = to === "frozen";
      arm();
    },
  };
}
