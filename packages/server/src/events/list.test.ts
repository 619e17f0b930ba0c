import type { Event } from "@mailsvc/sdk/contract";
import { afterAll, expect, test } from "vitest";
import { asHeld, type PlainEvent } from "../../test/plain-event.ts";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { recordEvents } from "./events.ts";

const at = "/api/v1/v1/events";

afterAll(dropDatabases);

scenarios("events refuse", [
  { name: "a request without a key", method: "GET", path: at, key: null, status: 401, code: "unauthorized" },
  { name: "an unknown type", method: "GET", path: `${at}?type=email.sent,email.bounce`, status: 400, details: ["type unknown_event_type"] },
  { name: "an unknown kind", method: "GET", path: `${at}?type=letter.*`, status: 400, details: ["type unknown_event_type"] },
  { name: "an instant that is none", method: "GET", path: `${at}?since=yesterday`, status: 400, details: ["since invalid_format"] },
  {
    name: "machine that is neither true nor false",
    method: "GET",
    path: `${at}?machine=maybe`,
    status: 400,
    details: ["machine invalid_value"],
  },
  { name: "a cursor of another list", method: "GET", path: `${at}?cursor=I3g`, status: 400, details: ["cursor invalid_cursor"] },
  { name: "an unknown filter", method: "GET", path: `${at}?emailId=em_1`, status: 400, details: ["emailId unknown_parameter"] },
  { name: "to get an unknown event", method: "GET", path: `${at}/evt_0000000000a`, status: 404, code: "not_found" },
  { name: "to get what is no id", method: "GET", path: `${at}/evt_zzzzzzzzzzzzzzzzzz`, status: 404, code: "not_found" },
]);

const sent = (to: string) => ({ from: "Acme <hello@acme.example>", to, subject: "Hello", text: "It works." });

const record = (
  { app: { deps }, workspaceId }: TestWorld,
  events: readonly (Omit<PlainEvent, "workspaceId" | "at"> & { at?: number })[],
): Promise<void> =>
  deps.db.tx((tx) => recordEvents(tx, deps, asHeld(events.map((event) => ({ workspaceId, at: deps.clock.now(), ...event })))));

const typesOf = (events: readonly Event[]): string[] => events.map((e) => e.type);

test("events are filtered by a tag of their email, in pages and after a number, whether few emails have the tag or many", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const other = await world.createWorkspace("Other");
  await other.sdk.emails.send({ ...sent("ada@example.com"), tags: { kind: "rare" } });
  await sdk.emails.send(sent("ada@example.com"));
  const { id } = await sdk.emails.send({ ...sent("ada@example.com"), tags: { kind: "rare", formula: "a=b" } });
  await sdk.emails.send({ ...sent("bob@example.com"), tags: { kind: "rarest" } });
  const recipients = Array.from({ length: 21 }, (_, i) => Array.from({ length: 50 }, (_, k) => `a${i}-${k}@example.com`));
  for (const to of recipients) await sdk.emails.send({ ...sent(""), to, tags: { kind: "often" } });
  await world.settle();
  const rare = await sdk.events.list({ tag: "kind=rare" });
  expect(rare.data.map(({ emailId, type }) => [emailId, type])).toEqual([
    [id, "email.delivered"],
    [id, "email.sent"],
    [id, "email.queued"],
  ]);
  expect(rare.pagination.total).toBe(3);
  expect((await sdk.events.list({ tag: "formula=a=b", after: 0 })).data.map(({ emailId }) => emailId)).toEqual([id, id, id]);
  expect((await sdk.events.list({ tag: "kind=rare", to: "bob@example.com" })).data).toEqual([]);
  expect((await sdk.events.list({ tag: "kind=none" })).pagination.total).toBe(0);
  const often = await sdk.events.list({ tag: "kind=often", type: "email.delivered", limit: 100 }).toArray();
  expect(often).toHaveLength(1050);
  expect(new Set(often.map(({ tags }) => tags["kind"]))).toEqual(new Set(["often"]));
  await expect(sdk.events.list({ tag: "kind" })).rejects.toMatchObject({ code: "validation_error" });
});

