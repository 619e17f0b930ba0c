import { durationMs, type EventFilter, listRuleErrors, type SegmentCondition } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, lte, type SQLWrapper } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { assumeContactHeld, assumeEmailHeld } from "../db/held.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import { EventReaders } from "../events/readers.ts";
import { silentLog } from "../lib/log.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { compileRule } from "./compile.ts";
import { loadContactViews } from "./contact-view.ts";
import { engagementReader } from "./engagement.ts";
import { matches } from "./evaluate.ts";
import { buildRuleContext } from "./query.ts";
import { findSource } from "./source.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PEOPLE = 40;
/** Ages of events, in ms: at, right before and right after the edges of the windows. */
const AGES = [0, 1, HOUR - 1, HOUR, HOUR + 1, DAY - 1, DAY, DAY + 1, 2 * DAY, 30 * DAY, 30 * DAY + 1, 400 * DAY];
const WINDOWS = ["1h", "1d", "24h", "30d", "36500d"];
const CAMPAIGNS = ["camp_a", "camp_b"];
const PLANS = ["pro", "Pro", "basic", 7, true, null];

/** A deed of somebody, as the test remembers it. */
interface Deed {
  readonly what: "did.purchase" | "did.visit" | "opened" | "clicked";
  readonly age: number;
  readonly machine: boolean;
  readonly campaign: string | null;
  readonly value: number;
  readonly plan: (typeof PLANS)[number];
  readonly url: string;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  what: fc.constantFrom("did.purchase", "did.visit", "opened", "clicked"),
  age: fc.constantFrom(...AGES),
  machine: fc.boolean(),
  campaign: fc.constantFrom(...CAMPAIGNS, null),
  value: fc.constantFrom(0, 10, 50, 51),
  plan: fc.constantFrom(...PLANS),
  url: fc.constantFrom("https://acme.example/a", "https://acme.example/b"),
});

const isTracked = ({ what }: Deed): boolean => what.startsWith("did.");

/** The event of a deed; `contact` and `email` are ids. */
function toEvent(
  workspaceId: string,
  now: number,
  { what, age, machine, campaign, value, plan, url }: Deed,
  contact: string,
  email: string,
): NewEvent {
  const at = now - age;
  if (what === "opened" || what === "clicked")
    return { workspaceId, type: `email.${what}`, emailId: assumeEmailHeld(email), at, machine, campaignId: campaign, data: { url } };
  const contactId = assumeContactHeld({ id: contact, seq: 0 }).id;
  const data = { name: what.slice(4), value, currency: "EUR", ...(plan !== null && { properties: { plan } }) };
  return { workspaceId, type: "contact.tracked", contactId, at, data };
}

/** Histories of people whose events the reader has read, in a shuffled order. */
async function fill(world: TestWorld): Promise<{ seqs: number[]; histories: Deed[][] }> {
  const { app, sdk, workspaceId } = world;
  const histories = fc.sample(fc.array(deed, { maxLength: 12 }), { numRuns: PEOPLE, seed: 3 });
  const to = histories.map((_, i) => `p${i}@example.com`);
  for (const email of to) await sdk.contacts.create({ email });
  await sdk.emails.send({ from: "a@acme.test", subject: "Hi", text: "x", to });
  await world.settle();
  const { read, tx } = { read: app.deps.db.read, tx: app.deps.db.tx.bind(app.deps.db) };
  const contacts = await read.select().from(read.t.contacts).orderBy(asc(read.t.contacts.seq));
  const mails = new Map((await read.select().from(read.t.emails)).map((mail) => [mail.toKey, mail.id]));
  const now = world.clock.now();
  const events = histories.flatMap((own, i) =>
    own.map((one) => toEvent(workspaceId, now, one, contacts[i]?.id ?? "", mails.get(contacts[i]?.emailKey ?? "") ?? "")),
  );
  const shuffled = fc.sample(fc.shuffledSubarray(events, { minLength: events.length }), { numRuns: 1, seed: 5 })[0] as NewEvent[];
  await tx((one) => recordEvents(one, app.deps, shuffled));
  await world.settle();
  return { seqs: contacts.map(({ seq }) => seq), histories };
}

