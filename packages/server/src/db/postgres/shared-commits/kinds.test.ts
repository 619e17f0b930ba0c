import type { PgTable } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { postgresSchema } from "../../../schema.pg.ts";
import { KindMemory } from "./kinds.ts";

const send = {};
const numbers = (n: number): ReadonlyMap<PgTable, number> => new Map([[postgresSchema.tables.contents, n]]);

/** How many transactions in a row are ordinary ones. */
const countOrdinary = (kinds: KindMemory): number => {
  let n = 0;
  while (!kinds.mayBeLight(send)) n += 1;
  return n;
};

test("a kind that is new may be light, and is expected to number nothing", () => {
  const kinds = new KindMemory();
  expect(kinds.mayBeLight(send)).toBe(true);
  expect(kinds.numbersOf(send)).toEqual(new Map());
});

test("after each failure twice as many are ordinary, 64 at most", () => {
  const kinds = new KindMemory();
  const skipped = Array.from({ length: 9 }, () => {
    kinds.failed(send);
    return countOrdinary(kinds);
  });
  expect(skipped).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64]);
});

test("a success makes the next failure count as the first, and its numbers are expected again", () => {
  const kinds = new KindMemory();
  kinds.failed(send);
  kinds.failed(send);
  expect(countOrdinary(kinds)).toBe(2);
  kinds.succeeded(send, numbers(3));
  expect(kinds.numbersOf(send)).toEqual(numbers(3));
  kinds.failed(send);
  expect(countOrdinary(kinds)).toBe(1);
});

test("kinds are told apart", () => {
  const kinds = new KindMemory();
  kinds.failed(send);
  expect([kinds.mayBeLight({}), kinds.mayBeLight(send)]).toEqual([true, false]);
});
