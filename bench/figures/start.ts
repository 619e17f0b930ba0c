import { mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../test/support/server.ts";
import { type Bench, median } from "../figure.ts";
import { bareNode } from "../runs.ts";

const ROUNDS = 11;

/** How long a cold start takes. */
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
      await firstAnswer(join(folder, "existing"));
      for (let i = 0; i < ROUNDS; i++) {
        bare.push(await bareNode());
        existing.push(await firstAnswer(join(folder, "existing")));
        fresh.push(await firstAnswer(join(folder, `fresh-${i}`)));
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

function status(url: string): Promise<number> {
  return new Promise((done, failed) => {
    get(`${url}/readyz`, { agent: false }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    }).on("error", failed);
  });
}

/** From the start of the process to the first 200, in ms. */
async function firstAnswer(data: string): Promise<number> {
  const from = performance.now();
  const server = startServer({ data, flags: ["--dev"] });
  const ready = await server.ready();
  if (!ready) throw new Error(`The server did not start:\n${server.stderr()}`);
  const code = await status(ready.url);
  const took = performance.now() - from;
  await server.kill("SIGTERM");
  if (code !== 200) throw new Error(`/readyz answered ${code}.`);
  return took;
}
