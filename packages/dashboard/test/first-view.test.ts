import { Mailsvc } from "@mailsvc/sdk";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

// So long that nothing but a wait for an answer separates two trips, however busy the machine is.
const LATENCY_MS = 2000;

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
  const sdk = new Mailsvc({ apiKey: stage.server.apiKey ?? "", baseUrl: stage.server.url });
  for (let i = 0; i < 100; i += 1)
    await sdk.emails.send({ from: "hello@acme.example", to: `reader${i}@example.com`, subject: `Order ${i}`, text: "It is on its way." });
  await sdk.contacts.import({ rows: Array.from({ length: 200 }, (_, i) => ({ email: `reader${i}@example.com` })) });
}, PATIENCE_MS);
afterAll(() => stage?.[Symbol.asyncDispose]());

interface Trip {
  readonly url: string;
  readonly begun: number;
  ended: number;
  bytes: number;
  readonly headers: Record<string, string>;
}

/** Loads a page anew over a slow line; its requests until `text` is there. */
async function load(page: Page, path: string, text: string, latency: number): Promise<{ trips: readonly Trip[]; ms: number }> {
  const cdp = await page.context().newCDPSession(page);
  const trips = new Map<string, Trip>();
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 });
  cdp.on("Network.requestWillBeSent", ({ requestId, request: { url }, timestamp }) =>
    trips.set(requestId, { url, begun: timestamp, ended: Number.POSITIVE_INFINITY, bytes: 0, headers: {} }),
  );
  cdp.on("Network.responseReceived", ({ requestId, response: { headers } }) => {
    for (const [name, value] of Object.entries(headers))
      Object.assign(trips.get(requestId)?.headers ?? {}, { [name.toLowerCase()]: value });
  });
  cdp.on("Network.loadingFinished", ({ requestId, timestamp, encodedDataLength }) => {
    const trip = trips.get(requestId);
    if (trip) Object.assign(trip, { ended: timestamp, bytes: encodedDataLength });
  });
  const from = performance.now();
  await page.goto(path, { waitUntil: "commit" });
  await page.getByText(text, { exact: true }).first().waitFor();
  const ms = performance.now() - from;
  await cdp.detach();
  return { trips: [...trips.values()].filter(({ ended }) => ended < Number.POSITIVE_INFINITY), ms };
}

/** The most requests of which each began after the one before it had ended. */
function countInSequence(trips: readonly Trip[]): number {
  const sorted = [...trips].sort((a, b) => a.begun - b.begun);
  const depths: number[] = [];
  for (const [i, { begun }] of sorted.entries())
    depths.push(1 + Math.max(0, ...sorted.slice(0, i).map(({ ended }, n) => (ended <= begun ? (depths[n] ?? 0) : 0))));
  return Math.max(0, ...depths);
}

test.each([
  ["/dashboard", "Accepted"],
  ["/dashboard/activity", "reader99@example.com"],
  ["/dashboard/contacts", "reader199@example.com"],
])(
  "a browser that has nothing yet shows the first rows of %s after four trips at most, and its data comes compressed",
  async (path, text) => {
    const { page, faults } = await stage.open("/dashboard/credits");
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const { trips } = await load(page, path, text, LATENCY_MS);
    const urls = trips.map(({ url }) => new URL(url).pathname);
    expect(countInSequence(trips), urls.join("\n")).toBeLessThanOrEqual(4);
    expect(urls.filter((one) => one.endsWith(".js")).length, urls.join("\n")).toBeLessThanOrEqual(path === "/dashboard/contacts" ? 7 : 5);
    const large = trips.filter(({ url, bytes }) => url.includes("/api/v1/") && bytes > 1500);
    for (const { headers, url } of large) expect(headers["content-encoding"], url).toMatch(/br|gzip/);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "the first view is measured on a quick line and on one with 400 ms",
  async ({ annotate }) => {
    const { page } = await stage.open("/dashboard/credits");
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    for (const latency of [0, 400]) {
      const { trips, ms } = await load(page, "/dashboard/activity", "reader99@example.com", latency);
      const bytes = trips.reduce((sum, trip) => sum + trip.bytes, 0);
      await annotate(`${latency} ms: first row after ${ms.toFixed(0)} ms, ${trips.length} requests, ${(bytes / 1000).toFixed(0)} kB`);
      expect(trips.length).toBeLessThan(15);
      expect(bytes).toBeLessThan(100_000);
    }
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
