import Database from "better-sqlite3";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { readMigration } from "../../test/migration-steps.ts";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";

afterAll(dropDatabases);

const NAME = "by_hand_event_numbers.sql";
const INSERT = `insert into events (workspace_id, type, at, position)
  values ('ws_1', 'email.sent', 1, 1), ('ws_2', 'email.sent', 1, 1), ('ws_1', 'email.sent', 1, null), ('ws_1', 'email.sent', 1, 2)`;
const NUMBERS = "select workspace_id, position, event_key from event_numbers order by event_key";
const ARRIVALS = "select workspace_id, event_keys from event_arrivals";

const EXPECTED = [
  { workspace_id: "ws_1", position: 1, event_key: 1 },
  { workspace_id: "ws_2", position: 1, event_key: 2 },
  { workspace_id: "ws_1", position: 2, event_key: 4 },
];

test("the numbers of stored events are kept, and those without one still get it, on SQLite", () => {
  const db = new Database(":memory:");
  try {
    db.function("mailsvc_fold", (text) => text);
    const { before, own } = readMigration(NAME, "sqlite");
    for (const statement of [...before, INSERT, ...own]) db.exec(statement);
    expect(db.prepare(NUMBERS).all()).toEqual(EXPECTED);
    expect(db.prepare(ARRIVALS).all()).toEqual([{ workspace_id: "ws_1", event_keys: "[3]" }]);
  } finally {
    db.close();
  }
});

test("the numbers of stored events are kept, and those without one still get it, on Postgres", async () => {
  const { url, drop } = await createDatabase("empty");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { before, own } = readMigration(NAME, "pg");
    for (const statement of [...before, INSERT, ...own]) await client.query(statement);
    const { rows } = await client.query<{ workspace_id: string; position: string; event_key: string }>(NUMBERS);
    expect(rows.map((row) => ({ ...row, position: Number(row.position), event_key: Number(row.event_key) }))).toEqual(EXPECTED);
    expect((await client.query(ARRIVALS)).rows).toEqual([{ workspace_id: "ws_1", event_keys: [3] }]);
  } finally {
    await client.end();
    await drop();
  }
});
