import type { Page } from "playwright-core";

/** Work of a page's main thread. */
interface Work {
  /** Processor time of its longest task, ms. Other programs of the machine do not change it. */
  readonly task: number;
  /** The longest time between two frames, ms. */
  readonly frame: number;
  /** Tasks that took over 50 ms by the clock, which a `PerformanceObserver` calls long. */
  readonly long: number;
}

/** The i-th of any number of contacts; every third has tags. */
export function contactAt(i: number) {
  return { email: `reader${i}@example.com`, firstName: "Reader", lastName: `Number ${i}`, tags: i % 3 === 0 ? ["vip", "beta"] : [] };
}

/** Does what people do with the page of contacts, which shows `count` of `contactAt`. Returns the work of each deed by its name. */
export async function measureContactWork(page: Page, count: number): Promise<Readonly<Record<keyof typeof DEEDS, Work>>> {
  const found: Partial<Record<string, Work>> = {};
  for (const [name, act] of Object.entries(DEEDS)) found[name] = await measureWork(page, () => act(page, count - 1));
  return found as Record<keyof typeof DEEDS, Work>;
}

const DEEDS = {
  rest: (page: Page) => waitForFrames(page, 120),
  wheel: async (page: Page) => {
    await rowsOf(page).hover();
    for (let n = 0; n < 120; n += 1) {
      await page.mouse.wheel(0, 700);
      await waitForFrames(page, 1);
    }
  },
  bar: async (page: Page) => {
    for (const share of [1, 0.5, 0.501, 0.2, 0.9, 0.3, 0]) {
      await rowsOf(page).evaluate((element, to) => element.scrollTo(0, to * element.scrollHeight), share);
      await waitForFrames(page, 20);
    }
  },
  search: async (page: Page, last: number) => {
    await page.getByRole("searchbox", { name: "Search" }).pressSequentially(`reader${last - 1}`);
    await page.waitForFunction(() => document.querySelectorAll(".contacts .window > .row a").length === 1);
    await clearFilters(page, last);
  },
  filter: async (page: Page, last: number) => {
    await page.getByRole("searchbox", { name: "Tag" }).fill("vip");
    await page.waitForFunction(() => [...document.querySelectorAll(".contacts .window > .row")].every((row) => row.querySelector(".tag")));
    await clearFilters(page, last);
  },
  choose: async (page: Page) => {
    await rowsOf(page).getByRole("checkbox").first().click();
    await page.getByRole("button", { name: "Choose all" }).click();
    await DEEDS.wheel(page);
  },
  tag: async (page: Page) => {
    await page.getByRole("button", { name: "Add a tag", exact: true }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Tag", { exact: true }).fill("seen");
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText(/got the tag/).waitFor({ timeout: 300_000 });
  },
} as const;

const rowsOf = (page: Page) => page.locator(".contacts .rows");

async function clearFilters(page: Page, last: number): Promise<void> {
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText(`reader${last}@example.com`).waitFor();
}

function waitForFrames(page: Page, n: number): Promise<void> {
  const wait = (rest: number): Promise<void> =>
    new Promise((done) => {
      const look = (left: number): unknown => (left === 0 ? done() : requestAnimationFrame(() => look(left - 1)));
      look(rest);
    });
  return page.evaluate(wait, n);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Measures what a page works while `act` goes on. Its browser must show no other page meanwhile. */
async function measureWork(page: Page, act: () => Promise<void>): Promise<Work> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page has no browser that could be traced.");
  await page.evaluate(() => {
    const seen = { frame: 0, long: 0, over: false };
    (globalThis as unknown as { work: typeof seen }).work = seen;
    const observer = new PerformanceObserver((list) => {
      seen.long += list.getEntries().length;
    });
    observer.observe({ type: "longtask" });
    let last = performance.now();
    const look = (now: number): void => {
      seen.frame = Math.max(seen.frame, now - last);
      last = now;
      if (seen.over) observer.disconnect();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "__metadata"] });
  await act();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const { frame, long } = await page.evaluate(() => {
    const { work } = globalThis as unknown as { work: { frame: number; long: number; over: boolean } };
    work.over = true;
    return work;
  });
  const main = trace.traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  const isMain = ({ pid, tid }: TraceEvent): boolean => main.some((one) => one.pid === pid && one.tid === tid);
  const tasks = trace.traceEvents.filter((event) => event.name === "RunTask" && isMain(event));
  if (tasks.length === 0) throw new Error("The trace has no tasks of the page.");
  return { task: Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000, frame, long };
}
