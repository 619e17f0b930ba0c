import { readdirSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildDashboard, measureDashboard } from "../build.mjs";

// Script that a browser loads, kB after gzip: for every first view, and for a page in addition.
const FIRST = 30;
// Parts that a page loads on demand.
const PARTS: Readonly<Record<string, number>> = {
  "agents/proposal": 16.2,
  "audience/contact-export": 21.8,
  "automations/flow-graph": 43,
  "blocks/block-editor": 26.4,
  "editor/code-mirror": 118.9,
  finder: 11.4,
};
// Pages share files, so that one may load some of another's script: most of them stay below this.
const PAGE = 30;
const LARGE_PAGES: Readonly<Record<string, number>> = {
  automation: 33,
  "automation-edit": 38,
  campaign: 42,
  "contact-import": 42,
  segment: 36,
};

test("the first view and each page keep their budgets", async () => {
  const { first, routes, parts } = await measureDashboard();
  expect(first / 1000).toBeLessThan(FIRST);
  const pages = readdirSync(new URL("../src/pages", import.meta.url)).filter((name) => name.endsWith(".tsx"));
  expect(Object.keys(routes).sort()).toEqual(pages.map((name) => name.slice(0, -".tsx".length)).sort());
  for (const [name, bytes] of Object.entries(routes)) expect.soft(bytes / 1000, name).toBeLessThan(LARGE_PAGES[name] ?? PAGE);
  expect(Object.keys(parts).sort()).toEqual(Object.keys(PARTS).sort());
  for (const [name, most] of Object.entries(PARTS)) expect.soft((parts[name] ?? Number.NaN) / 1000, name).toBeLessThan(most);
});

test("no page takes the first view over 80 kB", async () => {
  const { first, routes } = await measureDashboard();
  expect(first + Math.max(...Object.values(routes))).toBeLessThan(80_000);
});

test("a first view is a handful of files, and no page takes many", async () => {
  const { files } = await measureDashboard();
  const { first, routes } = files;
  for (const name of ["overview", "activity", "campaigns", "contacts"])
    expect.soft(first + (routes[name] ?? Number.NaN), name).toBeLessThanOrEqual(7);
  expect(first + (routes["overview"] ?? Number.NaN)).toBeLessThanOrEqual(5);
  for (const [name, more] of Object.entries(routes)) expect.soft(first + more, name).toBeLessThanOrEqual(8);
});

test("the document names all scripts of each page, so that none is found by following imports", async () => {
  const { routes } = await measureDashboard();
  const files = await buildDashboard({ quality: 1 });
  const html = brotliDecompressSync(files.get("index.html")?.brotli ?? new Uint8Array()).toString();
  const listed = /name="scripts" content="([^"]+)"/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? "";
  const scripts = JSON.parse(listed) as { files: string[]; routes: Record<string, number[]> };
  expect(scripts.files.filter((name) => !files.has(`assets/${name}`))).toEqual([]);
  // Two paths lead to the inbox.
  expect(Object.keys(scripts.routes)).toHaveLength(Object.keys(routes).length + 1);
  expect(Object.values(scripts.routes).filter((places) => places.length === 0)).toEqual([]);
});

test("what a server holds in memory of the dashboard, once somebody has looked at it, is small", async () => {
  const files = [...(await buildDashboard()).values()];
  expect(files.reduce((sum, { brotli }) => sum + brotli.length, 0)).toBeLessThan(500_000);
});
