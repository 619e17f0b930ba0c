import { AGENT_SCOPES, type Page } from "@mailsvc/sdk/contract";
import { eq, getTableColumns, type Table } from "drizzle-orm";
import { expect, test } from "vitest";
import { pdf, png } from "../../test/agent.ts";
import { connectAgent } from "../../test/agent-at-work.ts";
import { base64 } from "../../test/files.ts";
import { activateAgent, listAgent, startReceiver } from "../../test/marketplace.ts";
import { ask } from "../../test/scenario.ts";
import { WORKSPACE_DATA } from "../table-data/table-data.ts";
import { createWorld, type TestWorld, type WorkspaceClient } from "../testing.ts";
import { listOwnedTables, type WorkspaceData } from "./declarations.ts";

/** A row that tells of the operator. */
const OF_OPERATOR = /"(?:keyId|actorKind)":"operator"/;

const ADA = "ada@example.com";
const DECLARED = Object.entries<WorkspaceData>(WORKSPACE_DATA as unknown as Readonly<Record<string, WorkspaceData>>);
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";

const tablesOf = ({ app }: TestWorld) => app.deps.db.read.t as unknown as Readonly<Record<string, Table>>;

/** All rows of all tables, by table, as sorted texts. */
async function dump(world: TestWorld): Promise<Record<string, string[]>> {
  const { read } = world.app.deps.db;
  const rows: Record<string, string[]> = {};
  for (const [name, table] of Object.entries(tablesOf(world)))
    rows[name] = (await read.select().from(table as typeof read.t.meta)).map((row) => JSON.stringify(row)).sort();
  const jobs = await world.app.deps.queue.list(read, { limit: 1000, offset: 0 });
  rows["jobs"] = jobs.rows.map(({ kind, payload }) => JSON.stringify({ kind, payload })).sort();
  return rows;
}

interface Filled {
  readonly agentKey: string;
  readonly activationId: string;
  readonly contactId: string;
  readonly links: readonly string[];
}

