import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { createWorld, type TestWorld } from "../src/testing.ts";
import { fillWorld, listPaths, type RowOwners } from "./many-rows.ts";
import { createDatabase, dropDatabases } from "./postgres.ts";

afterAll(dropDatabases);

// Counting ends at 10,000 rows, which are met among some more. A list without an index would read all rows.
const ROWS = 26_000;
const MOST_READ = 19_000;
// For a page of recipients of a campaign, the newest of each state.
const RECIPIENTS_READ = 3000;
// For a page of 100 that an index has in its order: ids, emails and contents.
const PAGE_READ = 310;

/** A step of a plan that was executed, as Postgres describes it. */
interface Step {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Step[];
}

/** The rows that each step reads from a table, as `table: rows`. */
function listReads(step: Step): { from: string; rows: number }[] {
  const perLoop = step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Index Recheck"] ?? 0);
  const from = step["Relation Name"] ?? step["Index Name"];
  const own = from === undefined ? [] : [{ from: `${step["Node Type"]} of ${from}`, rows: perLoop * step["Actual Loops"] }];
  return [...own, ...(step.Plans ?? []).flatMap(listReads)];
}

interface Filled {
  readonly world: TestWorld;
  readonly client: pg.Client;
  readonly owners: RowOwners;
  readonly slug: string;
  /** The key of a workspace that has nothing. */
  readonly tinyKey: string;
}

/** Runs with a world whose large tables are full, and a connection beside it. */
async function withRows(work: (filled: Filled) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  const world = await createWorld({ databaseUrl: database.url });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { slug, ...owners } = await fillWorld(world, ROWS, database.url);
    const tiny = await world.createWorkspace("Tiny");
    await work({ world, client, owners, slug, tinyKey: tiny.apiKey });
  } finally {
    vi.restoreAllMocks();
    await client.end();
    await world.dispose();
    await database.drop();
  }
}

/** Calls lists, and shows what each of their statements reads. */
async function forEachStatement(
  { world, client, tinyKey }: Filled,
  paths: readonly string[],
  check: (about: { path: string; text: string }, plan: Step) => void,
): Promise<void> {
  const queries: { text: string; values: unknown[] }[] = [];
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [config, values] = args as [string | { text: string; values?: unknown[] }, unknown[]?];
    if (this !== client && typeof config === "object") queries.push({ text: config.text, values: values ?? config.values ?? [] });
    return Reflect.apply(query, this, args);
  });
  for (const path of paths) {
    const keys = path.includes("/deliveries") ? [world.builder.apiKey] : [world.apiKey, tinyKey];
    for (const key of keys) {
      queries.length = 0;
      const response = await world.fetch(world.url + path, { headers: { authorization: `Bearer ${key}` } });
      if (/\/(people|campaigns)\//.test(path) && key === tinyKey) continue;
      expect([path, response.status]).toEqual([path, 200]);
      const selects = queries.filter(({ text }) => /^[\s(]*select/i.test(text));
      expect([path, selects.length > 0]).toEqual([path, true]);
      for (const { text, values } of selects) {
        const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Step }] }>(`explain (analyze, format json) ${text}`, values);
        check({ path, text }, (rows[0] as { "QUERY PLAN": [{ Plan: Step }] })["QUERY PLAN"][0].Plan);
      }
    }
  }
}

test("no list reads more rows of a large table than its page and its bounded count need", { timeout: 240_000 }, () =>
  withRows((filled) =>
    forEachStatement(filled, listPaths(filled.owners, filled.slug), ({ path, text }, plan) => {
      const reads = listReads(plan);
      expect([path, text, reads.filter((read) => read.rows > MOST_READ)]).toEqual([path, text, []]);
      if (path.includes("/recipients") && !text.includes('"counted"'))
        expect([path, text, reads.filter((read) => read.rows > RECIPIENTS_READ)]).toEqual([path, text, []]);
      if (path.endsWith("&limit=100") && text.includes('"contents"."subject"'))
        expect([path, text, reads.reduce((sum, { rows }) => sum + rows, 0) <= PAGE_READ]).toEqual([path, text, true]);
    }),
  ),
);
