import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import type { SqliteDb } from "../src/db/sqlite/database.ts";
import { createWorld } from "../src/testing.ts";

/** Lists over all rows of a workspace whose filters are worth an index, with a value for each filter. */
const LISTS: [path: string, filters: Record<string, string>][] = [
  ["emails", { status: "bounced", to: "ada@example.com", inDoubt: "true" }],
  ["suppressions", {}],
  ["contacts", { status: "BOUNCED", tag: "vip" }],
  ["templates", {}],
  ["lists", {}],
  ["segments", {}],
  ["senders", {}],
  ["keys", {}],
];

test("a list reads no more rows of large tables than its page and its bounded count need", async () => {
  await using world = await createWorld();
  const db = world.app.deps.db as SqliteDb;
  const statements = new Set<string>();
  const prepare = Database.prototype.prepare;
  const spy = vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database.Database, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  for (const [path, filters] of LISTS)
    for (const query of [{}, ...Object.entries(filters).map(([name, value]) => ({ [name]: value }))]) {
      const url = `${world.url}/api/v1/${path}?${new URLSearchParams(query)}`;
      const response = await world.fetch(url, { headers: { authorization: `Bearer ${world.apiKey}` } });
      expect([url, response.status]).toEqual([url, 200]);
    }
  spy.mockRestore();
  const selects = [...statements].filter((sql) => /^select/i.test(sql) && /\bfrom\b/i.test(sql));
  expect(selects.length).toBeGreaterThan(LISTS.length);
  const plans = await db.exclusive((c) =>
    selects.map((sql) => {
      const parameters = sql
        .split("?")
        .slice(1)
        .map(() => null);
      return { sql, plan: (c.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]).map(({ detail }) => detail) };
    }),
  );
  // A temporary b-tree would sort all rows; a scan without an index in its name would read all rows of all workspaces.
  const bad = plans.filter(({ plan }) =>
    plan.some((step) => /TEMP B-TREE FOR ORDER BY|^SCAN (?!page\b|counted\b|\(|CONSTANT)(?!.*USING)/.test(step)),
  );
  expect(bad).toEqual([]);
  // Rows and count of each filter of emails read the index of that filter.
  const usesOf = (index: string): number => plans.filter(({ plan }) => plan.some((step) => step.includes(`INDEX ${index} `))).length;
  for (const index of ["emails_status", "emails_to", "emails_in_doubt"]) expect([index, usesOf(index) >= 2]).toEqual([index, true]);
});

test("page numbers end with the counted rows; the message leads to cursors", async () => {
  await using world = await createWorld();
  const response = await world.fetch(`${world.url}/api/v1/emails?page=102&limit=100`, {
    headers: { authorization: `Bearer ${world.apiKey}` },
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { details: [{ path: "page", code: "too_far" }] } }]);
});
