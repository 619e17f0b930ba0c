import { isForAgents } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { deleteContact, findContactByEmail } from "../packages/server/src/contacts/contacts.ts";
import { eraseDataSubject, findAnswers } from "../packages/server/src/data-subjects/data-subjects.ts";
import type { PersonData } from "../packages/server/src/data-subjects/declarations.ts";
import type { Tx } from "../packages/server/src/db/db.ts";
import { currentScope } from "../packages/server/src/db/scope.ts";
import { PERSON_DATA } from "../packages/server/src/table-data/table-data.ts";
import type { TestWorld } from "../packages/server/src/testing.ts";
import { borrowPool, createDatabase, dropDatabases, isMigrated, type TestDatabase } from "../packages/server/test/postgres.ts";
import { ENDPOINTS, keyOf, makeCall, makeObjects, toCall } from "./support/example-calls.ts";
import { type ExampleServer, openExampleServer } from "./support/example-server.ts";
import { inTurn } from "./support/turns.ts";

/*
 * While a person is erased, or their contact is deleted, on Postgres, each write of the contract is made once: after the erasure has read what is
 * stored, or after it has deleted everything and before it commits. No row may be left that names the contact.
 */

const ADA = "ada@example.com";

/** Writes that are not tried: they end other things than a person, or the whole world. */
const APART = ["people.erase", "contacts.delete", "world.reset", "world.restore", "world.snapshot", "stripe.webhook", "inbound.connection"];

/** Agents cannot reach contacts, and dev mode's own endpoints change no data. */
const isApart = (id: string, { access }: (typeof ENDPOINTS)[number][1]): boolean =>
  APART.includes(id) || access === "public" || access === "dev" || isForAgents(access);

const WRITES = ENDPOINTS.filter(([id, endpoint]) => endpoint.method !== "GET" && !endpoint.stream && !isApart(id, endpoint));

/** Events about a deleted contact that stay: they lead to nobody. */
const STAYING = ["contact.deleted", "automation.exited"];

// Looking for migrations and new connections take most of the time in which a world begins.
vi.mock("../packages/server/src/backend.pg.ts", async (importOriginal) => {
  const { postgresBackend } = await importOriginal<typeof import("../packages/server/src/backend.pg.ts")>();
  const migratedBackend: typeof postgresBackend = (url, options) =>
    postgresBackend(url, { ...(isMigrated(url) && { migrate: false, pool: borrowPool(url) }), ...options });
  return { postgresBackend: migratedBackend };
});

afterAll(dropDatabases);

interface Stage {
  readonly server: ExampleServer;
  readonly database: TestDatabase;
  /** The contact of Ada, before anything happens. */
  readonly contact: { readonly id: string; readonly seq: number };
}

/** Way of removing a person: erasing their data, or deleting the contact. */
type Departure = (world: TestWorld, contactId: string) => Promise<(tx: Tx) => Promise<unknown>>;

const ERASED: Departure = async ({ app: { deps }, workspaceId }) => {
  const answers = await findAnswers(deps.db.read, deps, workspaceId, ADA);
  return (tx) => eraseDataSubject(tx, deps, PERSON_DATA, workspaceId, ADA, answers);
};

const DELETED: Departure =
  async ({ app: { deps }, workspaceId }, contactId) =>
  (tx) =>
    deleteContact(tx, deps, workspaceId, contactId);

async function onStage(id: string, act: (stage: Stage, call: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const endpoint = ENDPOINTS.find(([name]) => name === id)?.[1];
  if (!endpoint) throw new Error(`There is no ${id}.`);
  const database = await createDatabase();
  try {
    await using server = await openExampleServer({ databaseUrl: database.url });
    const { world } = server;
    const ids = await makeObjects(server, id);
    const key = await keyOf(server, id, endpoint);
    const { read } = world.app.deps.db;
    if (!(await findContactByEmail(read, world.workspaceId, ADA))) await world.sdk.contacts.upsert({ email: ADA, firstName: "Ada" });
    await world.settle();
    const contact = await findContactByEmail(read, world.workspaceId, ADA);
    if (!contact) throw new Error("The contact is gone.");
    // Its call without what a person decides: it is repeated under this key.
    const call = () => makeCall(server, toCall(endpoint, ids), key, { "idempotency-key": `welcome/${ADA}` });
    await act({ server, database, contact }, call);
  } finally {
    await database.drop();
  }
}

/** Lets a person go, and does something after that has begun; or before it ends, when everything is deleted already. */
async function depart(
  { server, database, contact }: Stage,
  how: Departure,
  when: "begun" | "ending",
  act: () => Promise<unknown>,
): Promise<void> {
  const { world } = server;
  const leave = await how(world, contact.id);
  let acted: Promise<unknown> | undefined;
  const start = (): Promise<unknown> => (acted ??= currentScope.exit(act));
  await world.app.deps.db.tx(async (tx) => {
    // From here on it sees what is stored now.
    await tx.select().from(tx.t.contacts);
    if (when === "begun") await start();
    await leave(tx);
    // It is answered, or waits for a row that this transaction has written.
    if (when === "ending") await Promise.race([start(), waitsForLock(database)]);
  });
  await acted;
}

async function waitsForLock({ url }: TestDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
      if (rows.length > 0) return;
      await client.query("select pg_sleep(0.02)");
    }
  } finally {
    await client.end();
  }
}

