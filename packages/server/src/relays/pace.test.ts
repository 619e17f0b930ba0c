import { expect, test } from "vitest";
import { Pace } from "./known-relay.ts";

/** Counts the mails that a pace lets through within `ms`, asking again at each time it returns. */
function countTurns(pace: Pace, clock: { now: number }, ms: number): number {
  const end = clock.now + ms;
  let turns = 0;
  for (let next: number | null = null; clock.now < end; clock.now = next ?? clock.now) {
    next = pace.take("bulk");
    if (next === null) turns += 1;
  }
  return turns;
}

test.each([1, 2, 4])("%i processes together send no more than the relay's pace", (processes) => {
  const clock = { now: 1_000_000 };
  let turns = 0;
  for (let process = 0; process < processes; process += 1) {
    const own = { ...clock };
    turns += countTurns(new Pace({ perSecond: 20, processes: () => processes, now: () => own.now }), own, 60_000);
  }
  // Each process may exceed the pace by one of the mails that it may send at once.
  expect(turns).toBeGreaterThanOrEqual(20 * 60 * 0.95);
  expect(turns).toBeLessThanOrEqual(20 * 60 + 2 * processes);
});

test("a process takes over the share of another one that has ended", () => {
  const clock = { now: 1_000_000 };
  let processes = 2;
  const pace = new Pace({ perSecond: 10, processes: () => processes, now: () => clock.now });
  const shared = countTurns(pace, clock, 60_000);
  processes = 1;
  const alone = countTurns(pace, clock, 60_000);
  expect(alone / shared).toBeGreaterThan(1.9);
  expect(alone / shared).toBeLessThan(2.1);
});
