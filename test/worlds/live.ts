import { openDatabases } from "./databases.ts";
import { generate, PAIRS, pairOf } from "./generate.ts";
import { Receivers } from "./receivers.ts";
import { runScript } from "./run.ts";
import type { Script } from "./script.ts";
import { shrink, toTest } from "./shrink.ts";

export interface Living {
  /** The first seed; those after it follow. */
  readonly from: number;
  readonly count: number;
  /** How long at most. */
  readonly minutes: number;
  readonly database: Script["database"];
  /** Only worlds of this noun, or this disturbance, in the pair of their seed. */
  readonly noun?: string | undefined;
  readonly disturbance?: string | undefined;
  readonly log: (line: string) => void;
}

/** What a long run came to. */
export interface Lived {
  readonly worlds: number;
  readonly failures: number;
  /** The pairs of a noun and a disturbance that were tried, of all that there are. */
  readonly pairs: number;
  readonly allPairs: number;
}

/** What the first world that fails has shown; empty if none did. */
interface Found {
  readonly worlds: number;
  readonly seconds: number;
  readonly broken: readonly string[];
}

/** Lives through one world after another, and prints each that fails as the shortest test that fails like it. */
export async function liveThrough({ from, count, minutes, database, log, ...wanted }: Living): Promise<Lived> {
  const receivers = await Receivers.open();
  const databases = openDatabases();
  const end = performance.now() + minutes * 60_000;
  const pairs = new Set<string>();
  let [worlds, failures] = [0, 0];
  for (let seed = from; worlds < count && performance.now() < end; seed += 1) {
    const pair = pairOf(seed);
    if (pair.noun !== (wanted.noun ?? pair.noun) || pair.disturbance !== (wanted.disturbance ?? pair.disturbance)) continue;
    const script = generate(seed, database);
    const report = await runScript(script, receivers, databases);
    worlds += 1;
    for (const pair of report.pairs) pairs.add(pair);
    if (report.broken.length === 0) continue;
    failures += 1;
    log(`seed ${seed}:\n${report.broken.map((what) => `  ${what}`).join("\n")}`);
    const [first = ""] = report.broken;
    const kind = first.slice(0, first.indexOf(":"));
    const short = await shrink(script, async (tried) =>
      (await runScript(tried, receivers, databases)).broken.some((what) => what.startsWith(`${kind}:`)),
    );
    log(toTest(short, (await runScript(short, receivers, databases)).broken));
  }
  await receivers.close();
  await databases.close();
  log(`${worlds} worlds, ${failures} failed, ${pairs.size} of ${PAIRS} pairs tried`);
  return { worlds, failures, pairs: pairs.size, allPairs: PAIRS };
}

/** Lives through worlds until one fails, and tells what does not hold in it. */
export async function findFirst({ from, minutes, database }: Pick<Living, "from" | "minutes" | "database">): Promise<Found> {
  const receivers = await Receivers.open();
  const databases = openDatabases();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  let worlds = 0;
  let broken: readonly string[] = [];
  for (; broken.length === 0 && seconds() < minutes * 60; worlds += 1)
    ({ broken } = await runScript(generate(from + worlds, database), receivers, databases));
  await receivers.close();
  await databases.close();
  return { worlds, seconds: seconds(), broken };
}
