import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, median } from "../figure.ts";
import { bareNode, firstAnswer } from "../runs.ts";

const ROUNDS = 11;

/** Duration of a cold start. */
export const start: Bench = {
  name: "start",
  meaning:
    "From the start of the built server to its first 200 at /readyz: with a database that is there, and with one that it has to make. node -e 0 is Node with nothing to do.",
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-start-"));
    const existing: number[] = [];
    const fresh: number[] = [];
    const bare: number[] = [];
    try {
      await firstAnswer({ data: join(folder, "existing") });
      for (let i = 0; i < ROUNDS; i++) {
        bare.push(await bareNode());
        existing.push(await firstAnswer({ data: join(folder, "existing") }));
        fresh.push(await firstAnswer({ data: join(folder, `fresh-${i}`) }));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const floor = median(bare);
    const figure = (name: string, rounds: number[]) => ({
      name,
      value: median(rounds),
      unit: "ms",
      against: "node -e 0",
      ratio: median(rounds) / floor,
      rounds,
    });
    return [
      { ...figure("start.existing", existing), goal: { op: "<=", than: 5 } },
      figure("start.fresh", fresh),
      { name: "start.node", value: floor, unit: "ms", against: null, ratio: null, rounds: bare },
    ];
  },
};
