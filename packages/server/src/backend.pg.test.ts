import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases } from "../test/postgres.ts";
import { postgresBackend } from "./backend.pg.ts";
import { openPool } from "./db/postgres/pool.ts";
import { silentLog } from "./lib/log.ts";

afterAll(dropDatabases);

test("a start warns when the servers together may open more connections than the database allows, and not otherwise", async () => {
  const { url, drop } = await createDatabase();
  const warnings: Record<string, unknown>[] = [];
  const log = {
    ...silentLog,
    warn: (_message: string, facts: Record<string, unknown> = {}) => void ("needed" in facts && warnings.push(facts)),
  };
  const { db } = await postgresBackend(url, { migrate: false, log, connections: 2 });
  expect(warnings).toEqual([]);
  await db.close();
  const many = await postgresBackend(url, { migrate: false, log, connections: 5000 });
  expect(warnings).toMatchObject([{ processes: 1, perProcess: 5001, needed: 5001 }]);
  await many.db.close();
  await drop();
});

test("a start warns when a power cut may damage the database", async () => {
  const { url, drop } = await createDatabase();
  const warnings: Record<string, unknown>[] = [];
  const log = { ...silentLog, warn: (_message: string, facts: Record<string, unknown> = {}) => void warnings.push(facts) };
  const { db } = await postgresBackend(url, { migrate: false, log, connections: 2 });
  // As the server of the tests was started.
  const pool = openPool(url, 1);
  const { rows } = await pool.query("select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes");
  await pool.end();
  const off = Object.entries<string>(rows[0]).flatMap(([name, value]) => (value === "off" ? name : []));
  expect(warnings).toEqual(off.length === 0 ? [] : [{ off }]);
  await db.close();
  await drop();
});
