import { type ClockState, type contract, durationMs } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { FiredTimer } from "../lib/controllable-clock.ts";
import { DAY } from "../lib/units.ts";
import { type DevDeps, type DevWorld, keepClock } from "./world.ts";

// Far beyond every schedule and retention, and still a valid date.
const MAX_ADVANCE = 10 * 366 * DAY;

export function clockHandlers(world: DevWorld): Handlers<typeof contract.clock, DevDeps> {
  /** The state of the clock after a change, which is kept with the data. */
  const keep = async ({ db }: DevDeps, fired: FiredTimer[] = []): Promise<ClockState> => {
    await keepClock(db, world.clock);
    return toClockState(world, fired);
  };
  return {
    show: async () => toClockState(world),
    freeze: async ({ at }, { deps }) => {
      if (at !== undefined) await advanceTo(world, { now: world.clock.now(), target: Date.parse(at), field: "at" }, deps.queue.idle);
      world.clock.freeze();
      return keep(deps);
    },
    advance: async ({ by, to }, { deps }) => {
      const now = world.clock.now();
      const move =
        by === undefined ? { now, target: Date.parse(to as string), field: "to" } : { now, target: now + durationMs(by), field: "by" };
      return keep(deps, await advanceTo(world, move, deps.queue.idle));
    },
    next: async (_input, { deps }) => {
      await deps.queue.idle();
      const next = world.clock.next();
      return keep(deps, next ? await world.clock.advanceTo(next.at, deps.queue.idle) : []);
    },
    thaw: async (_input, { deps }) => {
      world.clock.thaw();
      return keep(deps);
    },
  };
}

export function worldHandlers(world: DevWorld): Handlers<typeof contract.world, DevDeps> {
  return {
    reset: async () => {
      await world.reset();
      return { reset: true };
    },
    snapshots: async () => ({ data: await world.snapshots() }),
    snapshot: ({ name }) => world.snapshot(name),
    restore: ({ name }) => world.restore(name),
  };
}

export function faultHandlers(world: DevWorld): Handlers<typeof contract.faults, DevDeps> {
  return {
    list: async () => ({ data: world.faults.list() }),
    add: async (rule) => world.faults.add(rule),
    clear: async () => ({ deleted: world.faults.clear() }),
  };
}

function toTimer({ at, name }: FiredTimer) {
  return { at: iso(at), name };
}

function toClockState({ clock }: DevWorld, fired: FiredTimer[] = []): ClockState {
  const next = clock.next();
  return { now: iso(clock.now()), mode: clock.mode, next: next && toTimer(next), timers: clock.timers, fired: fired.map(toTimer) };
}

interface Move {
  /** The time at which the move was asked for, ms. A running clock goes on until it begins. */
  readonly now: number;
  readonly target: number;
  /** The field of the request that names the target. */
  readonly field: string;
}

function advanceTo(world: DevWorld, { now, target, field }: Move, settle: () => Promise<void>): Promise<FiredTimer[]> {
  if (target < now)
    throw invalid(
      field,
      "in_the_past",
      `Time only moves forward. The server's time is ${iso(now)}. To go back, use mailsvc world restore or mailsvc world reset.`,
    );
  if (target > now + MAX_ADVANCE) throw invalid(field, "too_far", "At most ten years at a time.");
  return world.clock.advanceTo(target, settle);
}
