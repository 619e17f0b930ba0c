import type { SegmentRule } from "@mailsvc/sdk/contract";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { createWorld } from "../testing.ts";
import type { SeqWindow } from "./actions.ts";
import { compileRule } from "./compile.ts";
import { buildRuleContext } from "./query.ts";

afterAll(dropDatabases);

const OF_EVENTS: SegmentRule = {
  field: "did.purchase",
  operator: "gte",
  value: 1,
  where: { field: "currency", operator: "equals", value: "EUR" },
};

test("Postgres asks about each contact by itself, and reads nothing for all of them for each part of a scan", async () => {
  await using plans = await openPlans();
  const { id: listId } = await plans.sdk.lists.create({ name: "News" });
  const rules: SegmentRule[] = [
    { field: "did.purchase", operator: "gte", value: 1, within: "30d" },
    OF_EVENTS,
    { field: "opened", operator: "exists", value: false },
    { field: "tags", operator: "contains", value: "vip" },
    { field: "lists", operator: "contains", value: listId },
    { field: "lastOpenedAt", operator: "withinLast", value: "7d" },
  ];
  for (const rule of rules) {
    const plan = await plans.explain(rule);
    expect(plan).toContain("SubPlan");
    expect(plan).not.toMatch(/Join|Nested Loop|hashed/);
  }
});

test("for the contacts of a window Postgres finds once what they did, unless their events must be read", async () => {
  await using plans = await openPlans();
  const window = { after: 20_000, last: 40_000 };
  const rules: SegmentRule[] = [
    { field: "did.purchase", operator: "gte", value: 2, within: "30d", where: { field: "value", operator: "gt", value: 90 } },
    { field: "did.purchase", operator: "lt", value: 2 },
    { field: "opened", operator: "exists", value: false },
    {
      any: [
        { field: "did.purchase", operator: "gte", value: 3 },
        { field: "clicked", operator: "exists" },
      ],
    },
  ];
  for (const rule of rules) {
    const plan = await plans.explain(rule, window);
    expect(plan).toMatch(/contact_seq > '?20000.*contact_seq <= '?40000/);
    // A SubPlan that is not hashed would run for each contact.
    expect(plan.replaceAll("hashed SubPlan", "")).not.toMatch(/EXISTS|Filter.*SubPlan/);
  }
  expect(await plans.explain(OF_EVENTS, window)).not.toContain("20000");
});

/** A server on Postgres that shows how rules are planned. */
async function openPlans() {
  const database = await createDatabase("empty");
  const world = await createWorld({ databaseUrl: database.url });
  const { app, sdk, workspaceId } = world;
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    sdk,
    explain: async (rule: SegmentRule, window?: SeqWindow): Promise<string> => {
      const context = await buildRuleContext(app.deps.db.read, app.deps, workspaceId);
      const { contacts: c } = context.q.t;
      const query = context.q
        .select({ seq: c.seq })
        .from(c)
        .where(compileRule({ ...context, window }, rule))
        .toSQL();
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${query.sql}`, query.params);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await world[Symbol.asyncDispose]();
    },
  };
}
