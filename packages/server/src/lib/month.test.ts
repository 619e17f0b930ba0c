import { expect, test } from "vitest";
import { addMonth } from "./month.ts";

test.each([
  ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"],
  ["2026-01-31T23:59:59.999Z", "2026-02-28T23:59:59.999Z"],
  ["2028-01-30T12:00:00.000Z", "2028-02-29T12:00:00.000Z"],
  ["2026-12-31T00:00:00.000Z", "2027-01-31T00:00:00.000Z"],
  ["2026-03-28T01:30:00.000Z", "2026-04-28T01:30:00.000Z"],
])("a month after %s is %s", (from, to) => {
  expect(new Date(addMonth(Date.parse(from))).toISOString()).toBe(to);
});