test("an email's events are listed newest first, with its recipient and their numbers", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.emails.send(sent("Ada@Example.com"));
  await world.settle();
  const { data, pagination } = await sdk.events.list();
  expect(data).toMatchObject([
    {
      sequence: 3,
      type: "email.delivered",
      emailId: id,
      to: "Ada@example.com",
      contactId: null,
      campaignId: null,
      machine: null,
      data: {},
    },
    { sequence: 2, type: "email.sent", data: { response: "250 2.0.0 Captured", attempt: 1 } },
    { sequence: 1, type: "email.queued" },
  ]);
  expect(pagination).toMatchObject({ total: 3, hasMore: false });
  expect(await sdk.events.get(data[1]?.id ?? "")).toEqual(data[1]);
});

test("what was recorded before a call is in its list, without waiting", async () => {
  await using world = await createWorld();
  for (let n = 1; n <= 20; n += 1) {
    await record(world, [{ type: "contact.created", contactId: `con_${n}` }]);
    expect((await world.sdk.events.list({ limit: 1 })).data).toMatchObject([{ sequence: n, contactId: `con_${n}` }]);
  }
});

test("each filter shows its events only, and filters combine", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com" });
  const one = await sdk.emails.send(sent("ada@example.com"));
  const other = await sdk.emails.send(sent("grace@example.com"));
  await world.settle();
  await world.clock.advance("1h");
  const between = new Date(world.clock.now() - 1000).toISOString();
  await record(world, [
    { type: "email.opened", emailId: one.id, campaignId: "cmp_1", machine: true, data: { machineReason: "prefetch" } },
    { type: "email.opened", emailId: one.id, campaignId: "cmp_1", machine: false },
    { type: "email.clicked", emailId: other.id, campaignId: "cmp_2", machine: false },
    { type: "automation.entered", contactId: ada.id, automationId: "aut_1" },
  ]);
  const list = async (query: Parameters<typeof sdk.events.list>[0]) => typesOf((await sdk.events.list(query)).data);
  expect(await list({ type: "email.opened" })).toEqual(["email.opened", "email.opened"]);
  expect(await list({ type: "email.clicked, contact.*" })).toEqual(["email.clicked", "contact.created"]);
  expect(await list({ email: other.id })).toEqual(["email.clicked", "email.delivered", "email.sent", "email.queued"]);
  expect(await list({ to: "GRACE@example.com" })).toEqual(["email.clicked", "email.delivered", "email.sent", "email.queued"]);
  expect(await list({ to: "grace@example.com", type: "email.sent" })).toEqual(["email.sent"]);
  expect(await list({ campaign: "cmp_1" })).toEqual(["email.opened", "email.opened"]);
  expect(await list({ campaign: "cmp_1", machine: true })).toEqual(["email.opened"]);
  expect(await list({ automation: "aut_1" })).toEqual(["automation.entered"]);
  expect(await list({ machine: false })).toEqual(["email.clicked", "email.opened"]);
  expect(await list({ contact: ada.id })).toEqual([
    "automation.entered",
    "email.opened",
    "email.opened",
    "email.delivered",
    "email.sent",
    "email.queued",
    "contact.created",
  ]);
  expect(await list({ contact: ada.id, since: between })).toEqual(["automation.entered", "email.opened", "email.opened"]);
  expect(await list({ until: between, type: "email.*", email: one.id })).toEqual(["email.delivered", "email.sent", "email.queued"]);
  expect(await list({ campaign: "cmp_3" })).toEqual([]);
});

test("an event that is about a contact and an email is listed once", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.create({ email: "bounced@simulator.mailsvc.test" });
  await sdk.emails.send(sent("bounced@simulator.mailsvc.test"));
  await world.settle();
  const events = await sdk.events.list({ contact: id });
  expect(typesOf(events.data).filter((type) => type === "contact.bounced")).toHaveLength(1);
  expect(events.pagination.total).toBe(events.data.length);
});

