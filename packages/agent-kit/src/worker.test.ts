import { expect, onTestFinished, test } from "vitest";
import { createAgent } from "./agent.ts";
import { TestMarketplace } from "./testing.ts";

test("an event whose handler fails is tried again with growing waits, and given up in the end", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const attempts: number[] = [];
  const failures: unknown[] = [];
  market.serve(
    createAgent({ ...market.options, maxAttempts: 4 })
      .on("agent.activated", ({ attempt }) => {
        attempts.push(attempt);
        throw new Error("no");
      })
      .onError((_error, { attempt, willRetry }) => failures.push([attempt, willRetry])),
  );
  await market.activate();
  expect(attempts).toEqual([1]);
  await market.advance("2s");
  expect(attempts).toEqual([1, 2]);
  await market.advance("10m");
  expect(attempts).toEqual([1, 2, 3, 4]);
  await market.advance("1d");
  expect(failures).toEqual([
    [1, true],
    [2, true],
    [3, true],
    [4, false],
  ]);
});
