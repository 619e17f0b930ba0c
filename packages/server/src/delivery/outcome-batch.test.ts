import { expect, test } from "vitest";
import type { Clock } from "../lib/clock.ts";
import { OutcomeBatch } from "./mailer-line.ts";

/** Real time whose timers a test fires. */
const setUp = () => {
  const timers: { ms: number; fire: () => void; cancelled: boolean }[] = [];
  const real: Clock["real"] = {
    now: () => 0,
    date: () => 0,
    sleep: async () => {},
    after: (ms, fire) => {
      const timer = { ms, fire, cancelled: false };
      timers.push(timer);
      return {
        cancel: () => {
          timer.cancelled = true;
        },
      };
    },
  };
  return { batch: new OutcomeBatch(real), timers };
};

test("outcomes wait for each other and are settled together, in order and once", () => {
  const { batch, timers } = setUp();
  const settled: string[] = [];
  batch.add(() => settled.push("a"));
  batch.add(() => settled.push("b"));
  expect(settled).toEqual([]);
  batch.settleAll();
  batch.settleAll();
  expect(settled).toEqual(["a", "b"]);
  expect(timers).toMatchObject([{ cancelled: true }]);
});

test("an outcome waits for 25 ms at most, however many come after it", () => {
  const { batch, timers } = setUp();
  const settled: string[] = [];
  batch.add(() => settled.push("a"));
  batch.add(() => settled.push("b"));
  expect(timers).toMatchObject([{ ms: 25, cancelled: false }]);
  timers[0]?.fire();
  expect(settled).toEqual(["a", "b"]);
  batch.add(() => settled.push("c"));
  expect(timers).toHaveLength(2);
});
