import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildDashboard, measureDashboard } from "../build.mjs";

// Script that a browser loads, kB after gzip: for every first view, and for a page in addition.
const FIRST = 30;
// Parts that a page loads on demand.
const PARTS: Readonly<Record<string, number>> = {
  "agents/proposal": 5,
  "audience/contact-export": 7,
  "blocks/block-editor": 14.2,
  "editor/code-mirror": 120,
  finder: 5,
  "rules/rule-editor": 13.2,
};
const PAGES: Readonly<Record<string, number>> = {
  activity: 8.1,
  audit: 9,
  brand: 14,
  key: 8,
  "landing-page": 12,
  "landing-pages": 7,
  "lead-magnet": 7,
  "lead-magnets": 6,
  picture: 5,
  pictures: 6,
  plan: 7,
  requests: 8,
  agent: 15.4,
  "agent-run": 6,
  agents: 7,
  approvals: 8,
  automation: 48.5,
  "automation-edit": 48.5,
  "automation-entry": 38,
  automations: 12.8,
  campaign: 37,
  "campaign-edit": 24.5,
  "campaign-review": 21.5,
  campaigns: 9.3,
  catalog: 5,
  "catalog-agent": 5,
  contact: 19,
  "contact-import": 29,
  contacts: 16.5,
  credits: 7,
  dev: 6,
  email: 12.5,
  event: 5,
  events: 6.7,
  form: 10,
  forms: 11,
  "inbound-domains": 5,
  inbox: 10,
  install: 5,
  keys: 9,
  list: 15.4,
  listing: 14.5,
  "listing-delivery": 6,
  listings: 6,
  lists: 8,
  "mail-state": 4,
  "mail-states": 7,
  "new-listing": 5,
  "new-segment": 15,
  overview: 12,
  people: 8,
  queue: 9,
  relay: 7,
  relays: 4,
  segment: 25.2,
  segments: 6,
  sender: 6,
  received: 6,
  senders: 6.1,
  suppression: 8.2,
  suppressions: 9.8,
  template: 24,
  "template-version": 6,
  templates: 7.5,
  thread: 9,
  webhook: 11,
  "webhook-delivery": 5.4,
  webhooks: 7.3,
  workspaces: 6.1,
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

test("the document names all scripts of the first view and of each page, so that none is found by following imports", async () => {
  const { routes } = await measureDashboard();
  const files = await buildDashboard({ quality: 1 });
  const html = brotliDecompressSync(files.get("index.html")?.brotli ?? new Uint8Array()).toString();
  const preloaded = [...html.matchAll(/rel="modulepreload" href="\/dashboard\/([^"]+)"/g)].map(([, name = ""]) => name);
  const listed = /name="scripts" content="([^"]+)"/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? "";
  const scripts = JSON.parse(listed) as { files: string[]; routes: Record<string, number[]> };
  expect(preloaded.length).toBeGreaterThan(3);
  expect([...preloaded, ...scripts.files.map((name) => `assets/${name}`)].filter((name) => !files.has(name))).toEqual([]);
  // Two paths lead to the inbox.
  expect(Object.keys(scripts.routes)).toHaveLength(Object.keys(routes).length + 1);
  expect(Object.values(scripts.routes).filter((places) => places.length === 0)).toEqual([]);
});

test("what a server holds in memory of the dashboard, once somebody has looked at it, is small", async () => {
  const files = [...(await buildDashboard()).values()];
  expect(files.reduce((sum, { brotli }) => sum + brotli.length, 0)).toBeLessThan(500_000);
});
