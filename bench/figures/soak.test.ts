import { expect, test } from "vitest";
import { benches } from "../benches.ts";
import { lists, listsOnPostgres } from "./lists.ts";
import { soak, toFigures } from "./soak.ts";

const start = { requests: 0, resident: 160, heap: 60 };

function readValue(name: string, figures: ReturnType<typeof toFigures>): number | undefined {
  return figures.find((figure) => figure.name === name)?.value;
}

test("the slope is the growth for each request, times the requests of an hour at 150 a second", () => {
  // 100 bytes held for each request, outside of the JavaScript heap.
  const samples = Array.from({ length: 60 }, (_, i) => ({ requests: i * 1200, resident: 300 + (i * 1200 * 100) / 2 ** 20, heap: 170 }));
  const figures = toFigures(start, samples);
  expect(readValue("soak.slope", figures)).toBeCloseTo((100 * 150 * 3600) / 2 ** 20, 5);
  expect(readValue("soak.slope.heap", figures)).toBe(0);
  expect(readValue("soak.start", figures)).toBe(160);
});

test("garbage collections between the samples do not count as growth", () => {
  const samples = Array.from({ length: 60 }, (_, i) => ({ requests: i * 1200, resident: 300 + (i % 10), heap: 170 + (i % 10) }));
  expect(Math.abs(readValue("soak.slope", toFigures(start, samples)) ?? Number.NaN)).toBeLessThan(5);
});

test("a soak with hardly any samples fails", () => {
  expect(() => toFigures(start, [start, start])).toThrow("The soak was too short: 2 samples.");
});

test("long benchmarks run only when they are named", () => {
  expect(benches.filter(({ onlyByName }) => onlyByName)).toEqual([lists, listsOnPostgres, soak]);
});