/** The rows of all tables that name a text, with the names of their tables. */
async function findRowsNaming({ url }: TestDatabase, text: string): Promise<{ readonly table: string; readonly row: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname = 'public' and pg_relation_size(c.oid) > 0",
    );
    const found: { table: string; row: string }[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${name} t where t::text ilike $1 or t::text like $2`,
        [`%${text}%`, `%${Buffer.from(text).toString("hex")}%`],
      );
      found.push(...rows.map(({ row }) => ({ table: name.replace(/_p?\d{4,}\w*$/, ""), row })));
    }
    return found;
  } finally {
    await client.end();
  }
}

const DECLARED = Object.entries<PersonData>(PERSON_DATA);

/** Tables with rows that name a contact by its number and are not said to stay. */
async function findNumbered({ app }: TestWorld, seq: number): Promise<string[]> {
  const { read } = app.deps.db;
  const found: string[] = [];
  for (const [name, data] of DECLARED) {
    if (typeof data === "string" || !("contact" in data) || data.contact !== "contactSeq" || data.stays !== undefined) continue;
    const rows: Record<string, unknown>[] = await read.select().from(read.t[name as "listMembers"]);
    if (rows.some((row) => row["contactSeq"] === seq)) found.push(name);
  }
  return found;
}

/** The answer to a call that found nobody: it repeats what its caller named. */
const isEcho = (table: string, row: string): boolean => table === "idempotency" && row.includes("not_found");

const MAY_STAY = ["automation_entries", "automation_contacts"];

async function expectNobody(stage: Stage, mayStay: readonly string[] = MAY_STAY): Promise<void> {
  const { world } = stage.server;
  await world.settle();
  // Lets events that are held back for seconds be decided.
  await world.clock.advance("1m");
  const rows = await findRowsNaming(stage.database, stage.contact.id);
  const named = rows.filter(
    ({ table, row }) => !mayStay.includes(table) && !isEcho(table, row) && !STAYING.some((type) => row.includes(type)),
  );
  expect({ named, numbered: await findNumbered(world, stage.contact.seq) }).toEqual({ named: [], numbered: [] });
}

/** Erases a contact that the call has given another address: the erasure of the former one is not about it. */
async function eraseMoved({ server: { world }, contact }: Stage): Promise<void> {
  const { read } = world.app.deps.db;
  const [moved] = await read.select().from(read.t.contacts).where(eq(read.t.contacts.id, contact.id));
  if (moved && moved.email !== ADA) await world.sdk.people.erase(moved.email);
}

// Each of them takes a second, so each write is tried at one of the moments.
test.each(inTurn(WRITES, 0))("%s, made after an erasure has begun, leaves nothing about the contact", (id) =>
  onStage(id, async (stage, call) => {
    await depart(stage, ERASED, "begun", call);
    await eraseMoved(stage);
    await expectNobody(stage);
    // If the call stored the person anew, erasing them once more leaves nothing either.
    await stage.server.world.sdk.people.erase(ADA).catch(() => {});
    await stage.server.world.settle();
    expect(await findRowsNaming(stage.database, ADA)).toEqual([]);
  }),
);

test.each(inTurn(WRITES, 1))("%s, made before an erasure ends, leaves nothing about the contact", (id) =>
  onStage(id, async (stage, call) => {
    await depart(stage, ERASED, "ending", call);
    await expectNobody(stage);
  }),
);

const BROWSER = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", accept: "text/html" };

/** Action with a link of a mail to the person, by name: finds the link and opens it. */
interface PublicAct {
  readonly link: RegExp;
  /** The fields that are posted, by the list that the person is on. */
  readonly form?: (listId: string) => Readonly<Record<string, string>>;
}

const PUBLIC: Readonly<Record<string, PublicAct>> = {
  "an unsubscribe link with one click": { link: /\/unsubscribe\//, form: () => ({ "List-Unsubscribe": "One-Click" }) },
  "the page of preferences, left with all lists unticked": { link: /\/unsubscribe\//, form: (shown) => ({ action: "save", shown }) },
  "a tracked link": { link: /\/t\/c\// },
  "the picture that counts opens": { link: /\/t\/o\// },
  "a confirmation of a list": { link: /\/lists\/confirm\//, form: () => ({}) },
  "a form on a page": { link: /\/p\//, form: () => ({ email: ADA }) },
};

/**
 * A deletion keeps mail, the events of before and the answers to calls. Nothing else names the contact, and nothing happens to it behind its
 * deletion.
 */
async function expectDeleted(stage: Stage): Promise<void> {
  const { world } = stage.server;
  await world.settle();
  await world.clock.advance("1m");
  const { read } = world.app.deps.db;
  const events = await read
    .select()
    .from(read.t.events)
    .where(eq(read.t.events.contactId, stage.contact.id))
    .orderBy(read.t.events.sequence);
  const types = events.map(({ type }) => type);
  const later = types.slice(types.indexOf("contact.deleted")).filter((type) => !STAYING.includes(type));
  const kept = ["events", "emails", "idempotency", ...MAY_STAY];
  const named = (await findRowsNaming(stage.database, stage.contact.id)).filter(({ table }) => !kept.includes(table));
  expect(types).toContain("contact.deleted");
  expect({ later, named, numbered: await findNumbered(world, stage.contact.seq) }).toEqual({ later: [], named: [], numbered: [] });
}

/** A stage on which Ada has got mail with every kind of link. */
async function onPublicStage(act: (stage: Stage, links: readonly string[], listId: string) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  try {
    await using server = await openExampleServer({ databaseUrl: database.url });
    const { world } = server;
    const { sdk } = world;
    const contact = await sdk.contacts.create({ email: ADA, firstName: "Ada" });
    const list = await sdk.lists.create({ name: "News", public: true });
    const asking = await sdk.lists.create({ name: "Asking", doubleOptIn: true, confirmationFrom: "news@acme.example" });
    await sdk.lists.add(list.id, { contacts: [contact.id] });
    await sdk.lists.add(asking.id, { contacts: [contact.id] });
    const segment = await sdk.segments.create({ name: "Readers", rules: { field: "lists", operator: "contains", value: list.id } });
    for (const trigger of [{ type: "list.joined", listId: asking.id } as const, { type: "segment.left", segmentId: segment.id } as const]) {
      const steps = [{ id: "wait", type: "delay", for: "2h" } as const];
      const { id } = await sdk.automations.create({ name: trigger.type, trigger, steps, connections: [{ from: "trigger", to: "wait" }] });
      await sdk.automations.activate(id);
    }
    const html = '<p><a href="https://acme.example/x">x</a></p>';
    const mail = { name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", html, trackOpens: true, trackClicks: true };
    const { id } = await sdk.campaigns.create(mail);
    await sdk.campaigns.send(id);
    await world.settle();
    // An open within seconds of the delivery counts as a machine's.
    await world.clock.advance("1h");
    const agent = await server.agent();
    const page = await agent.client.landingPages.create({ title: "Join", html: "<form></form>", status: "PUBLISHED", listId: list.id });
    const links = [page.url];
    for (const { id } of await world.inbox.all({ to: ADA })) {
      const { html: body, text } = await world.inbox.get(id);
      for (const [link] of `${body ?? ""} ${text ?? ""}`.replaceAll("&amp;", "&").matchAll(/http[^"\s)<>]+/g)) links.push(link);
    }
    const stored = await findContactByEmail(world.app.deps.db.read, world.workspaceId, ADA);
    if (!stored) throw new Error("The contact is gone.");
    await act({ server, database, contact: stored }, links, list.id);
  } finally {
    await database.drop();
  }
}

const DEPARTURES = [
  ["an erasure", ERASED, "begun"],
  ["an erasure", ERASED, "ending"],
  ["a deletion", DELETED, "ending"],
  ["a deletion", DELETED, "begun"],
] as const;

// Half of the departures, others for each act.
describe.each(Object.entries(PUBLIC).map(([name, act], i) => [name, act, i] as const))("%s", (_name, { link, form }, i) => {
  test.each(inTurn(DEPARTURES, i))("used while %s is under way leaves nothing about the contact", (_how, how, when) =>
    onPublicStage(async (stage, links, listId) => {
      const { world } = stage.server;
      const [url] = links.filter((one) => link.test(one));
      if (url === undefined) throw new Error(`None of these is such a link: ${links.join(" ")}`);
      const body = form && new URLSearchParams(form(listId));
      const statuses: number[] = [];
      await depart(stage, how, when, async () => {
        const answer = await world.fetch(url, { redirect: "manual", headers: BROWSER, ...(body && { method: "POST", body }) });
        statuses.push(answer.status);
      });
      // Behind a departure the link may lead to nobody any more.
      expect(statuses.filter((status) => status >= (when === "begun" ? 400 : 500))).toEqual([]);
      // A form stores who signs up behind the departure anew, as a contact of its own.
      await (how === ERASED ? expectNobody(stage) : expectDeleted(stage));
    }),
  );
});

/** Writes that name a contact in other ways than public pages do. */
const NAMING = [
  "contacts.update",
  "contacts.tag",
  "contacts.import",
  "lists.add",
  "lists.remove",
  "events.track",
  "events.trackBatch",
  "automations.enter",
  "emails.send",
];

describe.each(NAMING.filter((id) => ENDPOINTS.some(([name]) => name === id)).map((id, i) => [id, i] as const))("%s", (id, i) => {
  test.each(inTurn(["begun", "ending"] as const, i))("made while a contact is deleted names it no more afterwards: %s", (when) =>
    onStage(id, async (stage, call) => {
      await depart(stage, DELETED, when, call);
      await expectDeleted(stage);
    }),
  );
});
