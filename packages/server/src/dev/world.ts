import type { Snapshot } from "@mailsvc/sdk/contract";
import type { Deps } from "../deps.ts";
import type { FaultInjector } from "../http/fault-injection.ts";
import { resetInstallation } from "../installation/installation.ts";
import type { ControllableClock } from "../lib/controllable-clock.ts";
import type { Snapshots, StoredClock } from "./snapshots.ts";

/** What a developer may do to the whole world (DESIGN 7). */
export interface DevWorld {
  readonly clock: ControllableClock;
  readonly faults: FaultInjector;
  snapshots(): Promise<Snapshot[]>;
  snapshot(name: string): Promise<Snapshot>;
  restore(name: string): Promise<Snapshot>;
  reset(): Promise<void>;
}

export interface WorldOptions {
  deps: Deps;
  snapshots: Snapshots;
  clock: ControllableClock;
  faults: FaultInjector;
  /** Starts the workers again after the data was changed under them. */
  startWorkers: () => Promise<void>;
  /** Forgets what is kept in memory beside the database. */
  forget: () => void;
}

export function createDevWorld({ deps, snapshots, clock, faults, startWorkers, forget }: WorldOptions): DevWorld {
  const began = { mode: clock.mode, at: clock.now(), real: clock.real.now() };
  /** Where the clock would stand if nobody had bent it. */
  const unbent = (): number => began.at + (began.mode === "frozen" ? 0 : Math.floor(clock.real.now() - began.real));
  const mark = (): StoredClock => ({ now: clock.now(), mode: clock.mode });

  /** Changes the data while nothing else runs. */
  const between = async <T>(change: () => Promise<T>): Promise<T> => {
    await deps.queue.stop();
    try {
      return await change();
    } finally {
      forget();
      await startWorkers();
    }
  };

  return {
    clock,
    faults,
    snapshots: () => snapshots.list(),
    snapshot: (name) => between(() => snapshots.take(name, mark())),
    restore: (name) =>
      between(async () => {
        const { snapshot, clock: at } = await snapshots.restore(name);
        if (at) clock.reset(at.now, at.mode);
        return snapshot;
      }),
    reset: () =>
      between(async () => {
        await resetInstallation(deps, async () => {
          await snapshots.empty();
          faults.clear();
          clock.reset(unbent(), began.mode);
        });
      }),
  };
}
