import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StorageUnavailable } from "../../errors.ts";
import { Batcher, type Waiting } from "./batcher.ts";

interface Item extends Waiting {
  readonly name: string;
}

let batches: { names: string[]; end: () => void }[] = [];
const rejected: [string, unknown][] = [];

const makeBatcher = (options: Partial<ConstructorParameters<typeof Batcher<Item>>[1]> = {}): Batcher<Item> =>
  new Batcher<Item>((items) => new Promise((end) => void batches.push({ names: items.map(({ name }) => name), end })), {
    maxItems: 4,
    maxSize: 100,
    concurrency: 2,
    full: 3,
    ...options,
  });
const add = (batcher: Batcher<Item>, ...names: string[]): void => {
  for (const name of names) batcher.add({ name, size: 10, reject: (error) => rejected.push([name, error]) });
};
/** Some turns of the event loop. */
const turn = async (): Promise<void> => {
  for (let i = 0; i < 4; i += 1) await new Promise((next) => setImmediate(next));
};
const sent = (): string => batches.map(({ names }) => names.join("")).join(" ");

beforeEach(() => {
  batches = [];
  rejected.length = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("what is added in one turn of the event loop is one batch", async () => {
  const batcher = makeBatcher();
  add(batcher, "a", "b");
  add(batcher, "c");
  expect(sent()).toBe("");
  await turn();
  expect(sent()).toBe("abc");
});

test("many items are held back while each turn brings more", async () => {
  const batcher = makeBatcher({ maxItems: 100, maxSize: 1000, full: 100 });
  const add8 = (from: number) => add(batcher, ...Array.from({ length: 8 }, (_, i) => String.fromCharCode(from + i)));
  add8(97);
  await new Promise((next) => setImmediate(next));
  expect(sent()).toBe("");
  add8(105);
  await new Promise((next) => setImmediate(next));
  expect(sent()).toBe("");
  await turn();
  expect(sent()).toBe("abcdefghijklmnop");
});

test("what comes while a batch runs waits for its end, unless it makes a full batch", async () => {
  const batcher = makeBatcher();
  add(batcher, "a");
  await turn();
  add(batcher, "b", "c");
  await turn();
  expect(sent()).toBe("a");
  add(batcher, "d");
  await turn();
  expect(sent()).toBe("a bcd");
  add(batcher, "e", "f", "g", "h", "i");
  await turn();
  expect(sent()).toBe("a bcd");
  batches[0]?.end();
  await turn();
  expect(sent()).toBe("a bcd efgh");
  batches[1]?.end();
  batches[2]?.end();
  await turn();
  expect(sent()).toBe("a bcd efgh i");
});

test("a batch holds no more than its size allows, but one item of any size", async () => {
  const batcher = makeBatcher({ maxSize: 15, concurrency: 1 });
  add(batcher, "a", "b");
  batcher.add({ name: "c", size: 1000, reject: () => {} });
  for (let i = 0; i < 3; i += 1) {
    await turn();
    batches[i]?.end();
  }
  expect(sent()).toBe("a b c");
});

test("items that wait for five seconds are rejected; those of a running batch are not", async () => {
  const batcher = makeBatcher();
  add(batcher, "a");
  await turn();
  add(batcher, "b");
  vi.advanceTimersByTime(4000);
  add(batcher, "c");
  vi.advanceTimersByTime(2000);
  expect(rejected).toEqual([["b", expect.any(StorageUnavailable)]]);
  batches[0]?.end();
  await turn();
  expect(sent()).toBe("a c");
  vi.advanceTimersByTime(60_000);
  expect(rejected).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
