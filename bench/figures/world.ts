import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, median } from "../figure.ts";

const TESTING = fileURLToPath(new URL("../../packages/server/dist/testing.js", import.meta.url));

// In its own process, as in a test run: the first world makes the template, the others copy it.
const PROGRAM = `
  const { createWorld } = await import(process.argv[1]);
  const times = [];
  for (let i = 0; i < 41; i++) {
    const from = performance.now();
    const world = await createWorld({ seed: i });
    times.push(performance.now() - from);
    await world.dispose();
  }
  console.log(JSON.stringify(times));`;

/** Time a test waits for its own world. */
export const world: Bench = {
  name: "world",
  meaning:
    "createWorld() of the built package: a whole mailsvc for one test, in its process. The first one of a process loads the code and makes the template database.",
  run: async () => {
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM, TESTING], { encoding: "utf8" });
    const [first = 0, ...rounds] = JSON.parse(output) as number[];
    return [
      { name: "world.create", value: median(rounds), unit: "ms", against: null, ratio: null, goal: { op: "<", than: 20 }, rounds },
      { name: "world.first", value: first, unit: "ms", against: null, ratio: null },
    ];
  },
};
