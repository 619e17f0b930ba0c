import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases } from "../test/postgres.ts";
import { postgresBackend } from "./backend.pg.ts";
import { silentLog } from "./lib/log.ts";

afterAll(dropDatabases);

test("a start warns when the servers together may open more connections than the database allows, and not otherwise", async () => {
  const { url, drop } = await createDatabase();
  const warnings: Record<string, unknown>[] = [];
  const log = { ...silentLog, warn: (_message: string, facts: Record<string, unknown> = {}) => void warnings.push(facts) };
  const { db } = await postgresBackend(url, { migrate: false, log, connections: 2 });
  expect(warnings).toEqual([]);
  await db.close();
  const many = await postgresBackend(url, { migrate: false, log, connections: 5000 });
  expect(warnings).toMatchObject([{ processes: 1, perProcess: 5001, needed: 5001 }]);
  await many.db.close();
  await drop();
});
