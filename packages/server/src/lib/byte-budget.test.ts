import { expect, test } from "vitest";
import { createByteBudget } from "./byte-budget.ts";

/** Lets every promise that can settle do so. */
const settled = () => new Promise(setImmediate);

test("no more than the budget is taken at once, and who waits is served in order", async () => {
  const budget = createByteBudget(10);
  const order: string[] = [];
  const take = async (name: string, bytes: number) => {
    const release = await budget.take(bytes);
    order.push(name);
    return release;
  };
  const first = await take("first", 6);
  const second = take("second", 6);
  // It would fit, but must not overtake.
  const third = take("third", 1);
  await settled();
  expect(order).toEqual(["first"]);
  first();
  first();
  (await second)();
  (await third)();
  expect(order).toEqual(["first", "second", "third"]);
});

test("more than the whole budget is taken alone", async () => {
  const budget = createByteBudget(10);
  const release = await budget.take(100);
  let taken = false;
  const small = budget.take(0).then((releaseSmall) => {
    taken = true;
    return releaseSmall;
  });
  await settled();
  expect(taken).toBe(false);
  release();
  (await small)();
});
