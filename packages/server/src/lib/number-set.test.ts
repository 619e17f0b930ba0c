import fc from "fast-check";
import { expect, test } from "vitest";
import { NumberSet } from "./number-set.ts";

test("it holds what a Set holds, and lists it in ascending order", () => {
  const numbers = fc.array(fc.oneof(fc.nat(3000), fc.nat(2 ** 45)), { maxLength: 60 });
  fc.assert(
    fc.property(fc.array(fc.record({ add: numbers, remove: numbers }), { maxLength: 5 }), (steps) => {
      const set = new NumberSet();
      const wanted = new Set<number>();
      for (const { add, remove } of steps) {
        set.add(add);
        for (const n of add) wanted.add(n);
        // Some that are there, too.
        const gone = [...remove, ...add.slice(0, 10)];
        set.delete(gone);
        for (const n of gone) wanted.delete(n);
      }
      expect([...set.inRanges()].flat()).toEqual([...wanted].sort((a, b) => a - b));
      expect(set.size).toBe(wanted.size);
    }),
  );
});

test("it lists the numbers of a range together, and no empty ranges", () => {
  const set = new NumberSet();
  set.add([5000, 1, 3, 1023, 1024]);
  set.delete([5000]);
  expect([...set.inRanges()]).toEqual([[1, 3, 1023], [1024]]);
});

test("some of its numbers are spread over all of them", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(9000), { maxLength: 300 }), fc.integer({ min: 1, max: 30 }), (numbers, most) => {
      const set = new NumberSet();
      set.add(numbers);
      const sorted = numbers.toSorted((a, b) => a - b);
      const places = set.spread(most).map((n) => sorted.indexOf(n));
      expect(places).toHaveLength(Math.min(most, numbers.length));
      const step = Math.max(1, numbers.length / most);
      for (const [i, place] of places.entries()) expect(Math.abs(place - i * step)).toBeLessThan(1);
    }),
  );
});
