import { expect, test } from "vitest";
import { yieldToEventLoop } from "../lib/turn.ts";
import { TurnBudget } from "./turn-budget.ts";

/** A budget on a clock that stands, and requests that take a few ms each. */
function setUp() {
  let now = 0;
  const served: number[] = [];
  const budget = new TurnBudget({ now: () => now, date: () => now, after: () => ({ cancel: () => {} }), sleep: async () => {} });
  const lines = Array.from({ length: 2 }, () => ({ waiting: [] as (() => void)[] }));
  const ask = (id: number, ms: number, connection: 0 | 1 = 0): void =>
    budget.run(lines[connection] ?? { waiting: [] }, () => {
      // The work of a request happens after its first await.
      void Promise.resolve().then(() => {
        served.push(id);
        now += ms;
      });
    });
  return { budget, served, ask };
}

/** Waits until the requests of one turn were served. */
const turn = async (): Promise<void> => {
  await yieldToEventLoop();
  await new Promise((done) => process.nextTick(done));
};

test("a turn starts requests for 8 ms, and the rest in later turns, in their order", async () => {
  const { budget, served, ask } = setUp();
  for (let id = 0; id < 10; id += 1) {
    ask(id, 4);
    await Promise.resolve();
  }
  expect([served, budget.waiting]).toEqual([[0, 1], 8]);
  // One that comes later does not overtake.
  ask(10, 4);
  for (let left = 20; budget.waiting > 0 && left > 0; left -= 1) await turn();
  await turn();
  expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("connections take turns, whatever the number of their requests", async () => {
  const { budget, served, ask } = setUp();
  for (let id = 0; id < 6; id += 1) {
    ask(id, 8);
    await Promise.resolve();
  }
  ask(100, 8, 1);
  ask(101, 8, 1);
  for (let left = 20; budget.waiting > 0 && left > 0; left -= 1) await turn();
  await turn();
  expect(served).toEqual([0, 1, 100, 2, 101, 3, 4, 5]);
});

test("while connections arrive, a turn starts requests for 1 ms", async () => {
  const { budget, served, ask } = setUp();
  budget.connectionAccepted();
  for (let id = 0; id < 4; id += 1) {
    ask(id, 1);
    await Promise.resolve();
  }
  expect(served).toEqual([0]);
  for (let left = 20; budget.waiting > 0 && left > 0; left -= 1) await turn();
  await turn();
  expect(served).toEqual([0, 1, 2, 3]);
});

test("requests that cost nothing are all served at once", () => {
  const { budget, ask } = setUp();
  for (let id = 0; id < 1000; id += 1) ask(id, 0);
  expect(budget.waiting).toBe(0);
});

test("while it is paused no request starts, and afterwards all do, in their order", async () => {
  const { budget, served, ask } = setUp();
  ask(0, 8);
  await Promise.resolve();
  ask(1, 1);
  budget.pause();
  for (const id of [2, 3]) ask(id, 1);
  await turn();
  await turn();
  expect([served, budget.waiting]).toEqual([[0], 3]);
  budget.resume();
  for (let left = 20; budget.waiting > 0 && left > 0; left -= 1) await turn();
  await turn();
  expect(served).toEqual([0, 1, 2, 3]);
  ask(4, 1);
  await turn();
  expect(served).toEqual([0, 1, 2, 3, 4]);
});
