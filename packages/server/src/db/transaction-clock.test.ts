import { expect, test } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import { TickingClock } from "../../test/ticking-clock.ts";
import { transactionClock } from "./scope.ts";

describeDb("the clock of transactions", (t) => {
  const makeClock = () => transactionClock(new TickingClock(0, "frozen"));

  test("stands still inside a transaction, and moves outside", async () => {
    const clock = makeClock();
    const read = () =>
      t.db.tx(async (tx) => {
        const first = clock.now();
        await tx.select().from(tx.t.meta);
        return [first, clock.now(), clock.now()];
      });
    expect(await read()).toEqual([1, 1, 1]);
    expect(await read()).toEqual([2, 2, 2]);
    expect([clock.now(), clock.now()]).toEqual([3, 4]);
  });

  test("gives transactions that share a commit their own instants", async () => {
    const clock = makeClock();
    const kind = {};
    const write = (name: string) =>
      t.db.tx(async (tx) => {
        const first = clock.now();
        await tx.insertAll(tx.t.meta, [{ name, value: "1" }]);
        return clock.now() - first;
      }, kind);
    expect(await Promise.all(["a", "b", "c"].map(write))).toEqual([0, 0, 0]);
  });

  test("moves again in what a commit has started", async () => {
    const clock = makeClock();
    let started: Promise<number[]> | undefined;
    await t.db.tx(async (tx) => {
      clock.now();
      await tx.insertAll(tx.t.meta, [{ name: "a", value: "1" }]);
      tx.afterCommit(() => {
        started = Promise.resolve().then(() => [clock.now(), clock.now()]);
      });
    });
    const [first = 0, second = 0] = (await started) ?? [];
    expect(second).toBe(first + 1);
  });
});
