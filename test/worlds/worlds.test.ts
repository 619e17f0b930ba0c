import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabases } from "./databases.ts";
import { DISTURBANCES } from "./disturbances.ts";
import { generate, PAIRS, pairOf } from "./generate.ts";
import { VERBS } from "./noun.ts";
import { NOUNS } from "./nouns.ts";
import { listPairs, whySenseless } from "./pairs.ts";
import { Receivers } from "./receivers.ts";
import { runScript } from "./run.ts";
import { shrink, toTest } from "./shrink.ts";

let receivers: Receivers;
const databases = openDatabases();
beforeAll(async () => {
  receivers = await Receivers.open();
});
afterAll(async () => {
  await receivers.close();
  await databases.close();
});

// Some of all kinds of nouns. `npm run worlds` lives through fresh ones.
const SEEDS = [0, 8, 13, 22, 54, 131, 169, 209, 285, 361];

test.each(SEEDS)("everything holds in the world of seed %i", async (seed) => {
  const script = generate(seed, "sqlite");
  const { broken } = await runScript(script, receivers, databases);
  expect(broken, toTest(script, broken)).toEqual([]);
});

test("consecutive seeds try each pair of a noun and a disturbance", () => {
  const pairs = new Set(Array.from({ length: PAIRS }, (_, seed) => Object.values(pairOf(seed)).join(" ")));
  expect(pairs.size).toBe(Object.keys(NOUNS).length * Object.keys(DISTURBANCES).length);
});

test("there are at least 25 nouns and 25 disturbances, and each noun is tried with nearly all of them", () => {
  const [nouns, disturbances] = [Object.keys(NOUNS), Object.keys(DISTURBANCES)];
  expect(nouns.length).toBeGreaterThanOrEqual(25);
  expect(disturbances.length).toBeGreaterThanOrEqual(25);
  // Only calls that the API does not have are left out, and what needs mail that is captured beside what needs mail that is sent.
  const senseless = nouns.flatMap((noun) => disturbances.filter((disturbance) => whySenseless(noun, disturbance) !== null));
  const others = [...new Set(senseless)].filter((name) => !VERBS.some((verb) => verb === name));
  expect(others.sort()).toEqual(["relayDead", "relayRefuses", "relaySlow", "report"]);
  expect(listPairs().length).toBe(nouns.length * disturbances.length - senseless.length);
  expect(listPairs().length).toBeGreaterThanOrEqual(25 * 25);
});

test("a script that fails becomes the shortest one that fails", async () => {
  const script = generate(8, "sqlite");
  const labels = ["crowd-0", "template-3"];
  const made = (steps: typeof script.steps): boolean =>
    labels.every((label) => steps.some((step) => step.do === "make" && step.as === label));
  const short = await shrink(script, async ({ steps }) => made(steps));
  expect(short.steps.map((step) => (step.do === "make" ? step.as : step.do))).toEqual(labels);
});
