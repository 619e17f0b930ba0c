import { expect, test } from "vitest";
import { computeAllowance, findOpening } from "./sending.ts";

const at = (text: string): number => Date.parse(text);
const berlin = { start: "09:00", end: "17:00", timeZone: "Europe/Berlin" };

test("without a throttle everything goes at once", () => {
  expect(computeAllowance(null, null, 5, 500)).toEqual({ count: 500, nextAt: 5 });
});

test.each([
  [10, 10, 1000],
  [2.5, 2, 800],
  [0.1, 1, 10_000],
  [10_000, 500, 50],
])("%d per second are %d emails, and the next ones %d ms later", (perSecond, count, wait) => {
  expect(computeAllowance({ perSecond }, null, 7000, 500)).toEqual({ count, nextAt: 7000 + wait });
  expect(computeAllowance({ perSecond }, 7000 + wait, 7000 + wait - 1, 500)).toEqual({ count: 0, nextAt: 7000 + wait });
});

test("after an hour of downtime no more go at once than in any second", () => {
  expect(computeAllowance({ perSecond: 10 }, 1000, 3_601_000, 500).count).toBe(10);
});

test.each([
  ["before it opens", "2026-01-10T07:59:59Z", "2026-01-10T08:00:00Z"],
  ["while it is open", "2026-01-10T15:59:59Z", "2026-01-10T15:59:59Z"],
  ["when it closes", "2026-01-10T16:00:00Z", "2026-01-11T08:00:00Z"],
  // The clocks are put forward in the night: 09:00 comes 23 hours after the last one.
  ["over the night in which spring begins", "2026-03-28T16:00:00Z", "2026-03-29T07:00:00Z"],
  ["over the night in which it ends", "2026-10-24T15:00:00Z", "2026-10-25T08:00:00Z"],
])("a window %s", (_name, now, opening) => {
  expect(findOpening(berlin, at(now))).toBe(at(opening));
});

test("a window over midnight, whose start the clocks jump over", () => {
  const night = { start: "22:00", end: "06:00", timeZone: "Europe/Berlin" };
  expect(findOpening(night, at("2026-01-10T23:30:00Z"))).toBe(at("2026-01-10T23:30:00Z"));
  expect(findOpening(night, at("2026-01-10T12:00:00Z"))).toBe(at("2026-01-10T21:00:00Z"));
  const early = { start: "02:30", end: "02:45", timeZone: "Europe/Berlin" };
  // 02:30 to 02:45 do not exist on that day; the clocks show 03:00, after it: the window opens on the next day.
  expect(findOpening(early, at("2026-03-29T01:00:00Z"))).toBe(at("2026-03-30T00:30:00Z"));
});

test("a window and a rate hold together", () => {
  const throttle = { perSecond: 5, window: berlin };
  expect(computeAllowance(throttle, null, at("2026-01-10T16:00:00Z"), 100)).toEqual({ count: 0, nextAt: at("2026-01-11T08:00:00Z") });
  expect(computeAllowance(throttle, at("2026-01-10T16:00:01Z"), at("2026-01-11T08:00:00Z"), 100).count).toBe(5);
});