const fact = fc.oneof<fc.Arbitrary<EventFilter>[]>(
  fc.record({
    field: fc.constant("value" as const),
    operator: fc.constantFrom("gt", "gte", "lt", "lte", "equals"),
    value: fc.constantFrom(0, 10, 50),
  }),
  fc.record({
    field: fc.constant("properties.plan" as const),
    operator: fc.constantFrom("equals", "notEquals"),
    value: fc.constantFrom("PRO", "basic", 7, true),
  }),
  fc.record({ field: fc.constant("properties.plan" as const), operator: fc.constant("exists"), value: fc.boolean() }),
);

const trackedFilter: fc.Arbitrary<EventFilter> = fc.oneof(
  fact,
  fc.record({ all: fc.array(fact, { minLength: 1, maxLength: 2 }) }),
  fc.record({ any: fc.array(fact, { minLength: 1, maxLength: 2 }) }),
  fc.record({ not: fact }),
);

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const condition: fc.Arbitrary<SegmentCondition> = fc
  .constantFrom("did.purchase", "did.visit", "did.nothing", "opened", "clicked", "received", "replied")
  .chain((field) =>
    fc.record({
      field: fc.constant(field as SegmentCondition["field"]),
      operator: fc.constantFrom("exists", "gte", "gt", "lte", "lt", "equals", "notEquals"),
      value: fc.integer({ min: 0, max: 3 }),
      within: optional(fc.constantFrom(...WINDOWS)),
      campaign: field.startsWith("did.") ? fc.constant(undefined) : optional(fc.constantFrom(...CAMPAIGNS)),
      where: field.startsWith("did.")
        ? optional(trackedFilter)
        : field === "clicked"
          ? optional(fc.constant<EventFilter>({ field: "url", operator: "endsWith", value: "/A" }))
          : fc.constant(undefined),
    }),
  )
  .map(({ value, ...one }) => ({ ...one, value: one.operator === "exists" ? value > 0 : value }));

/** Says without the product's help whether a deed passes a filter. */
function passes(one: Deed, filter: EventFilter): boolean {
  if ("all" in filter) return filter.all.every((inner) => passes(one, inner));
  if ("any" in filter) return filter.any.some((inner) => passes(one, inner));
  if ("not" in filter) return !passes(one, filter.not);
  const { operator, value: wanted } = filter;
  if (filter.field === "url") return one.url.endsWith("/a");
  if (filter.field === "properties.plan") {
    const fold = (text: unknown): unknown => (typeof text === "string" ? text.toLowerCase() : text);
    if (operator === "exists") return (one.plan !== null) === (wanted !== false);
    return (fold(one.plan) === fold(wanted)) === (operator === "equals");
  }
  const [have, than] = [one.value, Number(wanted)];
  return { gt: have > than, gte: have >= than, lt: have < than, lte: have <= than, equals: have === than }[operator as "gt"];
}

/** Says without the product's help whether somebody with a history satisfies a condition. Everybody received one mail, of no campaign. */
function satisfies(history: readonly Deed[], { field, operator, value, within, campaign, where }: SegmentCondition, age: number): boolean {
  const deeds = history.filter(
    (one) =>
      one.what === field &&
      (isTracked(one) || !one.machine) &&
      (within === undefined || one.age <= durationMs(within)) &&
      (campaign === undefined || one.campaign === campaign) &&
      (where === undefined || passes(one, where)),
  );
  const received = field === "received" && campaign === undefined && (within === undefined || age <= durationMs(within)) ? 1 : 0;
  const times = deeds.length + received;
  if (operator === "exists") return times > 0 === (value !== false);
  const wanted = Number(value);
  const answers = { gte: times >= wanted, gt: times > wanted, lte: times <= wanted, lt: times < wanted, equals: times === wanted };
  return operator === "notEquals" ? times !== wanted : answers[operator as keyof typeof answers];
}

