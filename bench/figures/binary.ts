import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type StartOptions, startServer } from "../../test/support/server.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { bareNode, firstAnswer, timeOf } from "../runs.ts";
import { residentMb } from "./memory.ts";

const BUILD = fileURLToPath(new URL("../../packaging/binary/build.mjs", import.meta.url));
const BINARY = fileURLToPath(new URL("../../build/mailsvc", import.meta.url));
const ROUNDS = 11;
const SETTLE_MS = 1500;

/** Size of the single executable file, and the time a person waits for it. */
export const binary: Bench = {
  name: "binary",
  meaning:
    "The single executable file: its size, the commands --version and --help from start to end, `serve` from its start to the first 200 at /readyz (with a database that is there), and its resident memory a while later. node -e 0 is Node with nothing to do.",
  run: async () => {
    await promisify(execFile)(process.execPath, [BUILD], { maxBuffer: 1e8 });
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-binary-"));
    const bare: number[] = [];
    const versions: number[] = [];
    const helps: number[] = [];
    const serves: number[] = [];
    try {
      const server: StartOptions = { program: [BINARY, "serve"], data: join(folder, "data"), flags: [] };
      await firstAnswer(server);
      for (let i = 0; i < ROUNDS; i++) {
        bare.push(await bareNode());
        versions.push(await timeOf(["--version"], BINARY));
        helps.push(await timeOf(["--help"], BINARY));
        serves.push(await firstAnswer(server));
      }
      const figure = (name: string, rounds: number[], than: number): Figure => ({
        name,
        value: median(rounds),
        unit: "ms",
        against: "node -e 0",
        ratio: median(rounds) / median(bare),
        goal: { op: "<=", than },
        rounds,
      });
      return [
        { name: "binary.size", value: statSync(BINARY).size / 1e6, unit: "MB", against: null, ratio: null, goal: { op: "<=", than: 120 } },
        figure("binary.version", versions, 1.5),
        figure("binary.help", helps, 3),
        figure("binary.serve", serves, 5),
        { name: "binary.idle", value: await idleMb(server), unit: "MB", against: null, ratio: null, goal: { op: "<=", than: 105 } },
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function idleMb(options: StartOptions): Promise<number> {
  const server = startServer(options);
  try {
    if (!(await server.ready())) throw new Error(`The server did not start:\n${server.stderr()}`);
    await new Promise((next) => setTimeout(next, SETTLE_MS));
    return residentMb(server.child.pid as number);
  } finally {
    await server.kill("SIGTERM");
  }
}
