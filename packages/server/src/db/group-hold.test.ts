import { expect, test } from "vitest";
import { GroupHold } from "./group-hold.ts";

test("a group waits as long as each turn brings more callers", () => {
  const hold = new GroupHold({ maxSize: 100 });
  expect([8, 9, 20, 20].map((size) => hold.waits(size, 1))).toEqual([true, true, true, false]);
});

test("a group of fewer than eight callers does not wait, and a full one does not either", () => {
  for (const size of [1, 7, 100, 200]) expect([size, new GroupHold({ maxSize: 100 }).waits(size, 0)]).toEqual([size, false]);
});

test("a group is sent when its first caller has waited for the limit, however much it grows", () => {
  expect(new GroupHold({ maxSize: 100 }).waits(50, 9.9)).toBe(true);
  expect(new GroupHold({ maxSize: 100 }).waits(50, 10)).toBe(false);
  expect(new GroupHold({ maxSize: 100, maxMs: 50 }).waits(50, 49)).toBe(true);
});

test("callers left by a group that was taken do not count as growth", () => {
  const hold = new GroupHold({ maxSize: 10 });
  expect(hold.waits(18, 0)).toBe(false);
  hold.taken(8);
  expect(hold.waits(8, 0)).toBe(false);
  hold.taken(0);
  expect(hold.waits(8, 0)).toBe(true);
});

test("turns that are to be short hold back any group, up to the limit", () => {
  const hold = new GroupHold({ maxSize: 10 });
  expect(hold.waits(1, 0, { short: true })).toBe(true);
  expect(hold.waits(1, 9, { short: true })).toBe(true);
  expect(hold.waits(1, 10, { short: true })).toBe(false);
  expect(hold.waits(1, 11)).toBe(false);
});
