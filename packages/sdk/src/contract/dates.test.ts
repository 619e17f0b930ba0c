import { expect, test } from "vitest";
import { explainMissingDate, Instant, LocalDate } from "./index.ts";

test.each([
  ["2026-02-30", "There is no 2026-02-30: that month has 28 days."],
  ["2026-02-29T09:00:00Z", "There is no 2026-02-29: that month has 28 days."],
  ["2028-02-30 09:00", "There is no 2028-02-30: that month has 29 days."],
  ["2100-02-29", "There is no 2100-02-29: that month has 28 days."],
  ["2026-04-31T00:00:00+02:00", "There is no 2026-04-31: that month has 30 days."],
  ["2026-01-00", "There is no 2026-01-00: that month has 31 days."],
  ["2026-13-01", "There is no month 13."],
  ["2026-00-01", "There is no month 0."],
  ["2028-02-29T25:00", "There is no hour 25; the last one is 23."],
  ["2026-01-31T24:00:00Z", "There is no hour 24; the last one is 23."],
  ["2026-01-31T09:60:00Z", "There is no minute 60; the last one is 59."],
  ["2026-01-31T09:00:60Z", "There is no second 60; the last one is 59."],
])("of %j something does not exist", (text, reason) => {
  expect(explainMissingDate(text)).toBe(reason);
});

test.each(["2028-02-29", "2026-12-31T23:59:59.999Z", "2000-02-29 00:00", "soon", "", "0000-00", "12345-02-30"])(
  "%j is not judged",
  (text) => {
    expect(explainMissingDate(text)).toBeNull();
  },
);

test("schemas say what does not exist, or how to write it", () => {
  const refuse = (schema: typeof Instant | typeof LocalDate, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;
  expect(refuse(Instant, "2026-02-30T09:00:00Z")).toBe("There is no 2026-02-30: that month has 28 days.");
  expect(refuse(Instant, "2026-02-28")).toBe("Write an ISO 8601 date and time with its zone, such as 2030-01-31T09:30:00Z.");
  expect(refuse(LocalDate, "2026-02-30")).toBe("There is no 2026-02-30: that month has 28 days.");
  expect(refuse(LocalDate, "soon")).toBe("Write a date such as 2030-01-31.");
  expect(refuse(LocalDate, 5)).toBe("Invalid input: expected string, received number");
});
