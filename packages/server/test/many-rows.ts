import { eq } from "drizzle-orm";
import pg from "pg";
import type { SqliteDb } from "../src/db/sqlite/database.ts";
import type { TestWorld } from "../src/testing.ts";
import { createCampaign } from "./campaign.ts";
import { activateAgent, listAgent } from "./marketplace.ts";

/** Owners of the rows of `insertManyRows`. */
export interface RowOwners {
  readonly workspaceId: string;
  /** A second workspace, which has a tenth of the rows. */
  readonly otherWorkspaceId: string;
  /** The listing whose webhook gets the deliveries, and the activation that most of them are about. */
  readonly listingId: string;
  readonly activationId: string;
}

/** A recipient of every fiftieth email. */
export const FREQUENT_RECIPIENT = "often@example.com";

const FREQUENT_LABEL = "tag:kind=often";
const RARE_LABEL = "tag:kind=rare";

/**
 * Statements that fill the large tables with `n` rows each: emails with contents and events, suppressions, deliveries, jobs. Most
 * rows are alike, and a few are of each rare kind that a list can filter by. They bypass the API, which would take minutes.
 */
export function insertManyRows(dialect: "sqlite" | "postgres", owners: RowOwners, n: number): string[] {
  const pg = dialect === "postgres";
  const rows = pg
    ? `generate_series(1, ${n}) as i`
    : `(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${n}) select i from c)`;
  const toId = (prefix: string): string => (pg ? `'${prefix}_' || lpad(i::text, 26, '0')` : `printf('${prefix}_%026d', i)`);
  const at = pg ? "1700000000000 + i::bigint * 1000" : "1700000000000 + i * 1000";
  const no = pg ? "false" : "0";
  const flag = (condition: string): string => (pg ? `(${condition})` : `(case when ${condition} then 1 else 0 end)`);
  const empty = pg ? "'{}'::json" : "'{}'";
  const workspace = `case when i % 10 = 0 then '${owners.otherWorkspaceId}' else '${owners.workspaceId}' end`;
  const to = `case when i % 50 = 1 then '${FREQUENT_RECIPIENT}' else 'u' || (i % 200003) || '@example.com' end`;
  // Two hundred rows at most, in any number.
  const isRare = (k: number): string => `i % ${Math.max(7, Math.ceil(n / 200))} = ${k}`;
  const statements = [
    `insert into contents (workspace_id, from_text, subject, html, text_body, headers, tags, attachments, bypass_unsubscribe)
     select ${workspace}, 'a@sender.example', 'Hello ' || i, '<p>Hello, this is an email of a usual length, number ' || i || '</p>', 'Hello ' || i,
       ${empty}, ${empty}, 0, ${no} from ${rows}`,
    `insert into emails (workspace_id, id, contents_id, to_text, to_key, status, attempts, in_doubt, faults, bytes, created_at, updated_at)
     select ${workspace}, ${toId("em")}, (select max(id) from contents) - ${n} + i, ${to}, ${to},
       case when ${isRare(3)} then 'bounced' when ${isRare(4)} then 'deferred' when ${isRare(1)} then 'failed' when i % 3 = 1 then 'sent' else 'delivered' end,
       1, ${flag(isRare(5))}, 0, 0, ${at}, ${at} from ${rows}`,
    // Every tenth email has a frequent tag, some have a rare one, and many come from one automation by one template.
    `insert into email_labels (workspace_id, label, email_id) select ${workspace}, case when ${isRare(6)} then '${RARE_LABEL}' else '${FREQUENT_LABEL}' end, ${toId("em")}
     from ${rows} where i % 10 = 1 or ${isRare(6)}`,
    `insert into email_labels (workspace_id, label, email_id) select ${workspace}, 'template:bench', ${toId("em")} from ${rows} where i % 3 = 1`,
    `insert into email_labels (workspace_id, label, email_id) select ${workspace}, 'automation:aut_bench', ${toId("em")} from ${rows} where i % 3 = 1`,
    // An address is a recipient of a campaign once.
    `update emails set campaign_id = 'cmp_bench' where workspace_id = '${owners.workspaceId}' and contents_id % 2 = 0 and to_key <> '${FREQUENT_RECIPIENT}'
       and contents_id - (select max(id) from contents) + ${n} between 1 and 200002`,
    // Numbered in each stream, as the server would do in many steps after it starts.
    `insert into events (workspace_id, type, email_id, at) select ${workspace}, 'email.delivered', ${toId("em")}, ${at} from ${rows}`,
    `insert into event_runs (workspace_id, position, key, length) select workspace_id, 1000 + sequence - (select max(sequence) from events) + ${n}, sequence, 1
     from events where sequence > (select max(sequence) from events) - ${n}`,
    `insert into event_streams (workspace_id, last) values ('${owners.workspaceId}', ${n + 1000}), ('${owners.otherWorkspaceId}', ${n + 1000})
     on conflict (workspace_id) do update set last = excluded.last`,
    `insert into suppressions (id, workspace_id, email, reason, scope, source, created_at, updated_at)
     select ${toId("sup")}, ${workspace}, 's' || i || '@' || case when ${isRare(1)} then 'rare.test' else 'example.com' end,
       case when ${isRare(2)} then 'manual' when ${isRare(3)} then 'complaint' when i % 3 = 1 then 'bounce' else 'unsubscribe' end,
       case when i % 3 = 1 then 'all' else 'marketing' end,
       case when ${isRare(4)} then 'import' when ${isRare(3)} then 'complaint' when i % 3 = 1 then 'bounce' else 'unsubscribe' end, ${at}, ${at}
     from ${rows}`,
    `insert into webhook_events (id, endpoint_id, stream_id, workspace_id, type, sequence, at, body, passes_hold, state, attempts, tries, settled_at)
     select ${toId("evt")}, '${owners.listingId}', case when i % 100 = 2 then 'act_few' else '${owners.activationId}' end, '${owners.workspaceId}',
       case when ${isRare(1)} then 'test.ping' else 'message.posted' end, 1000 + i, ${at}, '{}', ${no},
       case when ${isRare(3)} then 'dead' else 'delivered' end, 1, 1, ${at} from ${rows}`,
    `insert into webhook_streams (stream_id, endpoint_id, interrupted, held)
     values ('act_few', '${owners.listingId}', ${no}, ${no}), ('${owners.activationId}', '${owners.listingId}', ${no}, ${no}) on conflict do nothing`,
  ];
  const payload = `'workspaceId', ${workspace}, 'emailId', ${toId("em")}`;
  // Far in the future, so that no worker takes them.
  const jobs = `insert into jobs (kind, payload, state, run_at, attempts, max_attempts, claims, created_at, lane, interruptions)
     select 'email.react', ${pg ? "json_build_object" : "json_object"}(${payload}), case when ${isRare(3)} then 'dead' else 'ready' end,
       2500000000000 + i, 0, 10, 0, ${at}, 0, 0 from ${rows}`;
  return [...statements, jobs];
}

