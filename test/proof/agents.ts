import type { Part } from "./part.ts";
import { runTest } from "./run-test.ts";

const STEPS = 20;
/** Kills of processes in each step, on each database. */
const KILLS = 25;
/** Runs of the model in each step, over each store; a run has up to four kills. */
const RUNS = 8;

/** A thousand agents that are killed, and a hundred of their servers; and more in a model that kills at any call. */
export const agents: Part = {
  name: "agents",
  title: "Kills of agents",
  meaning:
    "Agents over SQLite, a file, Redis and Postgres are killed with SIGKILL while their runs work and wait, and for each ten of them the server too, on SQLite and on Postgres. Each run ends, and its page, credits, log, messages and proposed campaign are there, each once. In a model, over the same stores and one in memory, a process dies before or after any call of its store or of the service; the record is that of a run without kills.",
  steps: (share) => Math.max(1, Math.round(STEPS * share)),
  run: async (_step, { seed }) => {
    const model = await runTest({
      project: "unit",
      file: "packages/agent-kit/src/records.test.ts",
      named: "killed at any moment",
      env: { PROPERTY_RUNS: `${RUNS}`, PROPERTY_SEED: `${seed}` },
    });
    const processes = await runTest({
      project: "e2e",
      file: "test/agent-kills.test.ts",
      env: { KILLS: `${KILLS}`, CRASH_SEED: `${seed}` },
    });
    return { counts: { ...processes.counts, ...model.counts }, rows: [], failures: [...model.failures, ...processes.failures] };
  },
};
