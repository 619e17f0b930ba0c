import { posix } from "node:path";
import { expect, test } from "vitest";
import { importsOf } from "./support/imports.ts";
import { sources } from "./support/sources.ts";

// A file is one noun of 100 to 300 lines. What only its neighbour imports is part of that. Some remain; the numbers may only go down.

/** Files imported by one file alone, of the same folder, that would have at most 300 lines with it. */
const MOST_FRAGMENTS: Readonly<Record<string, number>> = { server: 62, sdk: 8, cli: 20, "agent-kit": 4, dashboard: 20 };

/** Files with less than 30 lines, in per cent. */
const MOST_SHORT: Readonly<Record<string, number>> = { server: 11, sdk: 17, cli: 11, "agent-kit": 18, dashboard: 18 };

const JOINED = 300;
const SHORT = 30;

const isSource = (path: string): boolean => /^packages\/[^/]+\/src\//.test(path) && !/\.(test|laws|generated|d)\.tsx?$/.test(path);
const linesOf = (path: string): number => (sources.get(path) ?? "").split("\n").length - 1;

const ours = [...sources.keys()].filter(isSource);
const importers = new Map<string, Set<string>>();
for (const path of ours)
  for (const { to } of importsOf(path, sources.get(path) ?? "")) importers.set(to, (importers.get(to) ?? new Set()).add(path));

/** A file with more of them is a list, such as that of the steps of automations: its files stay apart. */
const LISTED = 5;

const listFragments = (files: readonly string[]): string[] => {
  const found = files.flatMap((path) => {
    const [only, ...others] = importers.get(path) ?? [];
    if (only === undefined || others.length > 0 || posix.dirname(only) !== posix.dirname(path)) return [];
    return linesOf(path) + linesOf(only) <= JOINED ? [{ path, only }] : [];
  });
  const byImporter = Map.groupBy(found, ({ only }) => only);
  return [...byImporter.values()]
    .filter((some) => some.length <= LISTED)
    .flatMap((some) => some.map(({ path, only }) => `${path} -> ${posix.basename(only)}`));
};

test.each(Object.keys(MOST_FRAGMENTS))("files of %s are nouns, not fragments", (name) => {
  const files = ours.filter((path) => path.startsWith(`packages/${name}/`));
  expect(files.length).toBeGreaterThan(50);
  const fragments = listFragments(files);
  expect(fragments.length, `Join one of these:\n${fragments.join("\n")}`).toBeLessThanOrEqual(MOST_FRAGMENTS[name] as number);
  const short = files.filter((path) => linesOf(path) < SHORT);
  expect((100 * short.length) / files.length).toBeLessThanOrEqual(MOST_SHORT[name] as number);
});
