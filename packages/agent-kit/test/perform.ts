import { onTestFinished } from "vitest";
import { type Agent, createAgent } from "../src/agent.ts";
import type { AgentOptions } from "../src/options.ts";
import type { Run, RunOptions, RunOutcome } from "../src/run.ts";
import { memoryStore } from "../src/stores/memory.ts";
import { TestMarketplace } from "../src/testing.ts";

export const masterKey = Buffer.alloc(32, 3).toString("base64");

// biome-ignore lint/suspicious/noConfusingVoidType: work that returns nothing
export type Work = (run: Run, market: TestMarketplace) => Promise<RunOutcome | void>;

/** A marketplace with an agent that performs a run when it is turned on. `restart` replaces its process. */
export async function perform(work: Work, options: AgentOptions = {}, runOptions: RunOptions = {}) {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const store = options.store ?? memoryStore();
  const errors: unknown[] = [];
  const start = (): Agent => {
    const agent = createAgent({ ...market.options, store, masterKey, ...options })
      .on("agent.activated", (ctx) => ctx.run({ title: "Work", ...runOptions }, (run) => work(run, market)))
      .onError((error) => errors.push(error));
    market.serve(agent);
    return agent.start();
  };
  let agent = start();
  const restart = async (): Promise<void> => {
    await agent.stop();
    agent = start();
  };
  return { market, errors, restart, store, activation: await market.activate() };
}

/** Waits by the time of the marketplace, or until the run is over. */
export const pass = (market: TestMarketplace, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    market.options.clock.after(ms, done);
    signal.addEventListener("abort", () => done());
  });

export const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
