import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { KillRecord } from "../support/kills.ts";
import type { Part } from "./part.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

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
] as const;

const DATABASES = 2;
/** Kills in one run of a suite, on each database. */
const KILLS = 20;
const TURNS = 3;
const LAST_LINES = 40;

/** A thousand kills, in turns over all suites. */
export const kills: Part = {
  name: "kills",
  title: "Kills",
  meaning:
    "Servers are killed with SIGKILL at random moments while mail, campaigns, automations, webhooks and agents are under way. Nothing that was acknowledged may be missing. A mail may come twice only if it is listed as in doubt; events and keys come at least once.",
  steps: (share) => Math.max(SUITES.length, Math.round(SUITES.length * TURNS * share)),
  run: async (step, { seed }) => {
    const suite = SUITES[step % SUITES.length] ?? SUITES[0];
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-proof-"));
    const records = join(folder, "records");
    try {
      const { code, output } = await runTest(`test/${suite}.test.ts`, {
        KILLS: `${KILLS}`,
        CRASH_SEED: `${seed}`,
        KILL_RECORDS: records,
      });
      const lines = existsSync(records) ? readFileSync(records, "utf8").trim().split("\n") : [];
      const rows = lines.map((line) => JSON.parse(line) as KillRecord);
      const failures = code === 0 ? [] : [`${suite} with CRASH_SEED=${seed}: ${output}`];
      if (code === 0 && rows.length !== DATABASES) failures.push(`${suite}: ${rows.length} records instead of ${DATABASES}`);
      const sum = (pick: (row: KillRecord) => number | null) => rows.reduce((all, row) => all + (pick(row) ?? 0), 0);
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
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Runs one test file of whole programs, with these variables. */
export async function runTest(file: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [VITEST, "run", "--project", "e2e", file], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output: output.split("\n").slice(-LAST_LINES).join("\n") };
}
