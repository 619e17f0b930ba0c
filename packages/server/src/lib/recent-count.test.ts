import { expect, test } from "vitest";
import { RecentCount } from "./rate.ts";

test("what happened a moment ago counts, and nothing does once nothing has happened for 100 ms", () => {
  let now = 0;
  const count = new RecentCount(() => now);
  expect(count.value).toBe(0);
  count.add(10);
  expect(count.value).toBe(10);
  now = 60;
  count.add(3);
  expect(count.value).toBe(10);
  now = 120;
  expect(count.value).toBe(3);
  count.add(1000);
  expect(count.value).toBe(1000);
  now = 230;
  expect(count.value).toBe(0);
});
