import fc from "fast-check";
import { expect, test } from "vitest";
import { METRICS } from "./counting.ts";
import { addDay, EMPTY_DAY, packDay, sumDay, unpackDay } from "./packed-day.ts";

const numbers = fc.array(fc.oneof(fc.constantFrom(0, 1, 127, 128, 16_383, 16_384), fc.nat({ max: 2 ** 50 })), {
  maxLength: METRICS.length,
});
const quarters = fc.array(fc.tuple(fc.nat({ max: 95 }), numbers), { maxLength: 96 }).map((entries) => new Map(entries));

/** The numbers that are not zero, by quarter and position. */
const listNumbers = (all: ReadonlyMap<number, readonly number[]>): Map<string, number> =>
  new Map([...all].flatMap(([quarter, own]) => own.flatMap((n, i) => (n === 0 ? [] : [[`${quarter} ${i}`, n] as const]))));

test("a day holds all numbers up to those that are exact, and is as long as needed", () => {
  fc.assert(
    fc.property(quarters, (all) => {
      expect(listNumbers(unpackDay(packDay(all)))).toEqual(listNumbers(all));
    }),
  );
  expect(packDay(new Map([[95, [Number.MAX_SAFE_INTEGER]]]))).toHaveLength(2 + 8);
  expect(packDay(new Map([[3, [0, 0]]]))).toEqual(EMPTY_DAY);
});

test("numbers are added by quarter, and equal days have equal bytes", () => {
  fc.assert(
    fc.property(quarters, quarters, (one, other) => {
      const sum = sumDay(packDay(one), other);
      expect(Buffer.compare(sum, sumDay(packDay(other), one))).toBe(0);
      const expected = listNumbers(one);
      for (const [key, n] of listNumbers(other)) expected.set(key, (expected.get(key) ?? 0) + n);
      expect(listNumbers(unpackDay(sum))).toEqual(expected);
    }),
  );
});

test("a quarter without a sum is passed over", () => {
  fc.assert(
    fc.property(quarters, fc.nat({ max: 95 }), (all, wanted) => {
      const sum: number[] = [];
      addDay(packDay(all), (quarter) => (quarter === wanted ? sum : undefined));
      expect(listNumbers(new Map([[wanted, sum]]))).toEqual(listNumbers(new Map([[wanted, all.get(wanted) ?? []]])));
    }),
  );
});
