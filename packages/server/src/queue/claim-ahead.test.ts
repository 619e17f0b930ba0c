import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { ClaimAhead } from "./claim-ahead.ts";

test("what is used up quickly is doubled, up to the limit, and what lasts is halved, down to the least", async () => {
  const time = manualTime();
  await time.advance(1000);
  const ahead = new ClaimAhead({ min: 2, max: 50, lastsMs: 50 }, time.real.now);
  expect([ahead.size, ahead.adapt()]).toEqual([2, 2]);
  const sizes: number[] = [];
  for (const ms of [10, 10, 49, 10, 50, 1000, 1000, 1000, 1000, 1000]) {
    await time.advance(ms);
    sizes.push(ahead.adapt());
  }
  expect(sizes).toEqual([8, 16, 32, 50, 25, 12, 6, 3, 2, 2]);
  expect(ahead.size).toBe(2);
});

test("a limit of nothing stays nothing", () => {
  const ahead = new ClaimAhead({ min: 0, max: 0, lastsMs: 50 }, () => 0);
  expect([ahead.adapt(), ahead.adapt()]).toEqual([0, 0]);
});