test("rules about behaviour find those whose history says so, in SQL and one by one", async () => {
  await using world = await createWorld({ now: "2026-03-30T00:30:00.000Z" });
  const { seqs, histories } = await fill(world);
  const { read } = world.app.deps.db;
  const context = await buildRuleContext(read, world.app.deps, world.workspaceId);
  const [sent] = (await read.select().from(read.t.events)).filter(({ type }) => type === "email.sent");
  const among = { after: seqs[1] ?? 0, last: seqs.at(-3) ?? 0 };
  const isAmong = (seq: SQLWrapper) => and(gt(seq, among.after), lte(seq, among.last));
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(condition, async (one) => {
      expect(listRuleErrors(JSON.parse(JSON.stringify(one)))).toEqual([]);
      const { contacts: c } = read.t;
      const found = await read
        .select({ seq: c.seq })
        .from(c)
        .where(and(eq(c.workspaceId, world.workspaceId), compileRule(context, one)))
        .orderBy(asc(c.seq));
      const source = await findSource(one, context);
      const picked = await read
        .select({ seq: source.seq })
        .from(source.from)
        .where(and(source.scope, source.rest()))
        .orderBy(asc(source.seq));
      const pickedAmong = await read
        .select({ seq: source.seq })
        .from(source.from)
        .where(and(source.scope, source.rest(among), isAmong(source.seq)))
        .orderBy(asc(source.seq));
      const views = await loadContactViews(read, world.workspaceId, seqs, [one], context.now);
      const wanted = seqs.filter((_, i) => satisfies(histories[i] ?? [], one, context.now - (sent?.at ?? 0)));
      expect(found.map(({ seq }) => seq)).toEqual(wanted);
      expect(picked.map(({ seq }) => seq)).toEqual(wanted);
      expect(pickedAmong.map(({ seq }) => seq)).toEqual(wanted.filter((seq) => seq > among.after && seq <= among.last));
      expect(seqs.filter((seq) => matches((views.get(seq) as NonNullable<ReturnType<typeof views.get>>).view, one, context.now))).toEqual(
        wanted,
      );
      matched += wanted.length;
    }),
    { numRuns: 400, seed: 17 },
  );
  // Rules that match nobody would prove nothing.
  expect(matched).toBeGreaterThan(4000);
});

test("what people did can be read from the log again, also by a process that is killed between two batches, and is the same", async () => {
  await using world = await createWorld({ now: "2026-03-30T00:30:00.000Z" });
  const { sdk, app, workspaceId } = world;
  await fill(world);
  const contacts = Array.from({ length: 900 }, (_, i) => ({ contact: `p${i % PEOPLE}@example.com`, name: "visit" }));
  await sdk.events.trackBatch({ events: contacts });
  await world.settle();
  const { db } = app.deps;
  const list = async () => ({
    actions: await db.read.select().from(db.read.t.contactActions).orderBy(asc(db.read.t.contactActions.eventKey)),
    engagement: await db.read.select().from(db.read.t.engagement).orderBy(asc(db.read.t.engagement.contactSeq)),
  });
  const before = await list();
  expect(before.actions.length).toBeGreaterThan(1000);
  await db.tx(async (tx) => {
    const { eventReaders: r } = tx.t;
    await tx.delete(tx.t.contactActions);
    await tx.delete(tx.t.engagement);
    await tx
      .update(r)
      .set({ position: 0 })
      .where(and(eq(r.workspaceId, workspaceId), eq(r.reader, "engagement")));
  });
  const inProcess = () =>
    new EventReaders(
      () => ({ db, clock: manualTime(), log: silentLog, eventStream: { wake: () => {}, wakeReaders: () => {} } }),
      [engagementReader(() => app.deps)],
    );
  expect(await inProcess().read(null, false)).toBe(true);
  const between = (await list()).actions.length;
  expect(between).toBeGreaterThan(0);
  expect(between).toBeLessThan(before.actions.length);
  const next = inProcess();
  while (await next.read(null, false));
  expect(await list()).toEqual(before);
});
