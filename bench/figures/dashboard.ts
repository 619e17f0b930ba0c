import type { Browser, Page } from "playwright-core";
import { measureDashboard } from "../../packages/dashboard/build.mjs";
import { launchBrowser } from "../../packages/dashboard/test/chromium.ts";
import { call, type MailsvcContender, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { PERSONS_PER_REQUEST, personAt } from "../load/persons.ts";
import { residentMb } from "./memory.ts";

const ROUNDS = 5;
const MAILS = 100;
const CONTACTS = 100_000;
const WHEELS = 200;
const SETTLE_MS = 3000;
const VIEWPORT = { width: 1360, height: 860 };

/** Cost of the dashboard for its users, and for the others. */
export const dashboard: Bench = {
  name: "dashboard",
  meaning:
    "What a browser loads as script, after gzip, for the first view (the shell and the list of mail), and for the largest page: shell included. first: from the navigation of an empty browser profile until the " +
    "first row of 100 mails is drawn. frame: the longest time between two frames while the wheel scrolls through a list of 100,000 contacts; against a page at rest. memory: how much more a server holds after " +
    "each file of the dashboard was requested than a server that got as many requests for /readyz; measured when no request is left.",
  onlyByName: true,
  run: async () => [...(await measureScripts()), ...(await measurePages()), await measureMemory()],
};

async function measureScripts(): Promise<Figure[]> {
  const { first, routes } = await measureDashboard();
  const goal = { op: "<=", than: 80 } as const;
  const figure = (name: string, bytes: number): Figure => ({ name, value: bytes / 1000, unit: "kB", against: null, ratio: null, goal });
  return [
    figure("dashboard.script", first + (routes["activity"] ?? Number.NaN)),
    figure("dashboard.script.most", first + Math.max(...Object.values(routes))),
  ];
}

async function measurePages(): Promise<Figure[]> {
  const server = await mailsvc();
  const browser = await launchBrowser();
  try {
    const mail = { from: "Acme <hello@bench.acme.dev>", subject: "Your order is on its way", text: "It left our house today." };
    for (let i = 0; i < MAILS; i += 1) await call(server, "POST", "/api/v1/send", { ...mail, to: `reader${i}@example.com` });
    // The server reads its files when they are first asked for.
    await timeFirstView(browser, server);
    const views: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) views.push(await timeFirstView(browser, server));
    for (let at = 0; at < CONTACTS; at += PERSONS_PER_REQUEST)
      await call(server, "POST", "/api/v1/contacts/import", {
        rows: Array.from({ length: PERSONS_PER_REQUEST }, (_, i) => personAt(at + i)),
      });
    const rest: number[] = [];
    const scrolled: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) {
      const longest = await timeFrames(browser, server);
      rest.push(longest.rest);
      scrolled.push(longest.scrolled);
    }
    return [
      {
        name: "dashboard.first",
        value: median(views),
        unit: "ms",
        against: null,
        ratio: null,
        goal: { op: "<=", than: 1000 },
        rounds: views,
      },
      {
        name: "dashboard.frame",
        value: median(scrolled),
        unit: "ms",
        against: null,
        ratio: null,
        goal: { op: "<=", than: 50 },
        rounds: scrolled,
      },
      { name: "dashboard.frame.rest", value: median(rest), unit: "ms", against: null, ratio: null, rounds: rest },
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Looks at the first page with a new browser profile; how long it took until there was a row, in ms. */
async function timeFirstView(browser: Browser, { url }: MailsvcContender): Promise<number> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const look = (): void => {
      if (document.querySelector(".rows .row a")) (globalThis as { drawnAt?: number }).drawnAt = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(`${url}/dashboard`);
  await page.waitForFunction(() => (globalThis as { drawnAt?: number }).drawnAt !== undefined);
  const at = await page.evaluate(() => (globalThis as { drawnAt?: number }).drawnAt ?? Number.NaN);
  await context.close();
  return at;
}

/** The longest time between two frames of a list of contacts, in ms: at rest, and while the wheel turns. */
async function timeFrames(browser: Browser, { url }: MailsvcContender): Promise<{ readonly rest: number; readonly scrolled: number }> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.goto(`${url}/dashboard/contacts`);
  await page.locator(".contacts .rows .row a").first().waitFor();
  await page.evaluate(() => {
    const seen = { frames: [] as number[] };
    (globalThis as unknown as { seen: typeof seen }).seen = seen;
    let last = performance.now();
    const look = (now: number): void => {
      seen.frames.push(now - last);
      last = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await waitForFrames(page, WHEELS);
  const rest = await readFrames(page);
  await page.locator(".contacts .rows").hover();
  for (let n = 0; n < WHEELS; n += 1) {
    await page.mouse.wheel(0, 700);
    await waitForFrames(page, 1);
  }
  const all = await readFrames(page);
  await context.close();
  return { rest: Math.max(...rest), scrolled: Math.max(...all.slice(rest.length)) };
}

function readFrames(page: Page): Promise<number[]> {
  return page.evaluate(() => (globalThis as unknown as { seen: { frames: number[] } }).seen.frames);
}

async function waitForFrames(page: Page, n: number): Promise<void> {
  const from = (await readFrames(page)).length;
  await page.waitForFunction((least) => (globalThis as unknown as { seen: { frames: number[] } }).seen.frames.length >= least, from + n);
}

async function measureMemory(): Promise<Figure> {
  const rounds: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const [without, loaded] = [await mailsvc(), await mailsvc()];
    try {
      const files = await loadFiles(loaded.url);
      for (let n = 0; n < files; n += 1) await (await fetch(`${without.url}/readyz`)).text();
      await new Promise((next) => setTimeout(next, SETTLE_MS));
      rounds.push(residentMb(loaded.pid) - residentMb(without.pid));
    } finally {
      await without.stop();
      await loaded.stop();
    }
  }
  return { name: "dashboard.memory", value: median(rounds), unit: "MB", against: null, ratio: null, goal: { op: "<=", than: 3 }, rounds };
}

/** Loads the page of the dashboard and each file that it or another file names; how many there are. */
async function loadFiles(url: string): Promise<number> {
  const known = new Set<string>();
  const load = async (path: string): Promise<void> => {
    if (known.has(path)) return;
    known.add(path);
    const response = await fetch(`${url}/dashboard${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    for (const [name] of (await response.text()).matchAll(/[\w-]+-[\w-]{8}\.(?:js|css)\b/g)) await load(`/assets/${name}`);
  };
  await load("");
  if (known.size < 20) throw new Error(`Only ${known.size} files of the dashboard were found.`);
  return known.size;
}
