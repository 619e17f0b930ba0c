import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { DISTURBANCES } from "./disturbances.ts";
import { VERBS, type Verb } from "./noun.ts";
import { NOUNS } from "./nouns.ts";
import type { Pick, Script } from "./script.ts";

/** A noun, and what happens to a world that has one. */
export interface Pair {
  readonly noun: string;
  readonly disturbance: string;
}

/** The nouns that a world is to have, and what is to happen to it, in order: each deed to the thing of its noun. */
export interface Aim {
  readonly nouns: readonly string[];
  readonly deeds: readonly Pair[];
}

/** The way of mail in worlds whose nouns or disturbances need that. */
const DELIVERED_BY: Readonly<Record<string, Script["delivery"]>> = {
  relay: "relay",
  reply: "captured",
  answerable: "captured",
  passedOn: "captured",
  relayDead: "relay",
  relaySlow: "relay",
  relayRefuses: "relay",
  report: "captured",
};

/** The way of mail that nouns and deeds need; null if they need none. */
export function deliveryOf(nouns: readonly string[], deeds: readonly Pair[]): Script["delivery"] | null {
  return [...nouns, ...deeds.map(({ disturbance }) => disturbance)].flatMap((name) => DELIVERED_BY[name] ?? [])[0] ?? null;
}

const isVerb = (disturbance: string): disturbance is Verb => VERBS.some((verb) => verb === disturbance);

/** Tells why a disturbance makes no sense for a noun; null if it does, so that the pair is to be tried. */
export function whySenseless(noun: string, disturbance: string): string | null {
  if (isVerb(disturbance) && !NOUNS[noun]?.verbs[disturbance]) return `The API has no call that does "${disturbance}" to a ${noun}.`;
  const [needed, wanted] = [DELIVERED_BY[noun], DELIVERED_BY[disturbance]];
  if (needed && wanted && needed !== wanted) return `A ${noun} needs mail that is ${needed === "relay" ? "sent" : "captured"}.`;
  return null;
}

/** All pairs that a long run is to try, as `noun disturbance`. */
export function listPairs(): readonly string[] {
  return Object.keys(NOUNS).flatMap((noun) =>
    Object.keys(DISTURBANCES).flatMap((disturbance) => (whySenseless(noun, disturbance) === null ? `${noun} ${disturbance}` : [])),
  );
}

/** The pairs that a disturbance tries beside what it does to single things: it concerns everything that a world has. */
export function pairsOf(disturbance: string, nouns: Iterable<string>): readonly string[] {
  return isVerb(disturbance) ? [] : [...nouns].map((noun) => `${noun} ${disturbance}`);
}

/** Nouns and disturbances of a world that tries many pairs: enough to be quick, few enough to be understood when it fails. */
const [NOUNS_AT_ONCE, DISTURBANCES_AT_ONCE] = [8, 5];

/** Disturbances that end a thing come after all others. */
const TURNS: readonly string[] = ["pause", "pauseSending", "resume", "cancel", "delete"];

/** Chooses nouns that lack the same disturbance, and what else they lack most, so that one world tries many pairs. Null if none is left. */
export function chooseAim(untried: readonly string[], pick: Pick): Aim | null {
  const pairs = shuffle(untried, pick).map((pair): Pair => {
    const [noun = "", disturbance = ""] = pair.split(" ");
    return { noun, disturbance };
  });
  const deeds = pairs.filter(({ disturbance }) => isVerb(disturbance));
  const others = pairs.filter(({ disturbance }) => !isVerb(disturbance));
  if (pairs.length === 0) return null;
  const begun = others.length === 0 ? deeds : pick.of(...group(others).slice(0, DISTURBANCES_AT_ONCE));
  const delivery = deliveryOf(
    begun.slice(0, 1).map(({ noun }) => noun),
    begun.slice(0, 1),
  );
  const fits = (pair: Pair): boolean => [null, delivery ?? null].includes(deliveryOf([pair.noun], [pair]));
  const nouns = [...new Set(begun.filter(fits).map(({ noun }) => noun))].slice(0, NOUNS_AT_ONCE);
  const lacks = (pair: Pair): boolean => nouns.includes(pair.noun) && fits(pair);
  const chosen = group(others.filter(lacks)).slice(0, DISTURBANCES_AT_ONCE);
  const own = deeds.filter(lacks);
  // Only what waits can be paused or cancelled.
  const waiting = own.filter(({ disturbance }) => TURNS.includes(disturbance)).map(({ noun }) => ({ noun, disturbance: "pauseSending" }));
  const all = [...chosen.flatMap((same) => same.slice(0, 1)), ...waiting.slice(0, 1), ...own];
  return { nouns, deeds: all.sort((one, other) => TURNS.indexOf(one.disturbance) - TURNS.indexOf(other.disturbance)) };
}

/** Pairs by their disturbance, the largest group first. */
const group = (pairs: readonly Pair[]): readonly (readonly Pair[])[] =>
  [...Map.groupBy(pairs, ({ disturbance }) => disturbance).values()].sort((one, other) => other.length - one.length);

function shuffle<T>(values: readonly T[], pick: Pick): readonly T[] {
  return values
    .map((value) => ({ value, at: pick.int(0, 1_000_000) }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

/** The pairs that worlds of earlier runs, and of processes beside this one, have tried: the lines of a file. */
export function readTried(file: string): ReadonlySet<string> {
  return new Set(existsSync(file) ? readFileSync(file, "utf8").split("\n") : []);
}

/** Adds pairs that a world has tried to a file. */
export function noteTried(file: string, pairs: ReadonlySet<string>): void {
  const known = readTried(file);
  appendFileSync(file, [...pairs].flatMap((pair) => (known.has(pair) ? [] : `${pair}\n`)).join(""));
}
