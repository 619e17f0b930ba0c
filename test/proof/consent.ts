import type { Part } from "./part.ts";
import { runTest } from "./run-test.ts";

const STEPS = 20;
/** Sequences in each step: on a server, and of the rules alone. */
const [ON_SERVER, RULES_ALONE] = [500, 50_000];

/** Ten thousand sequences on a server, and a million of the rules alone. */
export const consent: Part = {
  name: "consent",
  title: "Consent",
  meaning:
    "Builders change, rotate, cancel and renew listings while two brands accept, decline, pause, resume and turn the agent off and on again, in random sequences. After each change every call that a scope allows is tried, with the keys of both brands, those of earlier activations, and those of the other brand: none succeeds that the brand did not accept. A million more sequences go through the same rules without a server.",
  steps: (share) => Math.max(1, Math.round(STEPS * share)),
  run: async (_step, { seed }) => {
    const { counts, failures } = await runTest({
      project: "unit",
      file: "packages/server/src/marketplace/activations/consent.property.test.ts",
      env: { PROPERTY_RUNS: `${ON_SERVER}`, CONSENT_SEQUENCES: `${RULES_ALONE}`, PROPERTY_SEED: `${seed}` },
    });
    return { counts, rows: [], failures };
  },
};
