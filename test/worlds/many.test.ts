import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabases } from "./databases.ts";
import { generate } from "./generate.ts";
import { Receivers } from "./receivers.ts";
import { runScript } from "./run.ts";
import type { Script } from "./script.ts";
import { toTest } from "./shrink.ts";

let receivers: Receivers;
const databases = openDatabases();
beforeAll(async () => {
  receivers = await Receivers.open();
});
afterAll(async () => {
  await receivers.close();
  await databases.close();
});

/** So many worlds that each database takes about half a minute of an idle core. The step leads through nouns and disturbances alike. */
const MANY: readonly (readonly [database: Script["database"], seed: number])[] = [
  ...Array.from({ length: 12 }, (_, i) => ["sqlite", 100_000 + i * 106] as const),
  ...Array.from({ length: 4 }, (_, i) => ["postgres", 200_000 + i * 106] as const),
];

test.each(MANY)("on %s everything holds in the world of seed %i", async (database, seed) => {
  const script = generate(seed, database);
  const { broken } = await runScript(script, receivers, databases);
  expect(broken, toTest(script, broken)).toEqual([]);
});
