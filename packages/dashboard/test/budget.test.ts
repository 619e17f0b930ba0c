import { expect, test } from "vitest";
import { measureDashboard } from "../build.mjs";

// Script that a browser loads, kB after gzip: for every first view, and for a page in addition.
const FIRST = 30;
const PAGES: Readonly<Record<string, number>> = { activity: 6, email: 8, inbox: 9, people: 5 };

test("the first view and each page keep their budgets", async () => {
  const { first, routes } = await measureDashboard();
  expect(first / 1000).toBeLessThan(FIRST);
  expect(Object.keys(routes).sort()).toEqual(Object.keys(PAGES).sort());
  for (const [name, most] of Object.entries(PAGES)) expect.soft((routes[name] ?? Number.NaN) / 1000, name).toBeLessThan(most);
});

test("no page takes the first view over 80 kB", async () => {
  const { first, routes } = await measureDashboard();
  expect(first + Math.max(...Object.values(routes))).toBeLessThan(80_000);
});
