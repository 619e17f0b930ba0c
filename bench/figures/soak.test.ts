import { expect, test } from "vitest";
import { benches } from "../benches.ts";
import { type Observed, toFigures } from "./soak.ts";

const start = { requests: 0, resident: 160, heap: 60 };

/** Samples after this many requests: 300 MB resident, of which half is held. */
function observe(requests: number, held: number): Observed {
  const sample = (resident: number, heap: number) => ({ requests, resident, heap });
  return {
    resident: [sample(295, 170), sample(300, 170), sample(307, 170)],
    held: [sample(held, 30), sample(held + 3, 30), sample(held, 30)],
  };
}

function readValue(name: string, figures: ReturnType<typeof toFigures>): number | undefined {
  return figures.find((figure) => figure.name === name)?.value;
}

test("the slope is what is held more for each request, times the requests of an hour at 150 a second", () => {
  // 100 bytes held for each request, outside of the JavaScript heap.
  const figures = toFigures(start, observe(150_000, 150), observe(250_000, 150 + (100_000 * 100) / 2 ** 20));
  expect(readValue("soak.slope", figures)).toBeCloseTo((100 * 150 * 3600) / 2 ** 20, 5);
  expect(readValue("soak.slope.heap", figures)).toBe(0);
  expect([readValue("soak.start", figures), readValue("soak.warm", figures), readValue("soak.end", figures)]).toEqual([160, 300, 300]);
});

test("long benchmarks run only when they are named", () => {
  const names = benches.filter(({ onlyByName }) => onlyByName).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["lists", "soak"]));
  expect(names).not.toContain("accept");
});
