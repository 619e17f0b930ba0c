import { openDatabases } from "./databases.ts";
import { generate, PAIRS, pairOf } from "./generate.ts";
import { chooseAim, listPairs, noteTried, readTried, whySenseless } from "./pairs.ts";
import type { Part } from "./processes.ts";
import { Receivers } from "./receivers.ts";
import { type Report, runScript } from "./run.ts";
import { picker, type Script } from "./script.ts";
import { shrink, toTest } from "./shrink.ts";

export interface Living {
  /** The first seed; those after it follow. */
  readonly from: number;
  readonly count: number;
  /** Time limit. */
  readonly minutes: number;
  readonly database: Script["database"];
  /** Only worlds of this noun, or this disturbance, in the pair of their seed. */
  readonly noun?: string | undefined;
  readonly disturbance?: string | undefined;
  /** A file of the pairs that were tried, to which each world adds its own. Each world aims at several that are not in it. */
  readonly untried?: string | undefined;
  readonly log: (line: string) => void;
}

/** Learns the seed of a world that begins. */
type Begins = (seed: number) => void;

/** Result of a long run. */
interface Lived {
  readonly worlds: number;
  readonly failures: number;
  /** The pairs of the seeds that were never tried, although they make sense. */
  readonly missing: readonly string[];
}

/** Every `of`-th seed of those that are wanted, beginning with the number `which`. */
export interface Share {
  readonly which: number;
  readonly of: number;
}

/** Faults of the first world that fails; empty if none did. */
export interface Found {
  readonly worlds: number;
  readonly seconds: number;
  readonly broken: readonly string[];
}

/** Lives through worlds of scripts, as many as one wants. */
interface Lives {
  live(script: Script): Promise<Report>;
  close(): Promise<void>;
}

// Further worlds to try for a pair whose thing the first one could not make.
const ATTEMPTS = 5;

interface Aimed {
  readonly seed: number;
  readonly script: Script;
  /** The pairs that it is to try, as `noun disturbance`. */
  readonly due: readonly string[];
}

/**
 * Lives through one world after another, and prints each that fails as the shortest test that fails like it. A pair that its own world could
 * not try, because the service refused to make its thing, gets others.
 */
export async function livePart({ from, count, minutes, database, log, ...wanted }: Living, share: Share, begins: Begins): Promise<Part> {
  const lives = await open();
  const end = performance.now() + minutes * 60_000;
  const [tried, due] = [new Set<string>(), new Set<string>()];
  let [worlds, failures] = [0, 0];
  const liveThroughOne = async ({ seed, script }: Aimed): Promise<void> => {
    begins(seed);
    const report = await lives.live(script);
    worlds += 1;
    for (const pair of report.pairs) tried.add(pair);
    if (wanted.untried) noteTried(wanted.untried, report.pairs);
    if (report.broken.length === 0) return;
    failures += 1;
    log(`seed ${seed}:\n${report.broken.map((what) => `  ${what}`).join("\n")}`);
    log(await shorten(script, report, lives));
  };
  const { untried, ...about } = wanted;
  const scripts = untried
    ? listUntried({ from, database, untried, ...about }, share)
    : listScripts({ from, database, ...about, tried }, share);
  for (const one of scripts) {
    if (worlds >= count || performance.now() >= end) break;
    for (const pair of one.due) due.add(pair);
    await liveThroughOne(one);
  }
  await lives.close();
  return { worlds, failures, due: [...due], tried: [...tried] };
}

type About = Pick<Living, "from" | "database" | "noun" | "disturbance">;

/** A script of each seed, and others for a pair that its own world did not try. */
function* listScripts({ tried, database, ...about }: About & { readonly tried: ReadonlySet<string> }, share: Share): Generator<Aimed> {
  for (const seed of listSeeds(about, share)) {
    const { noun, disturbance } = pairOf(seed);
    const pair = `${noun} ${disturbance}`;
    const due = whySenseless(noun, disturbance) === null ? [pair] : [];
    yield { seed, script: generate(seed, database), due };
    for (let i = 1; i <= ATTEMPTS && due.length > 0 && !tried.has(pair); i += 1)
      yield { seed: seed + i * PAIRS, script: generate(seed + i * PAIRS, database), due };
  }
}

