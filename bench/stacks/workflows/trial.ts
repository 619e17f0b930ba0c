import { setTimeout as sleep } from "node:timers/promises";
import { cpuOf } from "../../cpu.ts";
import { countFlushes } from "../flushes.ts";
import { KILLS, LIFE, PATIENCE_MS } from "../trial.ts";
import { AT_A_TIME, type Engine, openStarter, type RunningEngine } from "./engine.ts";
import { type Ledger, STEPS } from "./ledger.ts";

const WARM_UP_MS = 3000;
// Workflows whose flushes are counted.
const SINGLE = 20;
const LOAD_MS = 10_000;
// A workflow that a kill has interrupted is not waited for by its starter, so that the load goes on.
const INTERRUPTED_MS = 1000;

/** Speed of an engine. */
export interface EngineSpeed {
  /** Steps a second. */
  readonly rate: number;
  /** Processor time for each step, of all processes of the engine, its share of starting and ending the workflow included, µs. */
  readonly cpu: number;
}

/** Fate of the workflows that were acknowledged while an engine was killed again and again. */
export interface EngineSurvival {
  readonly acknowledged: number;
  /** Steps of theirs. */
  readonly steps: number;
  /** Steps that were never done. */
  readonly lost: number;
  /** Steps that were done more than once. */
  readonly twice: number;
}

/** Measures an engine in a round of its own. */
export async function measureEngine(engine: Engine, ledger: Ledger, loadMs = LOAD_MS): Promise<EngineSpeed> {
  return withEngine(engine, ledger, async (running) => {
    await startWorkflows(running, ledger, { forMs: Math.min(WARM_UP_MS, loadMs), patienceMs: PATIENCE_MS });
    const [from, before, doneBefore] = [performance.now(), cpuOf(running.pids()), ledger.steps];
    await startWorkflows(running, ledger, { forMs: loadMs, patienceMs: PATIENCE_MS });
    const steps = ledger.steps - doneBefore;
    return { rate: (steps * 1000) / (ledger.lastAt - from), cpu: (cpuOf(running.pids()) - before) / steps };
  });
}

/** Counts the flushes of an engine for each step, while it works on one workflow after the other. */
export async function countEngineFlushes(engine: Engine, ledger: Ledger): Promise<number> {
  return withEngine(engine, ledger, async (running) => {
    const starter = openStarter(running);
    const work = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        const n = numbers++;
        await starter.start(n);
        await ledger.whenDone(n, PATIENCE_MS);
      }
    };
    await work(1);
    const flushes = await countFlushes(running.pids(), () => work(SINGLE));
    await starter.close();
    return flushes / (SINGLE * STEPS);
  });
}

/** Kills an engine ten times at random moments while it works. `random` gives numbers from 0 to 1. */
export async function killEngine(engine: Engine, ledger: Ledger, random: () => number): Promise<EngineSurvival> {
  return withEngine(engine, ledger, async (running) => {
    const over = new AbortController();
    const starting = startWorkflows(running, ledger, { forMs: Number.POSITIVE_INFINITY, patienceMs: INTERRUPTED_MS, over: over.signal });
    for (let i = 0; i < KILLS; i += 1) {
      await sleep(LIFE.least + random() * (LIFE.most - LIFE.least));
      await running.kill();
      await running.restart();
    }
    await sleep(LIFE.most);
    over.abort();
    const acknowledged = await starting;
    await settled(ledger, acknowledged);
    const lost = [...acknowledged].map((n) => STEPS - (ledger.done.get(n)?.filter((times) => times > 0).length ?? 0));
    const twice = [...ledger.done.values()].map((steps) => steps.filter((times) => times > 1).length);
    return { acknowledged: acknowledged.size, steps: acknowledged.size * STEPS, lost: sum(lost), twice: sum(twice) };
  });
}

async function withEngine<T>(engine: Engine, ledger: Ledger, run: (running: RunningEngine) => Promise<T>): Promise<T> {
  ledger.forget();
  const running = await engine.start(ledger.port);
  try {
    return await run(running);
  } finally {
    await running.stop();
  }
}

interface Load {
  readonly forMs: number;
  /** Longest wait for a workflow before the next is started. */
  readonly patienceMs: number;
  readonly over?: AbortSignal;
}

let numbers = 0;

/** Starts workflows, each when an earlier one is done. Returns the numbers of those that were acknowledged. */
async function startWorkflows(running: RunningEngine, ledger: Ledger, { forMs, patienceMs, over }: Load): Promise<Set<number>> {
  const acknowledged = new Set<number>();
  const starter = openStarter(running);
  const from = performance.now();
  const startSome = async (): Promise<void> => {
    while (!over?.aborted && performance.now() - from < forMs) {
      const n = numbers++;
      try {
        await starter.start(n);
        acknowledged.add(n);
        await ledger.whenDone(n, patienceMs);
      } catch {
        // The engine is down; a moment later it may not be.
        await sleep(20);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, startSome));
  await starter.close();
  return acknowledged;
}

/** Waits until all steps were done, or none was for a minute. */
async function settled(ledger: Ledger, acknowledged: ReadonlySet<number>): Promise<void> {
  const from = performance.now();
  while ([...acknowledged].some((n) => !ledger.isDone(n)) && performance.now() - Math.max(from, ledger.lastAt) < PATIENCE_MS)
    await sleep(50);
  // A step that is done again by somebody who is late would count, too.
  await sleep(LIFE.most);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}
