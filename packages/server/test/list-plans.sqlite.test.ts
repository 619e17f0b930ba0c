import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import type { SqliteDb } from "../src/db/sqlite/database.ts";
import { countStatus } from "../src/emails/emails.ts";
import { createWorld, type TestWorld } from "../src/testing.ts";
import { FREQUENT_RECIPIENT, fillWorld } from "./many-rows.ts";

/** Lists over all rows of a workspace whose filters are worth an index, with a value for each filter. */
const LISTS: [path: string, filters: Record<string, string>][] = [
  [
    "emails",
    {
      ...{
        status: "bounced",
        to: "ada@example.com",
        inDoubt: "true",
        tag: "kind=report",
        template: "hi",
        campaign: "cmp_x",
        automation: "aut_x",
      },
      ...{ from: "ada@example.com", subject: "hello", since: "2026-01-01T00:00:00.000Z", until: "2026-01-02T00:00:00.000Z" },
    },
  ],
  ["jobs", { state: "ready" }],
  ["suppressions", { reason: "bounce", scope: "all", source: "import", email: "ada@example.com", since: "2026-01-01T00:00:00.000Z" }],
  ["contacts", { status: "BOUNCED", tag: "vip" }],
  ["templates", {}],
  ["lists", {}],
  ["segments", {}],
  ["senders", {}],
  ["keys", {}],
  ["metrics", { by: "domain", tag: "kind=report", domain: "gmail", campaign: "cmp_x" }],
];

test("a list reads no more rows of large tables than its page and its bounded count need", async () => {
  const queries = recordQueries();
  await using world = await createWorld();
  queries.clear();
  for (const [path, filters] of LISTS)
    for (const query of [{}, ...Object.entries(filters).map(([name, value]) => ({ [name]: value }))]) {
      const url = `${world.url}/api/v1/${path}?${new URLSearchParams(query)}`;
      const response = await world.fetch(url, { headers: { authorization: `Bearer ${world.apiKey}` } });
      expect([url, response.status]).toEqual([url, 200]);
    }
  const selects = [...queries].filter((sql) => /^select/i.test(sql) && /\bfrom\b/i.test(sql));
  expect(selects.length).toBeGreaterThan(LISTS.length);
  // A hundred emails may have 5 MB of HTML each, which no list shows.
  expect(selects.filter((sql) => sql.includes('"contents"."html"'))).toEqual([]);
  // These sort rows of bounded number: a page of each range, what is recent, and the first job of each lane.
  const sortsFew = (sql: string): boolean =>
    sql.includes("as ranges") ||
    sql.includes('"newest" union all') ||
    sql.includes('"lane0"') ||
    /likelihood\([^)]*created_at[^)]* 0\.0001\)/.test(sql);
  const plans = await explain(world, selects);
  // A temporary b-tree would sort all rows; a scan without an index in its name would read all rows of all workspaces.
  const bad = plans.filter(({ plan, sql }) =>
    // Jobs of all workspaces are walked from the newest.
    plan.some(
      (step) =>
        /^SCAN (?!page\b|counted\b|examined\b|found\b|ranges\b|newest\b|jobs\b|lane\d|k\b|\(|CONSTANT)(?!.*USING)/.test(step) ||
        (step.includes("TEMP B-TREE FOR ORDER BY") && !sortsFew(sql)),
    ),
  );
  expect(bad).toEqual([]);
  // Rows and count of each filter of emails read the index of that filter.
  const usesOf = (index: string): number => plans.filter(({ plan }) => plan.some((step) => step.includes(`INDEX ${index} `))).length;
  for (const index of ["emails_status", "emails_to", "emails_in_doubt", "suppressions_filter", "suppressions_since"])
    expect([index, usesOf(index) >= 2]).toEqual([index, true]);
});

async function explain(world: TestWorld, queries: readonly string[]): Promise<{ sql: string; plan: string[] }[]> {
  return (world.app.deps.db as SqliteDb).exclusive((c) =>
    queries.map((sql) => {
      const parameters = Array.from({ length: sql.split("?").length - 1 }, () => null);
      return { sql, plan: (c.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]).map(({ detail }) => detail) };
    }),
  );
}

/** Records the text of each query that returns rows, from the databases that are opened from now on. */
function recordQueries(): Set<string> {
  const queries = new Set<string>();
  const prepare = Database.prototype.prepare;
  vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const all = statement.all.bind(statement) as (...params: unknown[]) => unknown[];
    statement.all = (...params: unknown[]) => {
      queries.add(sql);
      return all(...params);
    };
    return statement;
  });
  return queries;
}

