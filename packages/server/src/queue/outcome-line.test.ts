import { expect, test } from "vitest";
import { rest } from "../../test/manual-time.ts";
import { OutcomeLine, type Unstored } from "./settling.ts";

interface Outcome {
  readonly bytes?: number;
}

/** A line whose groups are stored by hand, in their order. */
function setUp(atOnce: number) {
  const sizes: number[] = [];
  const underWay: (() => void)[] = [];
  const line = new OutcomeLine<Outcome>(atOnce, async (group: readonly Unstored<Outcome>[]) => {
    sizes.push(group.length);
    await new Promise<void>((done) => underWay.push(done));
    for (const { stored } of group) stored();
  });
  let stored = 0;
  const add = async (n: number, outcome: Outcome = {}): Promise<void> => {
    for (let i = 0; i < n; i += 1) void line.add(outcome).then(() => (stored += 1));
    await rest();
  };
  const storeOne = async (): Promise<void> => {
    underWay.shift()?.();
    await rest();
  };
  return { line, sizes, add, storeOne, stored: () => stored };
}

test("what comes in one turn is stored together, and what comes meanwhile makes the next group", async () => {
  const t = setUp(1);
  await t.add(3);
  await t.add(20);
  await t.add(1);
  expect(t.sizes).toEqual([3]);
  await t.storeOne();
  expect([t.sizes, t.stored()]).toEqual([[3, 21], 3]);
  await t.storeOne();
  expect(t.stored()).toBe(24);
});

test("with several groups at once, a further one begins when it has 16 outcomes", async () => {
  const t = setUp(2);
  await t.add(1);
  await t.add(15);
  expect(t.sizes).toEqual([1]);
  await t.add(1);
  expect(t.sizes).toEqual([1, 16]);
  await t.add(100);
  expect(t.sizes).toEqual([1, 16]);
  await t.storeOne();
  expect(t.sizes).toEqual([1, 16, 50]);
});

test("a group has at most 256 outcomes, and a megabyte unless one alone has more", async () => {
  const t = setUp(1);
  await t.add(300);
  await t.storeOne();
  await t.storeOne();
  expect(t.sizes).toEqual([256, 44]);
  await t.add(3, { bytes: 600_000 });
  await t.add(1, { bytes: 5_000_000 });
  for (let n = 0; n < 5; n += 1) await t.storeOne();
  expect(t.sizes.slice(2)).toEqual([1, 1, 1, 1]);
  expect(t.stored()).toBe(304);
});

test("an outcome that cannot be stored rejects", async () => {
  const line = new OutcomeLine<Outcome>(1, async (group) => {
    for (const { failed } of group) failed(new Error("no"));
  });
  await expect(line.add({})).rejects.toThrow("no");
});
