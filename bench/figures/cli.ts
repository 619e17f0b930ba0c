import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, median } from "../figure.ts";
import { bareNode, timeOf } from "../runs.ts";

const CLI = fileURLToPath(new URL("../../packages/cli/bin/mailsvc.mjs", import.meta.url));
const COUNT = new URL("../count-loaded.mjs", import.meta.url).href;
const ROUNDS = 11;

/** Measured commands, with the goals for their ratio to Node with nothing to do. */
const CALLS = [
  { name: "cli.version", args: ["--version"] },
  { name: "cli.help", args: ["--help"], goal: { op: "<=", than: 3.3 } },
  { name: "cli.help.noun", args: ["emails", "--help"] },
  { name: "cli.dev", args: ["dev", "--quiet", "--", "true"], goal: { op: "<=", than: 6 } },
] as const;

/** Time a person waits for the command line tool, and the code that it loads. */
export const cli: Bench = {
  name: "cli",
  meaning:
    "The built command line tool from start to end, against Node with nothing to do; dev starts a server with a new database, runs the program true beside it, and stops it. loaded: kilobytes of code that a call loads.",
  run: async () => {
    const bare: number[] = [];
    const rounds = CALLS.map((): number[] => []);
    for (let i = 0; i < ROUNDS; i++) {
      bare.push(await bareNode());
      for (const [at, { args }] of CALLS.entries()) rounds[at]?.push(await timeOf([CLI, ...args]));
    }
    const times = CALLS.map((call, at) => {
      const own = rounds[at] ?? [];
      const ratio = median(own) / median(bare);
      return {
        name: call.name,
        value: median(own),
        unit: "ms",
        against: "node -e 0",
        ratio,
        rounds: own,
        ...("goal" in call && { goal: call.goal }),
      };
    });
    const loaded = [];
    for (const { name, args } of CALLS)
      loaded.push({ name: `${name}.loaded`, value: await countLoaded(args), unit: "kB", against: null, ratio: null });
    return [...times, ...loaded];
  },
};

/** Kilobytes of code that a call loads. */
async function countLoaded(args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-loaded-"));
  const file = join(folder, "bytes");
  try {
    await timeOf(["--import", COUNT, CLI, ...args], process.execPath, { COUNT_LOADED: file });
    return Number(readFileSync(file, "utf8")) / 1000;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