test("of several filters, the one that fewest rows match is served by its index", async () => {
  const queries = recordQueries();
  await using world = await createWorld();
  const { slug, ...owners } = await fillWorld(world, 12_000);
  const activation = `activationId=${owners.activationId}`;
  const deliveries = `/api/v1/marketplace/listings/${slug}/deliveries`;
  const expected: [path: string, index: string, key?: string][] = [
    ["/api/v1/emails?status=delivered&to=u77@example.com", "emails_to"],
    [`/api/v1/emails?status=delivered&to=${FREQUENT_RECIPIENT}`, "emails_to"],
    [`/api/v1/emails?status=complained&to=${FREQUENT_RECIPIENT}`, "emails_status"],
    ["/api/v1/emails?status=delivered&inDoubt=true", "emails_in_doubt"],
    [`/api/v1/emails?status=delivered&inDoubt=true&to=${FREQUENT_RECIPIENT}`, "emails_in_doubt"],
    ["/api/v1/emails?status=bounced&inDoubt=false", "emails_status"],
    ["/api/v1/suppressions?reason=manual", "suppressions_filter"],
    ["/api/v1/suppressions?reason=manual&search=s", "suppressions_filter"],
    ["/api/v1/suppressions?since=2030-01-01T00:00:00.000Z", "suppressions_since"],
    ["/api/v1/suppressions?since=2023-01-01T00:00:00.000Z", "suppressions_workspace"],
    ["/api/v1/suppressions?email=s77@example.com", "suppressions_email"],
    ["/api/v1/jobs?state=dead", "jobs_dead"],
    // The jobs of the state, each looked up in the workspace.
    ["/api/v1/jobs?state=running", "jobs_workspace jobs_state"],
    ["/api/v1/jobs?state=ready", "jobs_workspace"],
    ["/api/v1/jobs", "jobs_workspace"],
    [`${deliveries}?state=dead`, "webhook_events_state", world.builder.apiKey],
    [`${deliveries}?type=test.ping`, "webhook_events_type", world.builder.apiKey],
    [`${deliveries}?type=test.ping&state=delivered`, "webhook_events_type", world.builder.apiKey],
    [`${deliveries}?${activation}`, "webhook_events_sequence", world.builder.apiKey],
    [`${deliveries}?${activation}&state=dead`, "webhook_events_state", world.builder.apiKey],
    [`${deliveries}?activationId=act_few&state=delivered`, "webhook_events_sequence", world.builder.apiKey],
  ];
  for (const [path, index, key = world.apiKey] of expected) {
    queries.clear();
    const response = await world.fetch(world.url + path, { headers: { authorization: `Bearer ${key}` } });
    expect([path, response.status]).toEqual([path, 200]);
    // No count reads all rows of the workspace.
    const counts = await explain(
      world,
      [...queries].filter((sql) => sql.includes('"counted"') && sql.includes('"emails"')),
    );
    expect([path, counts.filter(({ plan }) => plan.some((step) => /USING PRIMARY KEY \(workspace_id=\?\)$/.test(step)))]).toEqual([
      path,
      [],
    ]);
    // Without those that count how many rows match each filter, and the index that finds other recipients of the same mail.
    const plans = await explain(
      world,
      [...queries].filter((sql) => !sql.includes('"counted"')),
    );
    // Statements about other tables are of the loops that run beside it.
    const [table] = /^(?:emails|jobs|webhook_events|suppressions)/.exec(index) ?? [];
    const indexes = plans.flatMap(({ plan }) => plan.map((step) => new RegExp(`INDEX (${table}_\\w+)`).exec(step)?.[1]));
    expect([path, ...new Set(indexes.filter((name) => name !== undefined && name !== "emails_mail"))]).toEqual([path, ...index.split(" ")]);
  }
});

test("pages of the recipients of a campaign, and its verification, read its indexes in their order", async () => {
  const queries = recordQueries();
  await using world = await createWorld();
  await fillWorld(world, 3000);
  queries.clear();
  const call = async (path: string): Promise<{ pagination?: { nextCursor: string } }> => {
    const response = await world.fetch(`${world.url}/api/v1/campaigns/cmp_bench/${path}`, {
      headers: { authorization: `Bearer ${world.apiKey}` },
    });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as { pagination?: { nextCursor: string } };
  };
  const first = await call("recipients");
  await call(`recipients?cursor=${first.pagination?.nextCursor}`);
  await call("recipients?status=delivered");
  await call("verify");
  // Without those that read the log in the meantime.
  const plans = await explain(
    world,
    [...queries].filter((sql) => !sql.includes('"event_runs"')),
  );
  expect(plans.length).toBeGreaterThan(3);
  const sorts = plans.filter(({ sql, plan }) => plan.some((step) => step.includes("TEMP B-TREE")) && !sql.includes('"newest"'));
  expect(sorts).toEqual([]);
  expect(
    plans.flatMap(({ plan }) => plan).filter((step) => /^(SCAN|SEARCH) events\b/.test(step) && !step.includes("INDEX events_campaign ")),
  ).toEqual([]);
});

test("metrics count emails by the index of their statuses", async () => {
  const queries = recordQueries();
  await using world = await createWorld();
  queries.clear();
  await countStatus(world.app.deps.db.read, "deferred");
  const [{ plan } = { plan: [] }] = await explain(world, [...queries]);
  expect(plan.filter((step) => step.startsWith("SEARCH emails"))).toEqual([
    expect.stringContaining("COVERING INDEX emails_status (workspace_id=? AND status=? AND id<?)"),
  ]);
});

test("a page behind the end of a list is empty, however far it is", async () => {
  await using world = await createWorld();
  const response = await world.fetch(`${world.url}/api/v1/emails?page=102&limit=100`, {
    headers: { authorization: `Bearer ${world.apiKey}` },
  });
  expect([response.status, await response.json()]).toMatchObject([200, { data: [], pagination: { total: 0, hasMore: false } }]);
});

test("the last emails to an address that failed softly are found by its index", async () => {
  const queries = recordQueries();
  await using world = await createWorld();
  queries.clear();
  await world.sdk.emails.send({ from: "a@acme.example", to: "softbounced@simulator.mailsvc.test", subject: "Hi", text: "Hi" });
  await world.clock.advance("4d");
  const plans = await explain(
    world,
    [...queries].filter((sql) => /^select "status", "last_error"/.test(sql)),
  );
  expect(plans.map(({ plan }) => plan)).toEqual([[expect.stringContaining("USING INDEX emails_to ")]]);
});
