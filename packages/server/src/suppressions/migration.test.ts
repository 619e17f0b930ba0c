import { readdirSync } from "node:fs";
import Database from "better-sqlite3";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { MIGRATIONS, readMigration, readStatements } from "../../test/migration-steps.ts";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";

afterAll(dropDatabases);

const NAME = "0002_unsubscribed_are_suppressed.sql";

test("the migration suppresses contacts that unsubscribed before, once, and leaves other suppressions alone", () => {
  const db = new Database(":memory:");
  try {
    // What contacts are searched by is not of interest here, and needs functions of ours.
    db.function("mailsvc_fold", (text) => text);
    const earlier = readdirSync(new URL("sqlite/", MIGRATIONS)).filter((file) => file.endsWith(".sql") && file < NAME);
    for (const statement of earlier.flatMap((file) => readStatements(file))) db.exec(statement);
    const contact = db.prepare(
      `insert into contacts (id, workspace_id, email, email_key, status, tags, custom_fields, search_text, created_at, updated_at)
       values (?, 'ws_1', ?, ?, ?, '[]', '{}', '', 1, 2)`,
    );
    const id = (n: number): string => `con_01jc3v2m9k8q4w6x0y5z7a1b2${n}`;
    const people = [
      ["gone", "UNSUBSCRIBED"],
      ["bounced", "BOUNCED"],
      ["here", "SUBSCRIBED"],
      ["both", "UNSUBSCRIBED"],
    ] as const;
    for (const [n, [name, status]] of people.entries()) contact.run(id(n), `${name}@example.com`, `${name}@example.com`, status);
    db.exec(
      `insert into suppressions (id, workspace_id, email, reason, scope, source, created_at, updated_at)
       values ('sup_x', 'ws_1', 'both@example.com', 'manual', 'all', 'api', 1, 1)`,
    );
    for (const statement of readStatements(NAME)) db.exec(statement);
    expect(db.prepare("select id, workspace_id, email, reason, scope from suppressions order by email").raw().all()).toEqual([
      ["sup_x", "ws_1", "both@example.com", "manual", "all"],
      [id(0).replace("con_", "sup_"), "ws_1", "gone@example.com", "unsubscribe", "marketing"],
    ]);
  } finally {
    db.close();
  }
  expect(readStatements(NAME, "pg").at(-1)).toBe(readStatements(NAME).at(-1));
});

const NUMBERING = "by_hand_suppression_search.sql";
const INSERT = `insert into suppressions (id, workspace_id, email, reason, scope, source, created_at, updated_at)
  values ('sup_2', 'ws_1', 'ada@example.com', 'manual', 'all', 'api', 1, 1), ('sup_1', 'ws_1', 'bob@rare.test', 'manual', 'all', 'api', 1, 1)`;

test("stored suppressions are numbered by their ids, and found by parts of their addresses, on SQLite", () => {
  const db = new Database(":memory:");
  try {
    db.function("mailsvc_fold", (text) => text);
    const { before, own } = readMigration(NUMBERING, "sqlite");
    for (const statement of [...before, INSERT, ...own]) db.exec(statement);
    expect(db.prepare("select seq, id from suppressions order by seq").raw().all()).toEqual([
      [1, "sup_1"],
      [2, "sup_2"],
    ]);
    expect(db.prepare(`select rowid from suppressions_search where suppressions_search match '"rar" AND "are"'`).pluck().all()).toEqual([
      1,
    ]);
  } finally {
    db.close();
  }
});

test("stored suppressions are numbered by their ids on Postgres, and new ones after them", async () => {
  const { url, drop } = await createDatabase("empty");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { before, own } = readMigration(NUMBERING, "pg");
    for (const statement of [...before, INSERT, ...own]) await client.query(statement);
    await client.query(
      INSERT.replace("sup_2", "sup_0")
        .replace("ada@", "eve@")
        .replace(/, \('sup_1'.*/, ""),
    );
    const { rows } = await client.query<{ seq: string; id: string }>("select seq, id from suppressions order by seq");
    expect(rows.map(({ seq, id }) => [Number(seq), id])).toEqual([
      [1, "sup_1"],
      [2, "sup_2"],
      [3, "sup_0"],
    ]);
  } finally {
    await client.end();
    await drop();
  }
});
