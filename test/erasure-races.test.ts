import { isForAgents } from "@mailsvc/sdk/contract";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { findContactByEmail } from "../packages/server/src/contacts/contacts.ts";
import { eraseDataSubject, findAnswers } from "../packages/server/src/data-subjects/data-subjects.ts";
import type { PersonData } from "../packages/server/src/data-subjects/declarations.ts";
import type { Tx } from "../packages/server/src/db/db.ts";
import { currentScope } from "../packages/server/src/db/scope.ts";
import { PERSON_DATA } from "../packages/server/src/person-data.ts";
import type { TestWorld } from "../packages/server/src/testing.ts";
import { createDatabase, dropDatabases, type TestDatabase } from "../packages/server/test/postgres.ts";
import { ENDPOINTS, keyOf, makeCall, makeObjects, toCall } from "./support/example-calls.ts";
import { type ExampleServer, openExampleServer } from "./support/example-server.ts";

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

afterAll(dropDatabases);

interface Stage {
  readonly server: ExampleServer;
  readonly database: TestDatabase;
  /** The contact of Ada, before anything happens. */
  readonly contact: { readonly id: string; readonly seq: number };
}

/** How a person goes. */
type Departure = (world: TestWorld, contactId: string) => Promise<(tx: Tx) => Promise<unknown>>;

const ERASED: Departure = async ({ app: { deps }, workspaceId }) => {
  const answers = await findAnswers(deps.db.read, deps, workspaceId, ADA);
  return (tx) => eraseDataSubject(tx, deps, PERSON_DATA, workspaceId, ADA, answers);
};

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
      "select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and (n.nspname = 'public' or n.nspname = 'mailsvc_jobs')",
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
  // What was held back for seconds is decided.
  await world.clock.advance("1m");
  const rows = await findRowsNaming(stage.database, stage.contact.id);
  const named = rows.filter(
    ({ table, row }) => !mayStay.includes(table) && !isEcho(table, row) && !STAYING.some((type) => row.includes(type)),
  );
  expect({ named, numbered: await findNumbered(world, stage.contact.seq) }).toEqual({ named: [], numbered: [] });
}

// Each of them takes a second, so a run tries half of the pairs; RACES=all tries each write at both moments.
const triedAt = (rest: 0 | 1): typeof WRITES => (process.env["RACES"] === "all" ? WRITES : WRITES.filter((_, i) => i % 2 === rest));

test.each(triedAt(0))("%s, made after an erasure has begun, leaves nothing about the contact", (id) =>
  onStage(id, async (stage, call) => {
    await depart(stage, ERASED, "begun", call);
    await expectNobody(stage);
    // Of a call that stored the person anew, erasing them once more leaves nothing either.
    await stage.server.world.sdk.people.erase(ADA).catch(() => {});
    await stage.server.world.settle();
    expect(await findRowsNaming(stage.database, ADA)).toEqual([]);
  }),
);

test.each(triedAt(1))("%s, made before an erasure ends, leaves nothing about the contact", (id) =>
  onStage(id, async (stage, call) => {
    await depart(stage, ERASED, "ending", call);
    await expectNobody(stage);
  }),
);
