import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { DISTURBANCES } from "./disturbances.ts";
import { VERBS, type Verb } from "./noun.ts";
import { NOUNS } from "./nouns.ts";
import type { Script } from "./script.ts";

/** The way of mail in worlds whose first noun or disturbance needs that. */
export const DELIVERED_BY: Readonly<Record<string, Script["delivery"]>> = {
  relay: "relay",
  reply: "captured",
  relayDead: "relay",
  relaySlow: "relay",
  relayRefuses: "relay",
  report: "captured",
};

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

/** The pairs that a disturbance of a thing tries: what is done to a thing concerns its noun, all else everything that a world has. */
export function pairsOf(disturbance: string, on: string, nouns: Iterable<string>): readonly string[] {
  if (isVerb(disturbance)) return whySenseless(on, disturbance) === null ? [`${on} ${disturbance}`] : [];
  return [...nouns].map((noun) => `${noun} ${disturbance}`);
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
