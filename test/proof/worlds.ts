import { PAIRS } from "../worlds/generate.ts";
import { sumUp } from "../worlds/live.ts";
import { liveTogether } from "../worlds/processes.ts";
import type { Part } from "./part.ts";

// Worlds of one step: some minutes.
const WORLDS = 100;

/** Worlds that are disturbed at random, until each pair of a noun and a disturbance was tried on each database. */
export const worlds: Part = {
  name: "worlds",
  title: "Disturbed worlds",
  meaning:
    "Whole services live for a month within seconds, while people pause, edit and erase, servers die and mail servers fail. Each pair of a thing and a disturbance is tried on SQLite and on Postgres, with fresh random choices. At rest nothing may be lost, doubled, leaked, miscounted or left behind: test/worlds/README.md says what must hold.",
  steps: (share) => 2 * Math.max(1, Math.ceil((share * PAIRS) / WORLDS)),
  run: async (step, { seed }) => {
    const failures: string[] = [];
    // Consecutive seeds from a multiple of the number of pairs try one pair after the other; every other step is about the other database.
    const first = Math.floor(step / 2) * WORLDS;
    const count = Math.min(WORLDS, Math.max(1, PAIRS - first));
    const database = step % 2 === 0 ? "sqlite" : "postgres";
    const log = (line: string): void => void (/^(?:seed|\/\/|held)/.test(line) && failures.push(line));
    const parts = await liveTogether({
      from: seed * PAIRS + first,
      count,
      minutes: Number.POSITIVE_INFINITY,
      database,
      log,
    });
    const lived = sumUp(parts, () => {});
    for (const pair of lived.missing) failures.push(`The pair ${pair} was not tried on ${database}.`);
    return { counts: { worlds: lived.worlds, failed: lived.failures }, rows: [], failures };
  },
};
