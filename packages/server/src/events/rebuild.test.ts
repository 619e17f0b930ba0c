import { type ApiError, Mailsvc } from "@mailsvc/sdk";
import { eq, lt } from "drizzle-orm";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { REBUILD_READER_JOB } from "./rebuild.ts";

const hello = { from: "hello@acme.example", subject: "Hello", text: "Hello" };
const DAY = 86_400_000;

const operatorOf = (world: TestWorld) => new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });

const failureOf = (work: Promise<unknown>): Promise<ApiError> =>
  work.then(
    () => Promise.reject(new Error("It succeeded.")),
    (error: ApiError) => error,
  );

const buyersOf = async ({ sdk }: TestWorld, id: string) => (await sdk.segments.contacts(id)).data.map(({ email }) => email).toSorted();

test("numbers of mail that went wrong are rebuilt day by day; an erased person stays counted", async () => {
  await using world = await createWorld({ now: "2026-03-01T10:00:00.000Z" });
  const { sdk, clock, app } = world;
  for (const to of ["ada@one.example", "bea@two.example"]) {
    await sdk.emails.send({ ...hello, to, tags: { kind: "order" } });
    await clock.advance("1d");
  }
  await sdk.people.erase("ada@one.example");
  await world.settle();
  const asked = { from: "2026-03-01", to: "2026-03-03", by: "tag" } as const;
  const right = await sdk.metrics.get(asked);
  expect(right.total).toMatchObject({ accepted: 2, sent: 2 });

  const { db } = app.deps;
  const { mailMetrics } = db.read.t;
  await db.tx(async (tx) => {
    await tx.delete(mailMetrics).where(eq(mailMetrics.dimension, "tag"));
    const [row] = await tx.select().from(mailMetrics).where(eq(mailMetrics.dimension, "domain"));
    await tx.update(mailMetrics).set({ counts: row?.counts ?? new Uint8Array() });
  });
  expect(await sdk.metrics.verify({ from: "2026-03-01", to: "2026-03-03" })).toMatchObject({ correct: false });

  expect(await operatorOf(world).readers.rebuild("metrics", {})).toMatchObject({ name: "metrics", workspaces: 1, from: null });
  await world.settle();
  expect(await sdk.metrics.verify({ from: "2026-03-01", to: "2026-03-03" })).toMatchObject({ correct: true });
  const { total } = await sdk.metrics.get({ ...asked, by: undefined });
  expect(total).toMatchObject({ accepted: 2, sent: 2 });
  // Numbers by a tag that only the erased person had mail with are gone with the rows.
  expect((await sdk.metrics.get(asked)).data).toMatchObject([{ value: "kind=order", accepted: 1 }]);
});

test("what people did is rebuilt with the segments that ask for it; no automation starts, and again changes nothing", async () => {
  await using world = await createWorld();
  const { sdk, clock, app } = world;
  const { id } = await sdk.segments.create({ name: "Buyers", rules: { field: "did.purchase", operator: "gte", value: 1 } });
  const greeting = await sdk.automations.create({
    name: "Greet",
    trigger: { type: "segment.entered", segmentId: id },
    steps: [{ id: "rest", type: "delay", for: "1d" }],
    connections: [{ from: "trigger", to: "rest" }],
  });
  await sdk.automations.activate(greeting.id);
  for (const name of ["ada", "bob", "cyd"]) await sdk.contacts.create({ email: `${name}@example.com` });
  await sdk.events.trackBatch({
    events: ["ada", "bob"].map((name) => ({ contact: `${name}@example.com`, name: "purchase", value: 5, currency: "EUR" })),
  });
  await world.settle();
  const rowsOf = async () => (await app.deps.db.read.select().from(app.deps.db.read.t.contactActions)).map(({ at: _, ...row }) => row);
  const right = await rowsOf();
  expect([await buyersOf(world, id), right.length]).toEqual([["ada@example.com", "bob@example.com"], 2]);

  // One action is lost, one is of somebody else.
  const { db } = app.deps;
  const { contactActions, contacts } = db.read.t;
  await db.tx(async (tx) => {
    const [cyd] = await tx.select({ seq: contacts.seq }).from(contacts).where(eq(contacts.email, "cyd@example.com"));
    await tx.delete(contactActions).where(eq(contactActions.eventKey, right[0]?.eventKey ?? 0));
    await tx.update(contactActions).set({ contactSeq: cyd?.seq ?? 0 });
  });
  const operator = operatorOf(world);
  for (let round = 0; round < 2; round += 1) {
    await operator.readers.rebuild("engagement", {});
    await world.settle();
    await clock.advance("2m");
    expect(await rowsOf()).toEqual(right);
    expect(await buyersOf(world, id)).toEqual(["ada@example.com", "bob@example.com"]);
  }
  expect((await sdk.automations.entries(greeting.id)).pagination.total).toBe(2);
});

