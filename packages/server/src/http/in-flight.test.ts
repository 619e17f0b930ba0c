import { expect, test } from "vitest";
import { InFlightRequests } from "./in-flight.ts";

function setUp() {
  let now = 1000;
  const inFlight = new InFlightRequests({ now: () => now } as ConstructorParameters<typeof InFlightRequests>[0]);
  return { inFlight, pass: (ms: number) => (now += ms) };
}

test("sixteen requests are a crowd until 50 ms after the sixteenth has been answered", () => {
  const { inFlight, pass } = setUp();
  const ends = Array.from({ length: 15 }, () => inFlight.begin());
  expect(inFlight.crowded).toBe(false);
  const last = inFlight.begin();
  expect(inFlight.crowded).toBe(true);
  last.end();
  pass(49);
  expect(inFlight.crowded).toBe(true);
  pass(1);
  expect(inFlight.crowded).toBe(false);
  for (const { end } of ends) end();
  expect(inFlight.count).toBe(0);
});

test("a large body is as much work as several requests once it has come, so that a few batches are a crowd", () => {
  const { inFlight, pass } = setUp();
  const [first, second] = [inFlight.begin(), inFlight.begin()];
  expect([inFlight.count, inFlight.crowded]).toEqual([2, false]);
  first.received(40_000);
  second.received(40_000);
  expect([inFlight.count, inFlight.crowded]).toEqual([2, true]);
  first.end();
  second.end();
  pass(50);
  expect([inFlight.count, inFlight.crowded]).toEqual([0, false]);
});
