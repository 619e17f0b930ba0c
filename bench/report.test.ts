import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { benches } from "./benches.ts";
import { type Bench, type Figure, median, reached } from "./figure.ts";
import { asLine, asResults, mergeResults } from "./report.ts";

const RUN = fileURLToPath(new URL("run.mjs", import.meta.url));
const run = (...args: string[]) => spawnSync(process.execPath, [RUN, ...args], { encoding: "utf8" });

const faster: Figure = {
  name: "accept.vs-naive",
  value: 12_345.6,
  unit: "sends/s",
  against: "naive server",
  ratio: 12.3,
  goal: { op: ">=", than: 10 },
  rounds: [12_000, 12_345.6, 13_000],
};
const bench: Bench = { name: "accept", meaning: "Sends a second.", run: async () => [faster] };

test("the median is the value in the middle, or between the two in the middle", () => {
  expect(median([3, 100, 1])).toBe(3);
  expect(median([4, 1, 2, 100])).toBe(3);
  expect(median([])).toBeNaN();
});

test("a goal is judged by the ratio, and by the value where there is no ratio", () => {
  expect(reached(faster)).toBe(true);
  expect(reached({ ...faster, ratio: 9.99 })).toBe(false);
  expect(reached({ ...faster, ratio: null, goal: { op: "<", than: 120 }, value: 120 })).toBe(false);
  expect(reached({ ...faster, ratio: null, goal: { op: "<=", than: 0 }, value: 0 })).toBe(true);
  expect(reached({ name: "x", value: 1, unit: "ms", against: null, ratio: null })).toBeNull();
});

test("a line of --json has the five fields and nothing else", () => {
  expect(asLine(faster)).toBe('{"name":"accept.vs-naive","value":12345.6,"unit":"sends/s","against":"naive server","ratio":12.3}');
});

test("the page of results has a section for each bench, with the meaning, the row and the machine", () => {
  const page = asResults([bench], [{ bench: "accept", about: "2 cores", figures: [faster] }]);
  expect(page).toContain("## accept\n\nSends a second.\n");
  expect(page).toContain("| accept.vs-naive | 12,346 sends/s | 12,000 to 13,000 | naive server | 12.3x | >= 10x | yes |");
  expect(page).toContain("<sub>2 cores</sub>");
});

test("a run replaces the results of its own benches, and those of benches that are gone are dropped", () => {
  const result = (name: string, about: string) => ({ bench: name, about, figures: [] });
  const known = [{ name: "accept" }, { name: "tail" }, { name: "drain" }];
  const earlier = [result("drain", "before"), result("gone", "before"), result("tail", "before")];
  expect(mergeResults(known, earlier, [result("tail", "now"), result("accept", "now")])).toEqual([
    result("accept", "now"),
    result("tail", "now"),
    result("drain", "before"),
  ]);
});

test("--list names every benchmark, and an unknown name is refused with the known ones", () => {
  const listed = run("--list");
  expect(listed.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([...benches.map(({ name }) => name), ""]);
  expect(listed.status).toBe(0);
  const unknown = run("acept");
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toBe(`There is no benchmark acept. There are: ${benches.map(({ name }) => name).join(", ")}.\n`);
  expect(run("--jsn").status).toBe(2);
});
