import type { Browser } from "playwright-core";
import { measureDashboard } from "../../packages/dashboard/build.mjs";
import { launchBrowser } from "../../packages/dashboard/test/chromium.ts";
import { contactAt, measureContactWork } from "../../packages/dashboard/test/contact-work.ts";
import { call, type MailsvcContender, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { PERSONS_PER_REQUEST } from "../load/persons.ts";
import { residentMb } from "./memory.ts";

const ROUNDS = 5;
const MAILS = 100;
const CONTACTS = 100_000;
// The page is looked at for a minute in each.
const WORK_ROUNDS = 3;
const SLOW_MS = 400;
const SETTLE_MS = 3000;
const VIEWPORT = { width: 1360, height: 860 };

/** Cost of the dashboard for its users, and for the others. */
export const dashboard: Bench = {
  name: "dashboard",
  meaning:
    "What a browser loads as script, after gzip, for the first view (the shell and the list of mail), and for the largest page: shell included. first: from the navigation of an empty browser profile until the " +
    "first row of 100 mails is drawn; first.slow: the same with 400 ms until each answer begins. frame: the longest time between two frames of the page with 100,000 contacts, at rest, while the wheel " +
    "turns, while the scroll bar jumps, while a search is typed, while a tag is filtered by, while all are chosen and scrolled, and while all of them get a tag. task: the processor time of the longest " +
    "task of the page's main thread in each of these, by a trace of Chromium. memory: how much more a server holds after " +
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
    await timeFirstView(browser, server, 0);
    const views: number[] = [];
    const slow: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) {
      views.push(await timeFirstView(browser, server, 0));
      slow.push(await timeFirstView(browser, server, SLOW_MS));
    }
    for (let at = 0; at < CONTACTS; at += PERSONS_PER_REQUEST)
      await call(server, "POST", "/api/v1/contacts/import", {
        rows: Array.from({ length: PERSONS_PER_REQUEST }, (_, i) => contactAt(at + i)),
      });
    return [
      figureOf("dashboard.first", views, 1000),
      figureOf("dashboard.first.slow", slow, 2000),
      ...(await measureWork(browser, server)),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

const figureOf = (name: string, rounds: readonly number[], most: number): Figure => {
  return { name, value: median(rounds), unit: "ms", against: null, ratio: null, goal: { op: "<=", than: most }, rounds };
};

/** The longest frames and tasks of the page of contacts. */
async function measureWork(browser: Browser, { url }: MailsvcContender): Promise<Figure[]> {
  const rounds: Awaited<ReturnType<typeof measureContactWork>>[] = [];
  for (let i = 0; i < WORK_ROUNDS; i += 1) {
    const context = await browser.newContext({ viewport: VIEWPORT });
    const page = await context.newPage();
    await page.goto(`${url}/dashboard/contacts`);
    await page.locator(".contacts .rows .row a").first().waitFor();
    rounds.push(await measureContactWork(page, CONTACTS));
    await context.close();
  }
  const deeds = Object.keys(rounds[0] ?? {}) as (keyof (typeof rounds)[number])[];
  return (["frame", "task"] as const).flatMap((what) =>
    deeds.map((deed) =>
      figureOf(
        `dashboard.${what}.${deed}`,
        rounds.map((one) => one[deed][what]),
        50,
      ),
    ),
  );
}

/** Looks at the first page with a new browser profile; how long it took until there was a row, in ms. Each answer begins after `latency` ms. */
async function timeFirstView(browser: Browser, { url }: MailsvcContender, latency: number): Promise<number> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  const line = await context.newCDPSession(page);
  await line.send("Network.enable");
  await line.send("Network.emulateNetworkConditions", { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 });
  await page.addInitScript(() => {
    const look = (): void => {
      if (document.querySelector(".rows .row a")) (globalThis as { drawnAt?: number }).drawnAt = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(`${url}/dashboard/activity`);
  await page.waitForFunction(() => (globalThis as { drawnAt?: number }).drawnAt !== undefined);
  const at = await page.evaluate(() => (globalThis as { drawnAt?: number }).drawnAt ?? Number.NaN);
  await context.close();
  return at;
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
