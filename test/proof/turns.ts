import type { Part } from "./part.ts";
import { runTest } from "./run-test.ts";

/** The tests that try each step on one database, or each write at one moment (see `support/turns.ts`), and those of work that is rare. */
const FILES = [
  ...(["marketplace-steps", "uploads-crash", "erasure-races"] as const),
  ...(["counting-kills", "retention-kills", "workspace-deletion-kills", "upgrade-load"] as const),
] as const;
const KILLS = "20";

/** All of what a single run of the tests tries in turn. */
export const turns: Part = {
  name: "turns",
  title: "Steps and races",
  meaning:
    "A server is killed around each COMMIT of an activation, a listing and an upload, on SQLite and on Postgres. Each write of the API is made while the person whom it names is erased or deleted, before and after their rows are gone. Servers are killed while they count and rebuild, delete old mail or a workspace, and upgrade. Nothing may be there by half, and nothing may be left of the person.",
  steps: (share) => Math.max(1, Math.round(FILES.length * share)),
  run: async (step) => {
    const file = FILES[step] ?? FILES[0];
    const { failures } = await runTest({
      project: "e2e",
      file: `test/${file}.test.ts`,
      env: { TURNS: "all", KILLS, UPGRADE_KILLS: KILLS },
    });
    return { counts: { files: 1 }, rows: [], failures };
  },
};
