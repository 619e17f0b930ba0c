import { fileURLToPath } from "node:url";
import { type Bench, median } from "../figure.ts";
import { bareNode, timeOf } from "../runs.ts";

const CLI = fileURLToPath(new URL("../../packages/cli/bin/mailsvc.mjs", import.meta.url));
const ROUNDS = 11;

/** Time a person waits for the command line tool. */
export const cli: Bench = {
  name: "cli",
  meaning: "The built command line tool from start to end, against Node with nothing to do.",
  run: async () => {
    const bare: number[] = [];
    const versions: number[] = [];
    const helps: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      bare.push(await bareNode());
      versions.push(await timeOf([CLI, "--version"]));
      helps.push(await timeOf([CLI, "--help"]));
    }
    const figure = (name: string, rounds: number[]) => ({
      name,
      value: median(rounds),
      unit: "ms",
      against: "node -e 0",
      ratio: median(rounds) / median(bare),
      rounds,
    });
    return [figure("cli.version", versions), figure("cli.help", helps)];
  },
};
