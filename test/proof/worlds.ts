import { join } from "node:path";
import { PAIRS } from "../worlds/generate.ts";
import { sumUp } from "../worlds/live.ts";
import { listPairs, readTried } from "../worlds/pairs.ts";
import { liveTogether } from "../worlds/processes.ts";
import type { Part } from "./part.ts";

// Some minutes.
const WORLDS_OF_STEP = 100;
// A world tries many pairs at once, and those that it could not try are left to later ones.
const PAIRS_OF_STEP = 1000;

/** Worlds that are disturbed at random, until each pair of a noun and a disturbance was tried on each database. */
export const worlds: Part = {
  name: "worlds",
  title: "Disturbed worlds",
  meaning:
    "Whole services live for a month within seconds, while people pause, edit and erase, servers die and mail servers fail. Each pair of a thing and a disturbance is tried on SQLite and on Postgres, with fresh random choices. At rest nothing may be lost, doubled, leaked, miscounted or left behind: test/worlds/README.md says what must hold.",
  steps: (share) => 2 * Math.max(1, Math.ceil((share * PAIRS) / PAIRS_OF_STEP)),
  run: async (step, { seed, share, folder }) => {
    // Every other step is about the other database.
    const database = step % 2 === 0 ? "sqlite" : "postgres";
    const untried = join(folder, `tried-on-${database}`);
    const failures: string[] = [];
    const log = (line: string): void => void (/^(?:seed|\/\/|held)/.test(line) && failures.push(line));
    const parts = await liveTogether({
      from: seed * PAIRS,
      count: WORLDS_OF_STEP,
      minutes: Number.POSITIVE_INFINITY,
      database,
      untried,
      log,
    });
    const lived = sumUp(parts, () => {});
    if (share === 1 && step >= worlds.steps(share) - 2) {
      const tried = readTried(untried);
      for (const pair of listPairs()) if (!tried.has(pair)) failures.push(`No step has tried the pair ${pair} on ${database}.`);
    }
    return { counts: { worlds: lived.worlds, failed: lived.failures }, rows: [], failures };
  },
};
