import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Part } from "./part.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const STEPS = 20;
const STORES = 5;
/** Runs of an agent in each step, over each store. */
const RUNS = 25;
const LAST_LINES = 40;

/** Agents that are killed at any call, over all stores. */
export const agents: Part = {
  name: "agents",
  title: "Kills of agents",
  meaning:
    "Runs with steps, checkpoints, logs, credits, approvals and wakeups, of which each process is killed at a random call of its store or of the service, up to four times. Each ends with the same record as without kills, over the stores in memory, SQLite, a file, Redis and Postgres.",
  steps: (share) => Math.max(1, Math.round(STEPS * share)),
  run: async (_step, { seed }) => {
    const child = spawn(process.execPath, [VITEST, "run", "packages/agent-kit/src/records.test.ts", "-t", "killed at any moment"], {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: "1", PROPERTY_RUNS: `${RUNS}`, PROPERTY_SEED: `${seed}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const failures = code === 0 ? [] : [`PROPERTY_SEED=${seed}: ${output.split("\n").slice(-LAST_LINES).join("\n")}`];
    return { counts: { runs: RUNS * STORES }, rows: [], failures };
  },
};
