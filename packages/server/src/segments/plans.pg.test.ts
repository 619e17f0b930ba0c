import type { SegmentRule } from "@mailsvc/sdk/contract";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { createWorld } from "../testing.ts";
import { compileRule } from "./compile.ts";
import { buildRuleContext } from "./query.ts";

afterAll(dropDatabases);

test("Postgres asks about each contact by itself, and reads nothing for all of them for each part of a scan", async () => {
  const database = await createDatabase("empty");
  await using world = await createWorld({ databaseUrl: database.url });
  const { app, sdk, workspaceId } = world;
  const { id: listId } = await sdk.lists.create({ name: "News" });
  const context = await buildRuleContext(app.deps.db.read, app.deps, workspaceId);
  const rules: SegmentRule[] = [
    { field: "did.purchase", operator: "gte", value: 1, within: "30d" },
    { field: "did.purchase", operator: "gte", value: 1, where: { field: "currency", operator: "equals", value: "EUR" } },
    { field: "opened", operator: "exists", value: false },
    { field: "tags", operator: "contains", value: "vip" },
    { field: "lists", operator: "contains", value: listId },
    { field: "lastOpenedAt", operator: "withinLast", value: "7d" },
  ];
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    for (const rule of rules) {
      const { contacts: c } = context.q.t;
      const { sql, params } = context.q.select({ seq: c.seq }).from(c).where(compileRule(context, rule)).toSQL();
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${sql}`, params);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toContain("SubPlan");
      expect(plan).not.toMatch(/Join|Nested Loop|hashed/);
    }
  } finally {
    await client.end();
  }
});
