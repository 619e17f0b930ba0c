import { expect, test } from "vitest";
import { parsePastTimeWords, parseTimeWords } from "./time-words.ts";

// A Wednesday.
const NOW = Date.parse("2026-01-28T10:30:00Z");
const parse = (text: string, zone = "UTC"): string | null => {
  const at = parseTimeWords(text, NOW, zone);
  return at === null ? null : new Date(at).toISOString();
};

test.each([
  ["now", "2026-01-28T10:30:00.000Z"],
  ["2026-02-01T09:30:00Z", "2026-02-01T09:30:00.000Z"],
  ["2026-02-01T09:30:00+02:00", "2026-02-01T07:30:00.000Z"],
  ["in 1 hour", "2026-01-28T11:30:00.000Z"],
  ["in an hour", "2026-01-28T11:30:00.000Z"],
  ["in half an hour", "2026-01-28T11:00:00.000Z"],
  ["in 1 min", "2026-01-28T10:31:00.000Z"],
  ["In 1 Hour and 30 minutes", "2026-01-28T12:00:00.000Z"],
  ["in 10m", "2026-01-28T10:40:00.000Z"],
  ["in 1d 2h", "2026-01-29T12:30:00.000Z"],
  ["+1h30m", "2026-01-28T12:00:00.000Z"],
  ["2 weeks from now", "2026-02-11T10:30:00.000Z"],
  ["in 1.5 hours", "2026-01-28T12:00:00.000Z"],
  ["tomorrow", "2026-01-29T10:30:00.000Z"],
  ["tomorrow 9am", "2026-01-29T09:00:00.000Z"],
  ["tomorrow at 9am", "2026-01-29T09:00:00.000Z"],
  ["9am tomorrow", "2026-01-29T09:00:00.000Z"],
  ["tomorrow at 17", "2026-01-29T17:00:00.000Z"],
  ["tomorrow, 5:15 pm", "2026-01-29T17:15:00.000Z"],
  ["today at noon", "2026-01-28T12:00:00.000Z"],
  ["tonight", "2026-01-28T20:00:00.000Z"],
  ["12am tomorrow", "2026-01-29T00:00:00.000Z"],
  ["9am", "2026-01-29T09:00:00.000Z"],
  ["at 11:00", "2026-01-28T11:00:00.000Z"],
  ["friday at 3pm", "2026-01-30T15:00:00.000Z"],
  ["Friday at 3pm ET", "2026-01-30T20:00:00.000Z"],
  ["wednesday 11:00", "2026-01-28T11:00:00.000Z"],
  ["wed 9am", "2026-02-04T09:00:00.000Z"],
  ["next wednesday 11:00", "2026-02-04T11:00:00.000Z"],
  ["on monday at 8:05am", "2026-02-02T08:05:00.000Z"],
  ["2026-02-01 at 09:30", "2026-02-01T09:30:00.000Z"],
  ["in 2 days at 9am", "2026-01-30T09:00:00.000Z"],
  ["2 days from now at 9am", "2026-01-30T09:00:00.000Z"],
  ["next week", "2026-02-04T10:30:00.000Z"],
  ["next week at 9am", "2026-02-04T09:00:00.000Z"],
  ["August 5 at 9am", "2026-08-05T09:00:00.000Z"],
  ["on aug 5th, 9am ET", "2026-08-05T13:00:00.000Z"],
  ["Sept. 1, 2027 at 17:30", "2027-09-01T17:30:00.000Z"],
  ["9am 5th of August", "2026-08-05T09:00:00.000Z"],
  ["January 28 at 10am", "2027-01-28T10:00:00.000Z"],
  ["may 1 at noon", "2026-05-01T12:00:00.000Z"],
])("%j is %s", (text, instant) => {
  expect(parse(text)).toBe(instant);
});