/** The last page that has a number. */
const DEEP = "limit=100&page=100";

/** The lists over tables that grow without a limit: with all filters, some combinations of them, and far pages. */
export function listPaths(owners: RowOwners, slug: string): string[] {
  const emails = [
    "",
    "status=bounced",
    "status=complained",
    "status=delivered",
    "to=u77@example.com",
    `to=${FREQUENT_RECIPIENT}`,
    "inDoubt=true",
    "inDoubt=false",
    "inDoubt=false&status=bounced",
    "inDoubt=true&status=delivered",
    `status=failed&to=${FREQUENT_RECIPIENT}`,
    `status=complained&to=${FREQUENT_RECIPIENT}`,
    `status=delivered&to=${FREQUENT_RECIPIENT}`,
    `inDoubt=true&to=${FREQUENT_RECIPIENT}`,
    "tag=kind=often",
    "tag=kind=rare",
    "tag=kind=none",
    "tag=kind=often&status=bounced",
    `tag=kind=often&to=${FREQUENT_RECIPIENT}`,
    "limit=100&tag=kind=often&subject=hello",
    "template=bench",
    "automation=aut_bench",
    "automation=aut_bench&template=bench",
    "campaign=cmp_bench",
    "campaign=cmp_bench&status=bounced",
    "campaign=cmp_bench&from=a@sender.example",
    "from=a@sender.example",
    "from=nobody@sender.example",
    "subject=hello",
    "subject=zzz",
    "subject=hello&status=delivered",
    "since=2023-11-15T00:00:00.000Z",
    "until=2023-11-15T00:00:00.000Z",
    "since=1970-01-01T00:00:00.000Z&subject=hello",
    DEEP,
    `to=${FREQUENT_RECIPIENT}&limit=100`,
  ];
  const suppressions = [
    "",
    "email=s77@example.com",
    "search=s77",
    "search=rare.test",
    "search=zzzz",
    "search=ex",
    "search=q",
    "search=example&reason=manual",
    "reason=manual",
    "reason=complaint",
    "reason=bounce",
    "scope=all",
    "scope=marketing",
    "source=import",
    "source=api",
    "reason=bounce&source=import",
    "since=2023-11-15T00:00:00.000Z",
    "since=2030-01-01T00:00:00.000Z",
    "search=rare&since=2023-11-15T00:00:00.000Z",
    "search=ex&limit=100&page=5",
    DEEP,
    `reason=bounce&${DEEP}`,
    `scope=marketing&${DEEP}`,
  ];
  const jobs = ["", "state=ready", "state=running", "state=dead", DEEP];
  const activation = `activationId=${owners.activationId}`;
  const deliveries = [
    "",
    "state=dead",
    "state=pending",
    "state=delivered",
    "type=test.ping",
    "type=agent.wakeup",
    "type=message.posted",
    "type=test.ping&state=delivered",
    activation,
    `${activation}&state=dead`,
    `${activation}&state=pending`,
    `${activation}&type=test.ping`,
    "activationId=act_few&state=delivered",
    DEEP,
    `${activation}&${DEEP}`,
  ];
  const recipients = [
    "",
    "limit=100&page=5",
    `limit=100&cursor=${Buffer.from(`em_${"13000".padStart(26, "0")}`).toString("base64url")}`,
    "status=delivered",
    "status=skipped",
  ];
  const toPaths = (path: string, queries: string[]): string[] => queries.map((query) => (query === "" ? path : `${path}?${query}`));
  return [
    ...toPaths("/api/v1/emails", emails),
    ...toPaths("/api/v1/suppressions", suppressions),
    ...toPaths("/api/v1/jobs", jobs),
    ...toPaths(`/api/v1/marketplace/listings/${slug}/deliveries`, deliveries),
    ...toPaths("/api/v1/campaigns/cmp_bench/recipients", recipients),
    `/api/v1/people/${FREQUENT_RECIPIENT}`,
  ];
}

