import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildDashboard, measureDashboard } from "../build.mjs";

// Script that a browser loads, kB after gzip: for every first view, and for a page in addition.
const FIRST = 30;
// Parts that a page loads on demand.
const PARTS: Readonly<Record<string, number>> = {
  "agents/proposal": 16.2,
  "audience/contact-export": 21.8,
  "blocks/block-editor": 26.4,
  "editor/code-mirror": 118.9,
  finder: 11.4,
};
const PAGES: Readonly<Record<string, number>> = {
  activity: 10.7,
  audit: 12.5,
  brand: 16.1,
  key: 12.6,
  "landing-page": 15.3,
  "landing-pages": 10.2,
  "lead-magnet": 10.3,
  "lead-magnets": 10.2,
  picture: 10.2,
  pictures: 10.3,
  plan: 10.6,
  requests: 10.7,
  agent: 18.3,
  "agent-run": 11.2,
  agents: 12.8,
  approvals: 12.7,
  automation: 50,
  "automation-edit": 55.3,
  "automation-entry": 44,
  automations: 17.3,
  campaign: 41.5,
  "campaign-edit": 29.7,
  "campaign-review": 25.3,
  campaigns: 16,
  catalog: 10,
  "catalog-agent": 12.7,
  contact: 22.2,
  "contact-import": 40.1,
  contacts: 23.9,
  credits: 12.8,
  dev: 13.1,
  email: 27.4,
  event: 12.2,
  events: 10.2,
  form: 12.9,
  forms: 12.6,
  "inbound-domains": 10.7,
  inbox: 18.5,
  install: 12.9,
  keys: 11.1,
  list: 20.4,
  listing: 15.2,
  "listing-delivery": 10.2,
  listings: 9.8,
  lists: 12.4,
  "mail-state": 10.2,
  "mail-states": 9.9,
  "new-listing": 12.7,
  "new-segment": 29,
  overview: 15.8,
  people: 11.6,
  queue: 14.4,
  relay: 11.7,
  relays: 11,
  segment: 32.9,
  segments: 10,
  sender: 11.3,
  received: 10.2,
  senders: 10,
  suppression: 17.1,
  suppressions: 17.3,
  template: 26.1,
  "template-version": 15.9,
  templates: 11.2,
  thread: 18,
  webhook: 11.4,
  "webhook-delivery": 10.2,
  webhooks: 10.4,
  workspaces: 10.3,
};

test("the first view and each page keep their budgets", async () => {
  const { first, routes, parts } = await measureDashboard();
  expect(first / 1000).toBeLessThan(FIRST);
  expect(Object.keys(routes).sort()).toEqual(Object.keys(PAGES).sort());
  for (const [name, most] of Object.entries(PAGES)) expect.soft((routes[name] ?? Number.NaN) / 1000, name).toBeLessThan(most);
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