/** Leaves rows in the tables of every module. */
async function fill(world: TestWorld, { sdk }: Pick<WorkspaceClient, "sdk">, slug: string, hooksUrl: string): Promise<Filled> {
  const seen = new Set((await world.inbox.all({ to: ADA })).map(({ id }) => id));
  await sdk.brand.update({ name: "Acme", website: "https://acme.example" });
  await sdk.senders.create({ email: "news@acme.example" }).catch(() => undefined);
  const list = await sdk.lists.create({ name: "Readers" });
  await sdk.segments.create({ name: "Best", rules: { field: "tags", operator: "contains", value: "vip" } });
  await sdk.templates.create({ name: "Hello", slug: "hello", subject: "Hi", html: "<p>Hi</p>" });
  const webhook = await sdk.webhooks.create({ url: hooksUrl, events: ["*"] });
  expect(webhook.id).toMatch(/^wh/);
  const automation = await sdk.automations.create({
    name: "Carts",
    trigger: { type: "event", name: "cart" },
    steps: [{ id: "wait", type: "delay", for: "300d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await sdk.automations.activate(automation.id);
  const contact = await sdk.contacts.create({ email: ADA, firstName: "Ada", tags: ["vip"] });
  await sdk.lists.add(list.id, { contacts: [contact.id] });
  await sdk.suppressions.create({ email: "bob@example.com" });
  await sdk.events.track({ contact: contact.id, name: "cart" });
  const own = `of-${list.id.slice(-6)}`;
  await sdk.listings.create({ slug: own, name: "Own", description: "It reads.", webhookUrl: hooksUrl, permissions: [] });
  await sdk.listings.checkout(own);
  await sdk.keys.create({ name: "second", permissions: ["contacts:read"] });
  const attachments = [{ filename: "long.txt", content: Buffer.from("x".repeat(2_000_000)) }];
  const from = "news@acme.example";
  const html = '<p><a href="https://acme.example/x">x</a></p>';
  await sdk.emails.send({
    from,
    to: ADA,
    subject: "Hi",
    html,
    attachments,
    tags: { kind: "hello" },
    tracking: { clicks: true, opens: true },
    replyTo: "auto",
  });
  await sdk.emails.send({ from, to: ADA, subject: "Later", text: "x", scheduledAt: "2026-12-24T08:00:00Z" });
  const campaign = await sdk.campaigns.create({
    name: "Launch",
    subjectLine: "Hello",
    fromEmail: from,
    html,
    trackOpens: true,
    trackClicks: true,
  });
  await sdk.campaigns.send(campaign.id);
  const later = await sdk.campaigns.create({ name: "Later", subjectLine: "Hello", fromEmail: from, html });
  await sdk.campaigns.schedule(later.id, { scheduledAt: "2026-12-24T08:00:00Z" });
  await world.settle();
  await world.clock.advance("1h");
  const links: string[] = [];
  for (const { id } of await world.inbox.all({ to: ADA })) {
    if (seen.has(id)) continue;
    const mail = await world.inbox.get(id);
    const texts = `${mail.html ?? ""} ${mail.text ?? ""}`.replaceAll("&amp;", "&");
    for (const [link] of texts.matchAll(/http[^"\s)]+\/(?:t\/[oc]|unsubscribe|view)\/[^"\s)]+/g)) links.push(link);
  }
  for (const link of links.filter((one) => one.includes("/t/"))) {
    await world.fetch(link, { redirect: "manual", headers: { "user-agent": BROWSER } });
    await world.clock.advance("1m");
  }
  const hooks = { url: hooksUrl, bodies: [], [Symbol.asyncDispose]: async () => {} };
  const { id: activationId } = await activateAgent(sdk, slug);
  const agent = await connectAgent(world, hooks, activationId);
  await sdk.credits.grant({ amount: 100 });
  await agent.client.runs.start({ runId: "run-number-1" });
  await agent.client.runs.log({ runId: "run-number-1", entries: [{ message: "x" }] });
  await agent.client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval: { title: "?" }, runId: "run-number-1" });
  await agent.client.credits.consume({ amount: 3, action: "draft", runId: "run-number-1" });
  await agent.client.wakeups.create({ delaySeconds: 2_000_000, reason: "x" });
  await sdk.assets.create({ fileName: "own.png", contentBase64: base64(png()) });
  await sdk.leadMagnets.create({ fileName: "own.pdf", contentBase64: base64(pdf("own")), title: "Own" });
  const page = await agent.client.landingPages.create({ title: "Join", html: "<form></form>", status: "PUBLISHED" });
  await world.fetch(page.url, { headers: { "user-agent": BROWSER, referer: "https://news.example/" } });
  await world.fetch(page.url, { method: "POST", body: new URLSearchParams({ email: "eve@example.com" }) });
  await world.settle();
  return { agentKey: agent.key, activationId, contactId: contact.id, links };
}

/** Adds a row to each table of workspaces that has none more than before. */
async function fillRest(world: TestWorld, workspaceId: string, before: Record<string, string[]>): Promise<void> {
  const { db } = world.app.deps;
  const now = await dump(world);
  // Parents first.
  for (const { name, workspace, of } of listOwnedTables(WORKSPACE_DATA).reverse()) {
    if (name === "eventArrivals" || (now[name]?.length ?? 0) > (before[name]?.length ?? 0)) continue;
    const table = tablesOf(world)[name] as typeof db.read.t.meta;
    const row: Record<string, unknown> = {};
    for (const [property, column] of Object.entries(getTableColumns(table as Table))) {
      const { dataType } = column as { dataType: string };
      row[property] =
        dataType === "number"
          ? 1
          : dataType === "boolean"
            ? false
            : dataType === "string"
              ? `${name}-1`
              : dataType === "buffer"
                ? Buffer.from("x")
                : {};
    }
    if (workspace !== null) row[workspace] = workspaceId;
    const [parent] = of;
    if (parent) {
      const rows: Record<string, unknown>[] = await db.read.select().from(tablesOf(world)[parent.table] as typeof table);
      row[parent.column] = rows.find((one) => one["workspaceId"] === workspaceId)?.[parent.key ?? "id"];
    }
    await db.tx(async (tx) => void (await tx.insert(tx.t[name] as typeof table).values(row as never)));
  }
}

test("each table says how it belongs to workspaces, and which of its columns are secrets", async () => {
  await using world = await createWorld();
  const tables = tablesOf(world);
  expect(DECLARED.map(([name]) => name).sort()).toEqual(Object.keys(tables).sort());
  for (const [name, data] of DECLARED) {
    const columns = Object.keys(getTableColumns(tables[name] as Table));
    if ("none" in data) {
      expect({ name, named: columns.filter((column) => /workspace/i.test(column)) }).toEqual({ name, named: [] });
      continue;
    }
    if ("with" in data) continue;
    expect({ name, named: columns.includes("workspaceId") ? data.workspace : "" }).toEqual({
      name,
      named: columns.includes("workspaceId") ? "workspaceId" : "",
    });
    const told = [...(data.hidden ?? []), ...(data.secretless ?? [])];
    const sounding = data.unexported === undefined ? columns.filter((column) => /secret|hash|token|password|sealed|key/i.test(column)) : [];
    const untold = sounding.filter((column) => !told.includes(column as never));
    expect({ name, untold }, "Say in src/table-data whether it is `hidden` or `secretless`.").toEqual({ name, untold: [] });
  }
  const order = listOwnedTables(WORKSPACE_DATA).map(({ name }) => name);
  for (const [i, { name, of }] of listOwnedTables(WORKSPACE_DATA).entries())
    for (const { table } of of) expect({ name, table, follows: order.indexOf(table) > i }).toEqual({ name, table, follows: true });
});

test("a deleted workspace leaves no row, and the others as they were", async () => {
  await using world = await createWorld();
  await using hooks = await startReceiver();
  await listAgent(world.builder.sdk, hooks.url, { slug: "writer", permissions: [...AGENT_SCOPES] });
  await fill(world, world, "writer", hooks.url);
  await world.clock.advance("3d");
  const fresh = await dump(world);
  const mine = await world.createWorkspace("Acme");
  const { workspaceId } = mine;
  const filled = await fill(world, mine, "writer", hooks.url);
  await fillRest(world, workspaceId, fresh);
  const full = await dump(world);
  const grew = (name: string): boolean => (full[name]?.length ?? 0) > (fresh[name]?.length ?? 0);
  const names = listOwnedTables(WORKSPACE_DATA).map(({ name }) => name);
  // Rows of eventArrivals leave it at once.
  expect(names.filter((name) => !grew(name))).toEqual(["eventArrivals"]);

  const operator = world.operatorKey;
  const path = `/api/v1/workspaces/${workspaceId}`;
  const deleted = await ask(world, { method: "DELETE", path, key: operator });
  expect([deleted.status, await deleted.json()]).toMatchObject([200, { id: workspaceId, name: "Acme" }]);
  expect((await ask(world, { method: "GET", path: "/api/v1/me", key: mine.apiKey })).status).toBe(401);
  expect((await ask(world, { method: "GET", path: `/api/agents/activations/${filled.activationId}`, key: filled.agentKey })).status).toBe(
    401,
  );
  expect((await ask(world, { method: "DELETE", path, key: operator })).status).toBe(404);
  expect((await ask(world, { method: "GET", path: `${path}/export`, key: operator })).status).toBe(404);

  await world.clock.advance("10m");
  const after = await dump(world);
  for (const [name, rows] of Object.entries(after))
    expect({ name, rows: rows.filter((row) => row.includes(workspaceId) && !OF_OPERATOR.test(row)) }).toEqual({ name, rows: [] });
  // Rows of the server itself. Responses to the operator stay for a day, the record of what it did for a year, and the number of the newest tracked link for good.
  const changing = ["meta", "jobs", "inboundReports", "landingPageSalts"];
  const changes = Object.entries(after).flatMap(([name, rows]) => {
    const before = new Set(fresh[name]);
    const now = new Set(rows);
    const [added, removed] = [
      rows.filter((row) => !before.has(row) && !OF_OPERATOR.test(row) && !row.includes('"workspaceId":"",')),
      (fresh[name] ?? []).filter((row) => !now.has(row)),
    ];
    return changing.includes(name) || added.length + removed.length === 0 ? [] : [{ name, added, removed }];
  });
  expect(changes).toEqual([]);

  for (const link of new Set(filled.links)) {
    const page = await world.fetch(link, { redirect: "manual", headers: { "user-agent": BROWSER, accept: "text/html" } });
    expect({ link, status: page.status }).toEqual({ link, status: 404 });
    expect(page.headers.get("content-type")).toMatch(link.includes("/t/o/") ? /./ : /^text\/html/);
  }
  // The other workspaces go on.
  await world.sdk.contacts.create({ email: "zoe@example.com" });
  const html = '<p><a href="https://acme.example/new">x</a></p>';
  const { id } = await world.sdk.emails.send({ from: "news@acme.example", to: ADA, subject: "New", html, tracking: { clicks: true } });
  await world.settle();
  expect((await world.sdk.emails.get(id)).status).toBe("delivered");
  expect((await world.sdk.events.list({ limit: 5 })).data.map(({ type }) => type)).toContain("contact.created");
  const [old] = filled.links.filter((link) => link.includes("/t/c/"));
  expect((await world.fetch(old as string, { redirect: "manual", headers: { "user-agent": BROWSER } })).status).toBe(404);
});

test("mail of a workspace that is gone is not sent, whatever is left of it", async () => {
  await using world = await createWorld();
  const { sdk, workspaceId } = await world.createWorkspace("Acme");
  await world.app.deps.db.tx((tx) => world.app.deps.queue.pause(tx, null));
  const { id } = await sdk.emails.send({ from: "a@acme.example", to: ADA, subject: "Hi", text: "x" });
  const other = await world.sdk.emails.send({ from: "a@acme.example", to: ADA, subject: "Hi", text: "x" });
  await world.app.deps.db.tx(async (tx) => {
    await tx.delete(tx.t.workspaces).where(eq(tx.t.workspaces.id, workspaceId));
    await world.app.deps.queue.resume(tx);
  });
  await world.settle();
  const { inbox } = world.app.deps.db.read.t;
  const captured = await world.app.deps.db.read.select({ emailId: inbox.emailId }).from(inbox);
  expect(captured.map(({ emailId }) => emailId)).toEqual([other.id]);
  expect(id).not.toBe(other.id);
});

test("the first workspace stays, and so does one whose agents are active in others until its listings are cancelled", async () => {
  await using world = await createWorld();
  await using hooks = await startReceiver();
  const remove = async (id: string): Promise<unknown> => {
    const answer = await ask(world, { method: "DELETE", path: `/api/v1/workspaces/${id}`, key: world.operatorKey });
    return answer.status === 200 ? 200 : ((await answer.json()) as { error: { code: string } }).error.code;
  };
  expect(await remove(world.workspaceId)).toBe("invalid_state");
  const builder = await world.createWorkspace("Builder");
  await listAgent(builder.sdk, hooks.url, { slug: "writer" });
  const { id } = await activateAgent(world.sdk, "writer");
  await world.settle();
  expect(await remove(builder.workspaceId)).toBe("invalid_state");
  await builder.sdk.listings.cancel("writer");
  await world.settle();
  expect((await world.sdk.activations.get(id)).status).toBe("deactivated");
  expect(await remove(builder.workspaceId)).toBe(200);
  await world.clock.advance("10m");
  expect((await world.sdk.catalog.list()).data).toEqual([]);
  for (const [name, rows] of Object.entries(await dump(world)))
    expect({ name, rows: rows.filter((row) => row.includes(builder.workspaceId) && !OF_OPERATOR.test(row)) }).toEqual({
      name,
      rows: [],
    });
  const own = await world.createWorkspace("With a relay");
  await world.app.deps.db.tx(async (tx) => {
    const settings = { name: "own", host: "mx.example", workspaceId: own.workspaceId } as never;
    await tx.insert(tx.t.relays).values({ name: "own", settings, secrets: Buffer.from("x"), createdAt: 0, updatedAt: 0 });
  });
  expect(await remove(own.workspaceId)).toBe("invalid_state");
});

test("an export has the rows of one workspace and no secrets, page after page", async () => {
  await using world = await createWorld();
  await using hooks = await startReceiver();
  await listAgent(world.builder.sdk, hooks.url, { slug: "writer", permissions: [...AGENT_SCOPES] });
  const { agentKey } = await fill(world, world, "writer", hooks.url);
  const mine = await world.createWorkspace("Acme");
  await mine.sdk.contacts.create({ email: "only@example.com" });
  const { read } = world.app.deps.db;
  const hashes = [...(await read.select().from(read.t.keys)).map(({ hash }) => hash), agentKey, world.apiKey, mine.apiKey];
  const exported = async (id: string, limit: number): Promise<{ table: string; row: Record<string, unknown> }[]> => {
    const rows: { table: string; row: Record<string, unknown> }[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) }).toString();
      const answer = await ask(world, { method: "GET", path: `/api/v1/workspaces/${id}/export?${query}`, key: world.operatorKey });
      const page = (await answer.json()) as Page<{ table: string; row: Record<string, unknown> }>;
      rows.push(...page.data);
      cursor = page.pagination.nextCursor;
    }
    return rows;
  };
  const all = await exported(world.workspaceId, 100);
  expect(await exported(world.workspaceId, 7)).toEqual(all);
  const text = JSON.stringify(all);
  for (const hash of hashes) expect(text.includes(hash)).toBe(false);
  expect(text.includes(mine.workspaceId)).toBe(false);
  const tables = new Set(all.map(({ table }) => table));
  for (const table of ["workspaces", "contacts", "emails", "attachmentParts", "events", "campaigns", "runs", "listings"])
    expect(tables).toContain(table);
  for (const { table, row } of all)
    for (const column of ["keyHash", "tokenHash", "secret", "nextSecret", "sealed"])
      expect({ table, has: column in row }).toEqual({ table, has: false });
  expect((await exported(mine.workspaceId, 100)).find(({ table }) => table === "contacts")?.row).toMatchObject({
    email: "only@example.com",
  });
  const refused = await ask(world, { method: "GET", path: `/api/v1/workspaces/${mine.workspaceId}/export`, key: mine.apiKey });
  expect(refused.status).toBe(403);
});