/** Inserts them all, on Postgres. */
async function fillPostgres(url: string, owners: RowOwners, n: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of [...insertManyRows("postgres", owners, n), ANALYZE]) await client.query(statement);
  await client.end();
}

/** Tells Postgres what the tables hold now; it would learn that by itself after a while. */
const ANALYZE = "vacuum analyze contents, emails, email_labels, events, suppressions, webhook_events, webhook_streams, jobs";

/** Fills a world in dev mode with `n` rows of each kind, half a second for 10,000; on Postgres `databaseUrl` is that of the world. */
export async function fillWorld(world: TestWorld, n: number, databaseUrl?: string): Promise<RowOwners & { slug: string }> {
  const slug = "writer";
  // Nothing listens there: the event of the activation waits.
  const listing = await listAgent(world.builder.sdk, "http://127.0.0.1:9/");
  const activation = await activateAgent(world.sdk);
  const other = await world.createWorkspace("Other");
  const { workspaceId } = world;
  const campaign = await createCampaign(world);
  const owners: RowOwners = { workspaceId, otherWorkspaceId: other.workspaceId, listingId: listing.id, activationId: activation.id };
  if (databaseUrl === undefined) {
    const db = world.app.deps.db as SqliteDb;
    await db.exclusive((c) => {
      for (const statement of insertManyRows("sqlite", owners, n)) c.exec(statement);
    });
  } else {
    await fillPostgres(databaseUrl, owners, n);
  }
  // The campaign of the emails.
  const { db } = world.app.deps;
  await db.tx((tx) => tx.update(tx.t.campaigns).set({ id: "cmp_bench" }).where(eq(tx.t.campaigns.id, campaign.id)));
  return { ...owners, slug };
}
