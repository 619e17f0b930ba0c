import type { Part } from "./part.ts";
import { runTest } from "./run-test.ts";

/** The tests that kill servers, by file; each does it on both databases in turn, with KILLS on each. */
const SUITES = [
  "crash",
  "delivery-kills",
  "campaign-crash",
  "automation-kills",
  "developer-webhooks-crash",
  "marketplace-crash",
  "smtp-kills",
  "events-poller",
  "relay-kills",
  "inbound-crash",
  "audience-kills",
] as const;

const DATABASES = 2;
/** Kills in one run of a suite, on each database. */
const KILLS = 20;
const TURNS = 5;

/** Over a thousand kills, in turns over all suites. */
export const kills: Part = {
  name: "kills",
  title: "Kills",
  meaning:
    "Servers are killed with SIGKILL at random moments while mail, campaigns, automations, webhooks, agents, imports and sign-ups are under way. Nothing that was acknowledged may be missing. A mail may come twice only if it is listed as in doubt; events and keys come at least once.",
  steps: (share) => Math.max(SUITES.length, Math.round(SUITES.length * TURNS * share)),
  run: async (step, { seed }) => {
    const suite = SUITES[step % SUITES.length] ?? SUITES[0];
    const env = { KILLS: `${KILLS}`, CRASH_SEED: `${seed}` };
    const { kills: rows, ...run } = await runTest({ project: "e2e", file: `test/${suite}.test.ts`, env });
    const failures = [...run.failures];
    if (failures.length === 0 && rows.length !== DATABASES) failures.push(`${suite}: ${rows.length} records instead of ${DATABASES}`);
    const sum = (pick: (row: (typeof rows)[number]) => number | null) => rows.reduce((all, row) => all + (pick(row) ?? 0), 0);
    return {
      counts: {
        kills: sum((row) => row.kills),
        acknowledged: sum((row) => row.acknowledged),
        missing: sum((row) => row.missing),
        unlisted: sum((row) => row.unlisted),
      },
      rows,
      failures,
    };
  },
};
