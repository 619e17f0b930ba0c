// The server most people would write first: h3, zod, drizzle as its guide shows it (queries built each time), the key
// looked up by its SHA-256 for each request, and its own transaction for each send. As durable as mailsvc: WAL at
// synchronous=FULL, answered after COMMIT. It stores the same rows, and delivers nothing.
import { createHash, randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { and, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { H3, HTTPError } from "h3";
import { toNodeHandler } from "srvx/node";
import { z } from "zod";

const [, , folder = ".", apiKey = "none"] = process.argv;

const keys = sqliteTable("keys", { id: text().primaryKey(), hash: text().notNull(), workspaceId: text().notNull() }, (t) => [
  uniqueIndex("keys_hash").on(t.hash),
]);
const senders = sqliteTable("senders", { id: text().primaryKey(), workspaceId: text().notNull(), value: text().notNull() }, (t) => [
  uniqueIndex("senders_value").on(t.workspaceId, t.value),
]);
const suppressions = sqliteTable(
  "suppressions",
  { id: text().primaryKey(), workspaceId: text().notNull(), email: text().notNull() },
  (t) => [uniqueIndex("suppressions_email").on(t.workspaceId, t.email)],
);
const emails = sqliteTable(
  "emails",
  {
    id: text().primaryKey(),
    workspaceId: text().notNull(),
    from: text().notNull(),
    to: text().notNull(),
    subject: text().notNull(),
    html: text(),
    text: text(),
    tags: text({ mode: "json" }),
    status: text().notNull(),
    createdAt: integer().notNull(),
  },
  (t) => [index("emails_workspace").on(t.workspaceId, t.createdAt)],
);
const events = sqliteTable(
  "events",
  { id: integer().primaryKey(), workspaceId: text().notNull(), emailId: text().notNull(), type: text().notNull(), at: integer().notNull() },
  (t) => [index("events_email").on(t.emailId)],
);
const jobs = sqliteTable(
  "jobs",
  {
    id: integer().primaryKey(),
    kind: text().notNull(),
    payload: text({ mode: "json" }).notNull(),
    state: text().notNull(),
    runAt: integer().notNull(),
  },
  (t) => [index("jobs_due").on(t.state, t.runAt)],
);

const connection = new Database(join(folder, "naive.db"));
connection.pragma("journal_mode = WAL");
connection.pragma("synchronous = FULL");
connection.exec(`
  CREATE TABLE keys (id TEXT PRIMARY KEY, hash TEXT NOT NULL, workspaceId TEXT NOT NULL);
  CREATE UNIQUE INDEX keys_hash ON keys (hash);
  CREATE TABLE senders (id TEXT PRIMARY KEY, workspaceId TEXT NOT NULL, value TEXT NOT NULL);
  CREATE UNIQUE INDEX senders_value ON senders (workspaceId, value);
  CREATE TABLE suppressions (id TEXT PRIMARY KEY, workspaceId TEXT NOT NULL, email TEXT NOT NULL);
  CREATE UNIQUE INDEX suppressions_email ON suppressions (workspaceId, email);
  CREATE TABLE emails (id TEXT PRIMARY KEY, workspaceId TEXT NOT NULL, "from" TEXT NOT NULL, "to" TEXT NOT NULL, subject TEXT NOT NULL,
    html TEXT, text TEXT, tags TEXT, status TEXT NOT NULL, createdAt INTEGER NOT NULL);
  CREATE INDEX emails_workspace ON emails (workspaceId, createdAt);
  CREATE TABLE events (id INTEGER PRIMARY KEY, workspaceId TEXT NOT NULL, emailId TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL);
  CREATE INDEX events_email ON events (emailId);
  CREATE TABLE jobs (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL, runAt INTEGER NOT NULL);
  CREATE INDEX jobs_due ON jobs (state, runAt);
`);
const db = drizzle(connection);
db.insert(keys)
  .values({ id: randomUUID(), hash: sha256(apiKey), workspaceId: "ws_1" })
  .run();
db.insert(senders).values({ id: randomUUID(), workspaceId: "ws_1", value: "bench.acme.dev" }).run();

const Send = z.strictObject({
  from: z.string().min(3).max(400),
  to: z.email(),
  subject: z.string().min(1).max(998),
  html: z.string().optional(),
  text: z.string().optional(),
  tags: z.record(z.string(), z.string()).optional(),
});

const app = new H3().post("/api/v1/send", async (event) => {
  const key = event.req.headers.get("authorization")?.replace("Bearer ", "") ?? "";
  const owner = db
    .select()
    .from(keys)
    .where(eq(keys.hash, sha256(key)))
    .get();
  if (!owner) throw new HTTPError({ status: 401, message: "unauthorized" });
  const { data: mail, error } = Send.safeParse(await event.req.json());
  if (!mail) throw new HTTPError({ status: 400, message: error.message });
  const { workspaceId } = owner;
  const address = /<(.+)>/.exec(mail.from)?.[1] ?? mail.from;
  const domain = address.slice(address.indexOf("@") + 1);
  const id = randomUUID();
  db.transaction((tx) => {
    const sender = tx
      .select()
      .from(senders)
      .where(and(eq(senders.workspaceId, workspaceId), inArray(senders.value, [address, domain])))
      .get();
    if (!sender) throw new HTTPError({ status: 400, message: "sender_not_verified" });
    const refused = tx
      .select()
      .from(suppressions)
      .where(and(eq(suppressions.workspaceId, workspaceId), eq(suppressions.email, mail.to)))
      .get();
    if (refused) throw new HTTPError({ status: 400, message: "recipient_suppressed" });
    const now = Date.now();
    tx.insert(emails)
      .values({ ...mail, id, workspaceId, status: "queued", createdAt: now })
      .run();
    tx.insert(events).values({ workspaceId, emailId: id, type: "email.queued", at: now }).run();
    tx.insert(jobs)
      .values({ kind: "email.deliver", payload: { workspaceId, emailId: id }, state: "ready", runAt: now })
      .run();
  });
  return { id, status: "queued" };
});

const server = createServer(toNodeHandler(app.fetch) as RequestListener);
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

function sha256(value: string): string {
  return createHash("sha256").update(value).digest("hex");
}
