import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import type { SqliteDb } from "../src/db/sqlite/database.ts";
import { createWorld } from "../src/testing.ts";

/** Lists over all rows of a workspace whose filters are worth an index, with a value for each filter. */
const LISTS: [path: string, filters: Record<string, string>][] = [
  ["emails", { status: "bounced", to: "ada@example.com", inDoubt: "true" }],
  ["jobs", { state: "ready" }],
  ["suppressions", { reason: "bounce", scope: "all", source: "import", email: "ada@example.com", since: "2026-01-01T00:00:00.000Z" }],
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
  // These two sort rows of bounded number: a page of each range, and what is recent.
  const sortsFew = (sql: string): boolean => sql.includes("as ranges") || /likelihood\([^)]*created_at[^)]* 0\.0001\)/.test(sql);
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
  const bad = plans.filter(({ plan, sql }) =>
    // Jobs of all workspaces are walked from the newest.
    plan.some(
      (step) =>
        /^SCAN (?!page\b|counted\b|found\b|ranges\b|jobs\b|\(|CONSTANT)(?!.*USING)/.test(step) ||
        (step.includes("TEMP B-TREE FOR ORDER BY") && !sortsFew(sql)),
    ),
  );
  expect(bad).toEqual([]);
  // Rows and count of each filter of emails read the index of that filter.
  const usesOf = (index: string): number => plans.filter(({ plan }) => plan.some((step) => step.includes(`INDEX ${index} `))).length;
  for (const index of ["emails_status", "emails_to", "emails_in_doubt", "suppressions_filter", "suppressions_since"])
    expect([index, usesOf(index) >= 2]).toEqual([index, true]);
});

test("of several filters of emails, the index of the one that fewest emails match is read", async () => {
  await using world = await createWorld();
  const db = world.app.deps.db as SqliteDb;
  const statements = new Set<string>();
  const prepare = Database.prototype.prepare;
  const spy = vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database.Database, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  const indexesOf = async (query: Record<string, string>): Promise<Set<string | undefined>> => {
    statements.clear();
    const url = `${world.url}/api/v1/emails?${new URLSearchParams(query)}`;
    await world.fetch(url, { headers: { authorization: `Bearer ${world.apiKey}` } });
    const selects = [...statements].filter((sql) => /^select/i.test(sql) && sql.includes("status"));
    expect(selects.length).toBe(2);
    return db.exclusive((c) => {
      const steps = selects.flatMap((sql) => {
        const parameters = Array.from({ length: sql.split("?").length - 1 }, () => null);
        return c.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
      });
      return new Set(steps.map(({ detail }) => /INDEX (emails_\w+) /.exec(detail)?.[1]).filter((name) => name !== undefined));
    });
  };
  expect(await indexesOf({ status: "delivered", to: "ada@example.com" })).toEqual(new Set(["emails_to"]));
  expect(await indexesOf({ status: "delivered", inDoubt: "true" })).toEqual(new Set(["emails_in_doubt"]));
  expect(await indexesOf({ status: "delivered", to: "ada@example.com", inDoubt: "true" })).toEqual(new Set(["emails_in_doubt"]));
  expect(await indexesOf({ status: "bounced", inDoubt: "false" })).toEqual(new Set(["emails_status"]));
  spy.mockRestore();
});

test("page numbers end with the counted rows; the message leads to cursors", async () => {
  await using world = await createWorld();
  const response = await world.fetch(`${world.url}/api/v1/emails?page=102&limit=100`, {
    headers: { authorization: `Bearer ${world.apiKey}` },
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { details: [{ path: "page", code: "too_far" }] } }]);
});
