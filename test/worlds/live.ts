import { type Databases, openDatabases } from "./databases.ts";
import { generate, PAIRS, pairOf } from "./generate.ts";
import { Receivers } from "./receivers.ts";
import { type Report, runScript } from "./run.ts";
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

/** Lives through one world after another, and prints each that fails as the shortest test that fails like it. */
export async function liveThrough({ from, count, minutes, database, log, ...wanted }: Living): Promise<Lived> {
  const receivers = await Receivers.open();
  const databases = database === "postgres" ? await openDatabases() : null;
  const end = performance.now() + minutes * 60_000;
  const pairs = new Set<string>();
  let [worlds, failures] = [0, 0];
  for (let seed = from; worlds < count && performance.now() < end; seed += 1) {
    const pair = pairOf(seed);
    if (pair.noun !== (wanted.noun ?? pair.noun) || pair.disturbance !== (wanted.disturbance ?? pair.disturbance)) continue;
    const script = generate(seed, database);
    const report = await live(script, receivers, databases);
    worlds += 1;
    for (const pair of report.pairs) pairs.add(pair);
    if (report.broken.length === 0) continue;
    failures += 1;
    log(`seed ${seed}:\n${report.broken.map((what) => `  ${what}`).join("\n")}`);
    const [first = ""] = report.broken;
    const kind = first.slice(0, first.indexOf(":"));
    const short = await shrink(script, async (tried) =>
      (await live(tried, receivers, databases)).broken.some((what) => what.startsWith(`${kind}:`)),
    );
    log(toTest(short, (await live(short, receivers, databases)).broken));
  }
  await receivers.close();
  await databases?.close();
  log(`${worlds} worlds, ${failures} failed, ${pairs.size} of ${PAIRS} pairs tried`);
  return { worlds, failures, pairs: pairs.size, allPairs: PAIRS };
}

async function live(script: Script, receivers: Receivers, databases: Databases | null): Promise<Report> {
  const database = await databases?.create();
  try {
    return await runScript(script, receivers, database?.url);
  } finally {
    await database?.drop();
  }
}
