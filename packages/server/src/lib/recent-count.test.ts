import { expect, test } from "vitest";
import { RecentCount } from "./recent-count.ts";

test("what happened a moment ago counts, and nothing does once nothing has happened for 100 ms", () => {
  let now = 0;
  const count = new RecentCount(() => now);
  const add = (n: number): void => {
    for (let i = 0; i < n; i += 1) count.add();
  };
  expect(count.value).toBe(0);
  add(10);
  expect(count.value).toBe(10);
  now = 60;
  add(3);
  expect(count.value).toBe(10);
  now = 120;
  expect(count.value).toBe(3);
  add(1000);
  expect(count.value).toBe(1000);
  now = 230;
  expect(count.value).toBe(0);
});
