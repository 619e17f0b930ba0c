import type { Part } from "./part.ts";
import { runTest } from "./run-test.ts";

const STEPS = 20;
/** Brands in each step, each with 20 to 40 proposals and answers. */
const RUNS = 70;

/** Ten thousand proposals, and more answers to them, of which most are not what they should be. */
export const proposals: Part = {
  name: "proposals",
  title: "Hostile proposals",
  meaning:
    "Agents propose what they may not, change nothing after an approval, and people's answers are repeated, late, at the same time, or name the hash, the lists and the request of others. What was created and sent is compared with what a person approved: nothing else, each once, and every byte.",
  steps: (share) => Math.max(1, Math.round(STEPS * share)),
  run: async (_step, { seed }) => {
    const { counts, failures } = await runTest({
      project: "unit",
      file: "packages/server/src/marketplace/messages/proposals.property.test.ts",
      env: { PROPERTY_RUNS: `${RUNS}`, PROPERTY_SEED: `${seed}` },
    });
    return { counts, rows: [], failures };
  },
};