test("a rebuild that could not be true is refused, and says why", async () => {
  await using world = await createWorld({ flags: { keep: "events=30" }, now: "2026-03-31T12:00:00.000Z" });
  const { readers } = operatorOf(world);
  expect(await failureOf(readers.rebuild("automations", {}))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("acts"),
  });
  expect(await failureOf(readers.rebuild("campaigns", {}))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("campaigns verify"),
  });
  expect(await failureOf(readers.rebuild("metrics", { from: "2026-03-01" }))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("nothing from before 2026-03-02 can be rebuilt"),
  });
  expect(await failureOf(readers.rebuild("metrics", { from: "2026-04-01" }))).toMatchObject({ code: "validation_error" });
  expect(await failureOf(readers.rebuild("nobody", {}))).toMatchObject({ code: "not_found" });
  expect(await failureOf(world.sdk.readers.rebuild("metrics", {}))).toMatchObject({ code: "forbidden" });
  expect(await readers.rebuild("metrics", {})).toMatchObject({ from: new Date(Date.parse("2026-03-31") - 29 * DAY).toISOString() });
});

test("a rebuild that runs days after it was asked for leaves days alone whose events are deleted by then", async () => {
  await using world = await createWorld({ flags: { keep: "events=30" }, now: "2026-03-01T10:00:00.000Z" });
  const { sdk, clock, app } = world;
  const { db, queue } = app.deps;
  const { events, mailMetrics } = db.read.t;
  await sdk.emails.send({ ...hello, to: "ada@one.example" });
  await clock.advance("13h");
  await sdk.emails.send({ ...hello, to: "bea@two.example" });
  await clock.advance("29d");
  const asked = { from: "2026-03-01", to: "2026-03-01" } as const;
  const { total } = await sdk.metrics.get(asked);
  expect(total).toMatchObject({ accepted: 2, sent: 2 });

  const [{ workspaceId = "" } = {}] = await db.read.select().from(mailMetrics);
  await clock.advance("17h");
  await db.tx((tx) => tx.delete(events).where(lt(events.at, clock.now() - 30 * DAY)));
  for (const after of [0, Date.parse("2026-02-28") / DAY])
    await db.tx(async (tx) => {
      const payload = { name: "metrics", workspaceId, from: Date.parse("2026-03-01"), after };
      await queue.enqueue(tx, { kind: REBUILD_READER_JOB, payload });
    });
  await world.settle();
  expect((await sdk.metrics.get(asked)).total).toEqual(total);
});

test("readers are listed with what they still have to read, and the workspaces in which they cannot go on", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({ ...hello, to: "ada@example.com" });
  await world.settle();
  const { data } = await operatorOf(world).readers.list();
  expect(data.map(({ name, keeps }) => [name, keeps === null])).toEqual([
    ["metrics", false],
    ["engagement", false],
    ["campaigns", false],
    ["automations", true],
    ["soft_bounces", true],
  ]);
  expect(data.every(({ unread, failing }) => unread === 0 && failing.length === 0)).toBe(true);
});
