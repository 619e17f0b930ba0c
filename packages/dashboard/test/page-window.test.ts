import type { Page } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { PAGE_SIZE, PageWindow } from "../src/parts/page-window.ts";

/** A list on a server: its answers come when the test says so. */
class Server {
  items: string[];
  readonly asked: { readonly page: number; readonly signal: AbortSignal; answer(): void }[] = [];

  constructor(length: number) {
    this.items = Array.from({ length }, (_, i) => `item ${i}`);
  }

  load = (page: number, signal: AbortSignal): Promise<Page<string>> =>
    new Promise((done) => {
      const answer = (): void => {
        const data = this.items.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
        const total = this.items.length;
        const hasMore = page * PAGE_SIZE < total;
        done({ data, pagination: { page, limit: PAGE_SIZE, total, totalPages: Math.ceil(total / PAGE_SIZE), hasMore, nextCursor: null } });
      };
      this.asked.push({ page, signal, answer });
    });

  /** Answers what was asked, the newest question first, until nothing is asked any more. */
  async answerAll(): Promise<void> {
    for (let one = this.asked.pop(); one !== undefined; one = this.asked.pop()) {
      one.answer();
      for (let n = 0; n < 10; n += 1) await Promise.resolve();
    }
  }
}

const open = async (length: number): Promise<{ server: Server; list: PageWindow<string>; settled: () => Promise<void> }> => {
  const server = new Server(length);
  const list = new PageWindow(server.load, () => {});
  list.see(0, 30);
  await server.answerAll();
  // After the scroll bar has rested, what is missing is asked for.
  const settled = async (): Promise<void> => {
    await expect.poll(() => server.asked.length).toBeGreaterThan(0);
    await server.answerAll();
  };
  return { server, list, settled };
};

test("the pages in sight are loaded, and every item is in its own place", async () => {
  const { list, settled } = await open(100_000);
  expect(list.length).toBe(100_000);
  list.see(50_090, 50_130);
  expect(list.at(50_095)).toBeUndefined();
  await settled();
  expect([list.at(0), list.at(50_095), list.at(50_120), list.at(49_000)]).toEqual(["item 0", "item 50095", "item 50120", undefined]);
});

test("pages that were passed by are not waited for, and their late answers change nothing", async () => {
  const { server, list } = await open(100_000);
  list.see(20_000, 20_030);
  await expect.poll(() => server.asked.length).toBe(1);
  const passed = server.asked.shift();
  list.see(90_000, 90_030);
  expect(passed?.signal.aborted).toBe(true);
  passed?.answer();
  await expect.poll(() => server.asked.length).toBe(1);
  await server.answerAll();
  expect([list.at(20_000), list.at(90_000)]).toEqual([undefined, "item 90000"]);
});

test("when the list has grown, no item is shown in another's place", async () => {
  const { server, list, settled } = await open(1000);
  server.items.unshift("new");
  list.see(500, 530);
  await settled();
  await expect.poll(() => list.length).toBe(1001);
  await server.answerAll();
  expect([list.at(500), list.at(0)]).toEqual(["item 499", undefined]);
  list.see(0, 30);
  await settled();
  expect([list.at(0), list.at(1)]).toEqual(["new", "item 0"]);
});

test("a refresh keeps what is shown until the new pages are there, and shows them together", async () => {
  const { server, list } = await open(1000);
  list.see(90, 120);
  await expect.poll(() => server.asked.length).toBe(1);
  await server.answerAll();
  server.items.shift();
  list.refresh();
  list.refresh();
  const [first, second] = server.asked.splice(0);
  first?.answer();
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
  expect([list.at(95), list.at(110)]).toEqual(["item 95", "item 110"]);
  second?.answer();
  await expect.poll(() => list.at(95)).toBe("item 96");
  expect([list.at(110), list.length]).toEqual(["item 111", 999]);
});
