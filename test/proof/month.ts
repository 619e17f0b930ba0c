import type { Part } from "./part.ts";
import { runTest } from "./run-test.ts";

const DAYS = 30;
const MAILS = 600;
const DATABASES = ["SQLite", "Postgres"] as const;

/** A month of product time on the data of an earlier version, on each database. */
export const month: Part = {
  name: "month",
  title: "A month after an upgrade",
  meaning: `A server begins with the data of an earlier version, with work under way, and lives for ${DAYS} days: each brings people, ${MAILS} single mails, purchases and an erasure, every third one a campaign, and on four of five the server is killed. At the end every number that it shows is counted again, and a mail server and a webhook say what they got.`,
  steps: () => DATABASES.length,
  run: async (step, { seed, share }) => {
    const database = DATABASES[step] ?? "SQLite";
    const days = Math.max(3, Math.round(DAYS * share));
    const { failures, kills } = await runTest({
      project: "e2e",
      file: "test/month.test.ts",
      named: database,
      env: { MONTH_DAYS: `${days}`, MONTH_MAILS: `${Math.max(40, Math.round(MAILS * share))}`, CRASH_SEED: `${seed}` },
    });
    const sum = (count: "kills" | "acknowledged" | "missing"): number => kills.reduce((all, record) => all + record[count], 0);
    return { counts: { days, kills: sum("kills"), acknowledged: sum("acknowledged"), missing: sum("missing") }, rows: [], failures };
  },
};
