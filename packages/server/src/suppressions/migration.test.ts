import { readdirSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, test } from "vitest";

const MIGRATIONS = new URL("../../migrations/", import.meta.url);
const NAME = "0002_unsubscribed_are_suppressed.sql";

function readStatements(file: string, kind = "sqlite"): string[] {
  return readFileSync(new URL(`${kind}/${file}`, MIGRATIONS), "utf8").split("--> statement-breakpoint");
}

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