/** Scripts that aim at pairs which the file of those that were tried lacks, until it lacks none, or only such as no attempt could try. */
function* listUntried(
  { from, database, noun, disturbance, untried }: About & { readonly untried: string },
  { which, of }: Share,
): Generator<Aimed> {
  const attempts = new Map<string, number>();
  for (let seed = from + which; ; seed += of) {
    const tried = readTried(untried);
    const left = listPairs().filter((pair) => {
      const [ownNoun, ownDisturbance] = pair.split(" ");
      const isWanted = (noun ?? ownNoun) === ownNoun && (disturbance ?? ownDisturbance) === ownDisturbance;
      return isWanted && !tried.has(pair) && (attempts.get(pair) ?? 0) <= ATTEMPTS;
    });
    const aim = chooseAim(left, picker(seed));
    if (aim === null) return;
    const happens = new Set(aim.deeds.map((deed) => deed.disturbance));
    const due = left.filter((pair) => {
      const [ownNoun = "", ownDisturbance = ""] = pair.split(" ");
      return aim.nouns.includes(ownNoun) && happens.has(ownDisturbance);
    });
    for (const pair of due) attempts.set(pair, (attempts.get(pair) ?? 0) + 1);
    yield { seed, script: generate(seed, database, aim), due };
  }
}

/** The seeds of a share, without end: of those whose pair is about the noun and the disturbance that are wanted, every `of`-th one. */
function* listSeeds({ from, noun, disturbance }: Pick<Living, "from" | "noun" | "disturbance">, { which, of }: Share): Generator<number> {
  for (let [seed, n] = [from, 0]; ; seed += 1) {
    const pair = pairOf(seed);
    if (n === 0 && seed - from > PAIRS)
      throw new Error(`There is no pair of ${noun ?? "any noun"} and ${disturbance ?? "any disturbance"}.`);
    if (pair.noun !== (noun ?? pair.noun) || pair.disturbance !== (disturbance ?? pair.disturbance)) continue;
    if (n % of === which) yield seed;
    n += 1;
  }
}

/** Puts together what several processes have lived through. */
export function sumUp(parts: readonly Part[], log: (line: string) => void): Lived {
  const [tried, due] = [new Set(parts.flatMap((part) => part.tried)), new Set(parts.flatMap((part) => part.due))];
  const [worlds, failures] = [parts.reduce((all, part) => all + part.worlds, 0), parts.reduce((all, part) => all + part.failures, 0)];
  const missing = [...due].filter((pair) => !tried.has(pair));
  log(`${worlds} worlds, ${failures} failed, ${tried.size} of ${listPairs().length} pairs tried`);
  if (missing.length > 0) log(`not tried: ${missing.join(", ")}`);
  return { worlds, failures, missing };
}

/** Lives through worlds until one fails, and tells what does not hold in it. */
export async function findFirst(
  { from, minutes, database, ...wanted }: Pick<Living, "from" | "minutes" | "database" | "noun" | "disturbance">,
  share: Share,
  begins: Begins,
): Promise<Found> {
  const lives = await open();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  let worlds = 0;
  let broken: readonly string[] = [];
  for (const seed of listSeeds({ from, ...wanted }, share)) {
    if (broken.length > 0 || seconds() >= minutes * 60) break;
    begins(seed);
    ({ broken } = await lives.live(generate(seed, database)));
    worlds += 1;
  }
  await lives.close();
  return { worlds, seconds: seconds(), broken };
}

/** Lives through the world of one script. Returns what does not hold. If that is to be printed, it is as the shortest test that fails like it. */
export async function liveOnce(script: Script, log?: (line: string) => void): Promise<readonly string[]> {
  const lives = await open();
  const report = await lives.live(script);
  if (log && report.broken.length > 0) log(await shorten(script, report, lives));
  await lives.close();
  return report.broken;
}

async function shorten(script: Script, { broken: [first = ""] }: Report, { live }: Lives): Promise<string> {
  const kind = first.slice(0, first.indexOf(":"));
  const short = await shrink(script, async (tried) => (await live(tried)).broken.some((what) => what.startsWith(`${kind}:`)));
  return toTest(short, (await live(short)).broken);
}

async function open(): Promise<Lives> {
  const receivers = await Receivers.open();
  const databases = openDatabases();
  return {
    live: (script) => runScript(script, receivers, databases),
    close: async () => {
      await receivers.close();
      await databases.close();
    },
  };
}