test("times of day are those of the zone, through changes of the clocks", () => {
  expect(parse("tomorrow 9am", "Europe/Berlin")).toBe("2026-01-29T08:00:00.000Z");
  expect(parse("tomorrow 9am America/New_York", "Europe/Berlin")).toBe("2026-01-29T14:00:00.000Z");
  expect(parse("2026-07-01 9am", "Europe/Berlin")).toBe("2026-07-01T07:00:00.000Z");
});

test.each([
  ...["", "soon", "yesterdayish", "in", "in a while", "in 5 parsecs", "tomorrow at 25:00", "tomorrow 13pm", "2026-02-30 9am"],
  ...["august 5", "february 30 at 9am", "augustus 5 at 9am", "mar at 9am", "february 29 2027 at 9am", "5 at 9am", "next year"],
  ...[
    "2026-02-30T09:30:00Z",
    "2026-02-01T09:30:00",
    "2026-02-01",
    "in 999999999999 days",
    "in 99979519 days at 23:59",
    "9",
    "tomorrow tomorrow",
    "friday the 13th",
    "x".repeat(5000),
  ],
])("%j names no time", (text) => {
  expect(parse(text)).toBeNull();
});

// Wednesday, 10:30 in UTC.
const parsePast = (text: string, zone = "UTC", now = NOW): string | null => {
  const at = parsePastTimeWords(text, now, zone);
  return at === null ? null : new Date(at).toISOString();
};

test.each([
  ["now", "2026-01-28T10:30:00.000Z"],
  ["1h", "2026-01-28T09:30:00.000Z"],
  ["an hour ago", "2026-01-28T09:30:00.000Z"],
  ["-15m", "2026-01-28T10:15:00.000Z"],
  ["last 30 minutes", "2026-01-28T10:00:00.000Z"],
  ["the last 2 days", "2026-01-26T10:30:00.000Z"],
  ["1 week ago", "2026-01-21T10:30:00.000Z"],
  ["today", "2026-01-28T00:00:00.000Z"],
  ["yesterday", "2026-01-27T00:00:00.000Z"],
  ["yesterday 9am", "2026-01-27T09:00:00.000Z"],
  ["9am", "2026-01-28T09:00:00.000Z"],
  ["11:00", "2026-01-27T11:00:00.000Z"],
  ["2026-01-05", "2026-01-05T00:00:00.000Z"],
  ["2026-01-05 14:30", "2026-01-05T14:30:00.000Z"],
  ["monday", "2026-01-26T00:00:00.000Z"],
  ["wednesday", "2026-01-28T00:00:00.000Z"],
  ["last wednesday", "2026-01-21T00:00:00.000Z"],
  ["wed 11:00", "2026-01-21T11:00:00.000Z"],
  ["january 5", "2026-01-05T00:00:00.000Z"],
  ["december 24", "2025-12-24T00:00:00.000Z"],
  ["2026-01-28T10:00:00Z", "2026-01-28T10:00:00.000Z"],
])("of the past, %s is read", (text, instant) => {
  expect(parsePast(text)).toBe(instant);
});

test.each(["", "ago", "soon", "in 1h", "1", "5 bananas ago", "2026-02-30", "25:00", "february 30"])(
  "of the past, %j names none",
  (text) => {
    expect(parsePast(text)).toBeNull();
  },
);

test("midnights of the past are those of the zone, also on days when clocks change", () => {
  // In Berlin clocks were put forward on 29 March 2026 and back on 25 October.
  expect(parsePast("today", "Europe/Berlin", Date.parse("2026-03-29T12:00:00Z"))).toBe("2026-03-28T23:00:00.000Z");
  expect(parsePast("yesterday", "Europe/Berlin", Date.parse("2026-03-30T12:00:00Z"))).toBe("2026-03-28T23:00:00.000Z");
  expect(parsePast("2026-10-26", "Europe/Berlin", Date.parse("2026-10-27T12:00:00Z"))).toBe("2026-10-25T23:00:00.000Z");
  expect(parsePast("today", "Pacific/Auckland", Date.parse("2026-01-28T12:00:00Z"))).toBe("2026-01-28T11:00:00.000Z");
});