test("pages and cursors show each event once, also of one instant", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await record(
    world,
    Array.from({ length: 45 }, (_, i) => ({
      type: i % 2 === 0 ? ("email.sent" as const) : ("email.delivered" as const),
      emailId: `em_${i}`,
    })),
  );
  const all = await sdk.events.list({ limit: 7 }).toArray();
  expect(all.map((e) => e.sequence)).toEqual(Array.from({ length: 45 }, (_, i) => 45 - i));
  const pages = [];
  for (let page = 1; page <= 3; page += 1) pages.push(...(await sdk.events.list({ limit: 15, page })).data);
  expect(pages).toEqual(all);
  const odd = await sdk.events.list({ limit: 10, type: "email.sent" }).toArray();
  expect(odd).toHaveLength(23);
  // Later events do not move a cursor.
  const first = await sdk.events.list({ limit: 10 });
  await record(world, [{ type: "email.opened", emailId: "em_1", machine: false }]);
  const second = await first.getNextPage();
  expect(second?.data[0]?.sequence).toBe(35);
});

test("page numbers of more than two types end after a thousand events, those of two types and of a contact go further; so do cursors", async () => {
  await using world = await createWorld();
  await record(
    world,
    Array.from({ length: 1300 }, (_, i) => ({ type: i % 2 ? ("email.sent" as const) : ("email.opened" as const), emailId: "em_1", at: i })),
  );
  const { sdk } = world;
  const several = { type: "email.sent,email.opened,email.clicked", limit: 100 };
  const far = await sdk.events.list({ ...several, page: 10 });
  expect(far.data[0]?.at).toBe(new Date(399).toISOString());
  for (const filter of [several, { until: "2026-01-01T00:00:00.000Z", limit: 100 }])
    await expect(sdk.events.list({ ...filter, page: 11 })).rejects.toMatchObject({
      code: "validation_error",
      message: expect.stringContaining(
        "more than two event types has page numbers for its first 1,000 events only. Filter by one or two types",
      ),
      details: [{ path: "page", code: "too_far" }],
    });
  const next = await sdk.events.list({ ...several, cursor: far.pagination.nextCursor ?? "" });
  expect(next.data[0]?.at).toBe(new Date(299).toISOString());
  expect((await sdk.events.list({ type: "email.sent,email.opened", limit: 100, page: 12 })).data[0]?.at).toBe(new Date(199).toISOString());
  expect((await sdk.events.list({ contact: "con_0", limit: 100, page: 12 })).data).toEqual([]);
  await record(
    world,
    Array.from({ length: 600 }, () => ({ type: "email.sent" as const, emailId: "em_1" })),
  );
  expect((await sdk.events.list({ type: "email.sent", limit: 100, page: 12 })).data).toHaveLength(100);
});

test("no workspace sees the events of another one, whatever it asks for", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.emails.send(sent("canary@example.com"));
  const contact = await world.sdk.contacts.create({ email: "canary@example.com" });
  await record(world, [{ type: "email.opened", emailId: id, campaignId: "cmp_1", automationId: "aut_1", machine: true }]);
  await world.settle();
  const [mine] = (await world.sdk.events.list()).data;
  const { sdk } = await secondWorkspace(world);
  for (const query of [
    {},
    { type: "*" },
    { email: id },
    { to: "canary@example.com" },
    { contact: contact.id },
    { campaign: "cmp_1" },
    { automation: "aut_1" },
    { machine: true },
    { since: "2020-01-01T00:00:00Z" },
  ])
    expect([query, (await sdk.events.list(query)).data]).toEqual([query, []]);
  await expect(sdk.events.get(mine?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
});

test("events need their own permission", async () => {
  await using world = await createWorld();
  const key = await keyFor(world, "transactional:read");
  await expect(world.sdk.withOptions({ apiKey: key, fetch: world.fetch }).events.list()).rejects.toMatchObject({ code: "forbidden" });
});

test("erasing a person erases the events of their emails, and what stays names nobody", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.create({ email: "canary@example.com", firstName: "Canary" });
  await sdk.emails.send(sent("canary@example.com"));
  await world.settle();
  await sdk.people.erase("canary@example.com");
  const left = await sdk.events.list().toArray();
  expect(JSON.stringify(left).toLowerCase()).not.toContain("canary");
  expect(left.filter((e) => e.contactId === id).map((e) => e.type)).toEqual(["contact.deleted"]);
});

