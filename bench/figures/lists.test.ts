import { expect, test } from "vitest";
import { reached } from "../figure.ts";
import { toListFigures } from "./lists.ts";

const few = new Map([
  ["/api/v1/emails", 2],
  ["/api/v1/emails?status=bounced", 4],
  ["/api/v1/marketplace/listings/bench/deliveries?state=dead", 1],
]);

test("lists of a noun are compared together, and the slowest of all is shown", () => {
  const many = new Map([...few].map(([path, ms]) => [path, path.includes("emails") ? ms * 1.5 : 2]));
  const figures = toListFigures("lists", few, many);
  expect(figures.map(({ name, value, ratio }) => [name, value, ratio])).toEqual([
    ["lists.emails", 4.5, 1.5],
    ["lists.deliveries", 2, 2],
    ["lists.slowest", 6, null],
  ]);
  expect(figures.map(reached)).toEqual([true, false, true]);
});

test("a single list of 20 ms misses the goal", () => {
  const many = new Map([...few, ["/api/v1/jobs", 20]]);
  expect(reached(toListFigures("lists", many, many).at(-1) as ReturnType<typeof toListFigures>[number])).toBe(false);
});
