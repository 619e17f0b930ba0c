import fc from "fast-check";
import { expect, test } from "vitest";
import { findNextTimeOfDay, toLocalTime } from "./time-zone.ts";

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"];

const next = (from: string, time: string, zone: string): string => {
  const [h = 0, m = 0] = time.split(":").map(Number);
  return new Date(findNextTimeOfDay(Date.parse(from), h * 60 + m, zone)).toISOString();
};

test.each([
  ["on an ordinary day", "2026-01-10T00:00:00Z", "09:00", "Europe/Berlin", "2026-01-10T08:00:00.000Z"],
  ["in summer", "2026-07-10T00:00:00Z", "09:00", "Europe/Berlin", "2026-07-10T07:00:00.000Z"],
  ["on the next day", "2026-01-10T08:00:00.001Z", "09:00", "Europe/Berlin", "2026-01-11T08:00:00.000Z"],
  ["at once", "2026-01-10T08:00:00Z", "09:00", "Europe/Berlin", "2026-01-10T08:00:00.000Z"],
  // The clocks go from 02:00 to 03:00 at 01:00 UTC.
  ["in the hour that spring skips", "2026-03-29T00:00:00Z", "02:30", "Europe/Berlin", "2026-03-29T01:00:00.000Z"],
  ["on the day after the skipped hour", "2026-03-29T01:00:00.001Z", "02:30", "Europe/Berlin", "2026-03-30T00:30:00.000Z"],
  // 02:30 is shown at 00:30 and at 01:30 UTC.
  ["in the hour that autumn repeats", "2026-10-25T00:00:00Z", "02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
  ["in its second half", "2026-10-25T00:45:00Z", "02:30", "Europe/Berlin", "2026-10-25T01:30:00.000Z"],
  ["half an hour skipped", "2026-10-03T12:00:00Z", "02:15", "Australia/Lord_Howe", "2026-10-03T15:30:00.000Z"],
  // Samoa had no 30 December 2011: its clocks jumped over a whole day.
  ["on a date that does not exist", "2011-12-30T09:59:00Z", "12:00", "Pacific/Apia", "2011-12-30T10:00:00.000Z"],
  ["on the date after it", "2011-12-30T10:00:00.001Z", "12:00", "Pacific/Apia", "2011-12-30T22:00:00.000Z"],
])("the next time of day %s", (_name, from, time, zone, expected) => {
  expect(next(from, time, zone)).toBe(expected);
});

test("the next time of day is never before the start, at most two days later, and shown by the clock unless they jump over it", () => {
  const start = Date.parse("2026-01-01T00:00:00Z");
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      fc.integer({ min: 0, max: 365 * 1440 }),
      fc.integer({ min: 0, max: 1439 }),
      (zone, offset, minutes) => {
        const from = start + offset * 60_000;
        const at = findNextTimeOfDay(from, minutes, zone);
        expect(at).toBeGreaterThanOrEqual(from);
        expect(at - from).toBeLessThan(26 * 3_600_000);
        const shown = toLocalTime(at, zone).minutes;
        if (shown === minutes) return;
        // The minute before it shows an earlier time: the clocks jumped over it.
        expect(shown).toBeGreaterThan(minutes);
        expect(toLocalTime(at - 60_000, zone).minutes).toBeLessThan(minutes);
      },
    ),
    { numRuns: 300 },
  );
});
