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
  /** The timer that fires next. */
  next(): FiredTimer | null;
  readonly timers: number;
  /** Stops time, now or at a later instant. */
  freeze(at?: number): void;
  /** Lets time run on from where it stands. */
  thaw(): void;
  /**
   * Moves time to `to`, stopping at each timer on the way: it fires at its own instant, and `settle` waits until the
   * work it started is done before time goes on. So what falls due runs in order, and chains of waits unfold.
   */
  advanceTo(to: number, settle: () => Promise<void>): Promise<FiredTimer[]>;
  /** Sets the clock without firing anything, when the whole world is put back. */
  reset(at: number, mode: "running" | "frozen"): void;
}

// Timers one advance may fire: a timer that sets itself again without moving on would otherwise never let go.
const MAX_FIRED = 100_000;

/**
 * A clock the developer owns (DESIGN 7). It runs along real time, or stands; either way it can be moved forward. It
 * never goes back except in `reset`.
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
      // A frozen clock still fires what is due at the present instant.
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
        // Time stands while it is moved: otherwise it would run on under the work it sets off.
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