test("after a sequence, events come in the order of their sequence, also one that happened before those it follows", async () => {
  await using world = await createWorld();
  const now = world.clock.now();
  await record(world, [{ type: "email.sent" }, { type: "email.delivered" }]);
  await record(world, [{ type: "email.clicked", at: now - 5000 }]);
  expect((await world.sdk.events.list()).data.map((e) => e.sequence)).toEqual([3, 2, 1]);
  expect((await world.sdk.events.list({ type: "email.*" })).data.map((e) => e.sequence)).toEqual([2, 1, 3]);
  expect((await world.sdk.events.list({ after: 0 })).data.map((e) => e.sequence)).toEqual([1, 2, 3]);
  const page = await world.sdk.events.list({ after: 1, limit: 1 });
  expect([page.data.map((e) => e.sequence), page.pagination.total, page.pagination.hasMore]).toEqual([[2], 2, true]);
  const rest: number[] = [];
  for await (const event of world.sdk.events.list({ after: 0, limit: 1 })) rest.push(event.sequence);
  expect(rest).toEqual([1, 2, 3]);
  expect((await world.sdk.events.list({ after: 3 })).data).toEqual([]);
  expect((await world.sdk.events.list({ after: 0, until: new Date(now).toISOString() })).data.map((e) => e.sequence)).toEqual([3]);
});

test("after a sequence and with filters, a page looks through some thousand events, and its cursor goes on where it stopped", async () => {
  await using world = await createWorld();
  await record(world, [{ type: "email.bounced" }]);
  for (let i = 0; i < 6; i += 1)
    await record(
      world,
      Array.from({ length: 1000 }, () => ({ type: "email.sent" as const })),
    );
  await record(world, [{ type: "email.bounced" }]);
  const first = await world.sdk.events.list({ after: 1, type: "email.bounced" });
  expect(first.data).toEqual([]);
  expect(first.pagination).toMatchObject({ total: 0, totalIsMinimum: true, hasMore: true });
  const found: number[] = [];
  for await (const event of world.sdk.events.list({ after: 0, type: "email.bounced" })) found.push(event.sequence);
  expect(found).toEqual([1, 6002]);
});

test("a client that polls two servers by sequence sees each event once and in order, also when one dies", async () => {
  const database = await createDatabase();
  {
    await using one = await createWorld({ seed: 1, databaseUrl: database.url });
    const other = await createWorld({ seed: 2, databaseUrl: database.url });
    const client = other.sdk.withOptions({ apiKey: one.apiKey });
    const rounds = 30;
    let writing = true;
    const write = async (world: TestWorld): Promise<void> => {
      const { deps } = world.app;
      for (let i = 0; i < rounds; i += 1)
        await Promise.all(
          [1, 2, 3].map((n) =>
            deps.db.tx(async (tx) => {
              // Various times, so that a later event may have happened earlier.
              const happened = deps.clock.now() - ((i * n) % 7) * 1000;
              await recordEvents(tx, deps, [{ workspaceId: one.workspaceId, type: "email.sent", at: happened }]);
              for (let j = 0; j < n * 2; j += 1) await tx.select().from(tx.t.meta);
            }),
          ),
        );
    };
    const seen: number[] = [];
    const poll = async (): Promise<void> => {
      for (let turn = 0; ; turn += 1) {
        const last = !writing;
        const { events } = turn % 2 === 0 && writing ? client : one.sdk;
        for await (const { sequence } of events.list({ after: seen.at(-1) ?? 0, limit: 7 })) seen.push(sequence);
        if (last) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const poller = poll();
    await Promise.all([write(one), write(other)]);
    writing = false;
    await poller;
    await other.dispose();
    expect(seen).toEqual(Array.from({ length: 2 * 3 * rounds }, (_, i) => i + 1));
  }
  await database.drop();
});

test("without a filter the list has the order of the sequence, whatever the time at which events happened", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  const at = deps.clock.now();
  for (const earlier of [0, 5000, 1000])
    await deps.db.tx((tx) => recordEvents(tx, deps, [{ workspaceId: world.workspaceId, type: "campaign.started", at: at - earlier }]));
  const list = async (query: object) => (await world.sdk.events.list(query).toArray()).map(({ sequence }) => sequence);
  const numbers = await list({ limit: 1 });
  expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  expect(numbers).toHaveLength(3);
  const [last = 0] = numbers;
  expect(await list({ type: "campaign.started" })).toEqual([last - 2, last, last - 1]);
});
