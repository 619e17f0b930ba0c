import type { Snapshot } from "@mailsvc/sdk/contract";
import type { Db, Reader } from "../db/db.ts";
import { findFact, writeFact } from "../db/facts.ts";
import { continueStreams, loadStreamEnds } from "../events/events.ts";
import { type InstallationDeps, resetInstallation } from "../installation/installation.ts";
import type { ControllableClock } from "../lib/controllable-clock.ts";
import type { FaultRules } from "../lib/fault-rules.ts";
import type { Queue } from "../queue/queue.ts";
import { selectWorkspaceIds } from "../workspaces/workspaces.ts";
import { CLOCK_FACT, type Snapshots, type StoredClock } from "./snapshots.ts";

/** Operations of the dev endpoints on the whole installation. */
export interface DevWorld {
  readonly clock: ControllableClock;
  readonly faults: FaultRules;
  snapshots(): Promise<Snapshot[]>;
  snapshot(name: string): Promise<Snapshot>;
  restore(name: string): Promise<Snapshot>;
  reset(): Promise<void>;
}

interface WorldOptions {
  deps: DevDeps;
  snapshots: Snapshots;
  clock: ControllableClock;
  faults: FaultRules;
  /** Starts the workers again after the data was replaced. */
  startWorkers: () => Promise<void>;
  /** Clears all caches of the database. */
  clearCaches: () => void;
  /** Called while the data is still there. */
  beforeReplaced?: ((what: "reset" | "restore") => Promise<void>) | undefined;
}

export function createDevWorld({ deps, snapshots, clock, faults, startWorkers, clearCaches, beforeReplaced }: WorldOptions): DevWorld {
  const began = { mode: clock.mode, at: clock.now(), real: clock.real.now() };
  /** The instant of the clock as if it had never been controlled. */
  const uncontrolledNow = (): number => began.at + (began.mode === "frozen" ? 0 : Math.floor(clock.real.now() - began.real));

  /** Changes the data while the workers are stopped. */
  const whileStopped = async <T>(change: () => Promise<T>): Promise<T> => {
    await deps.queue.stop();
    try {
      return await change();
    } finally {
      clearCaches();
      await startWorkers();
    }
  };

  /** Replaces the data; the numbers of events go on. */
  const replace = <T>(change: () => Promise<T>): Promise<T> =>
    whileStopped(async () => {
      const ends = await loadStreamEnds(deps.db.read);
      const result = await change();
      await deps.db.tx(async (tx) =>
        continueStreams(
          tx,
          (await selectWorkspaceIds(tx)).map(({ id }) => id),
          ends,
        ),
      );
      return result;
    });

  return {
    clock,
    faults,
    snapshots: () => snapshots.list(),
    snapshot: (name) => whileStopped(() => snapshots.take(name, markClock(clock))),
    restore: (name) =>
      replace(async () => {
        await beforeReplaced?.("restore");
        const { snapshot, clock: at } = await snapshots.restore(name);
        if (at) clock.reset(at.now, at.mode);
        await keepClock(deps.db, clock);
        return snapshot;
      }),
    reset: () =>
      replace(async () => {
        await beforeReplaced?.("reset");
        await resetInstallation(deps, async () => {
          await snapshots.empty();
          faults.clear();
          deps.requestLog?.clear();
          clock.reset(uncontrolledNow(), began.mode);
        });
      }),
  };
}

/** Returns the state of a clock, to be stored with the data. */
function markClock(clock: ControllableClock): StoredClock {
  return { now: clock.now(), mode: clock.mode, date: clock.real.date() };
}

/** Stores where a developer has moved the clock, so that the next start goes on from there. */
export async function keepClock(db: Db, clock: ControllableClock): Promise<void> {
  const value = JSON.stringify(markClock(clock));
  await db.tx((tx) => writeFact(tx, CLOCK_FACT, value));
}

/**
 * Sets a clock to where it was kept: a frozen one to the same instant, a running one as far from the real time as it was. Does nothing if
 * it was never moved.
 */
export async function restoreClock(read: Reader, clock: ControllableClock): Promise<void> {
  const stored = await findFact(read, CLOCK_FACT);
  if (stored === null) return;
  const { now, mode, date } = JSON.parse(stored) as StoredClock;
  clock.reset(mode === "frozen" ? now : now + clock.real.date() - date, mode);
}

export interface DevDeps extends InstallationDeps {
  readonly queue: Queue;
  /** Rules that make requests and SMTP fail; null outside of dev mode. */
  readonly faults: FaultRules | null;
  /** The latest requests; null outside of dev mode. */
  readonly requestLog: { clear(): void } | null;
}
