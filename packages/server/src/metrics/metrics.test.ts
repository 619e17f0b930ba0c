import { Mailsvc } from "@mailsvc/sdk";
import { and, eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { manualTime } from "../../test/manual-time.ts";
import { EventReaders } from "../events/readers.ts";
import { silentLog } from "../lib/log.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { metricsReader } from "./metrics.ts";
import { EMPTY_DAY } from "./packed-day.ts";
import { learnReceivers } from "./receivers-job.ts";
import { VALUES_A_DAY } from "./rows.ts";

const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
const hello = { from: "hello@acme.example", subject: "Hello", text: "Hello" };

/** Checks that the numbers are what the events say. */
async function expectCorrect(sdk: Mailsvc): Promise<void> {
  expect(await sdk.metrics.verify()).toMatchObject({ correct: true, differences: [], daysWithoutMail: 0 });
}

const listValues = (rows: readonly { readonly value: string | null; readonly accepted: number }[]) =>
  Object.fromEntries(rows.map(({ value, accepted }) => [value, accepted]));

test("mail is counted in all and by tag, sender, receiver and template; that of test keys apart", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.templates.create({ slug: "hi", name: "Hi", subject: "Hi", text: "Hi", publish: true });
  await sdk.emails.send({ ...hello, to: ["ada@gmail.com", "bea@googlemail.com", "cyd@example.org"], tags: { kind: "report" } });
  await sdk.emails.send({ ...hello, from: "Shop <shop@acme.example>", to: "dan@hotmail.co.uk", tags: { kind: "order" } });
  await sdk.emails.send({ ...hello, to: "bounce@simulator.mailsvc.test" });
  await sdk.emails.sendTemplate({ slug: "hi", from: "hello@acme.example", to: "eve@yahoo.fr" });
  const { key } = await sdk.keys.create({ name: "CI", permissions: ["transactional:send", "events:read"], test: true });
  const staging = sdk.withOptions({ apiKey: key });
  await staging.emails.send({ ...hello, to: "ada@gmail.com" });
  await world.settle();

  const { total, data, zone } = await sdk.metrics.get({ interval: "all" });
  expect(zone).toBe("UTC");
  expect(total).toMatchObject({ accepted: 6, sent: 6 - total.bounced, failed: 0, machineOpens: 0 });
  expect(data).toMatchObject([{ value: null, accepted: 6 }]);
  expect(total.handOver).toMatchObject({ within1h: 1 });
  const by = async (dimension: "tag" | "sender" | "domain" | "template") =>
    listValues((await sdk.metrics.get({ interval: "all", by: dimension })).data);
  expect(await by("tag")).toEqual({ "kind=report": 3, "kind=order": 1 });
  expect(await by("sender")).toEqual({ "hello@acme.example": 5, "shop@acme.example": 1 });
  expect(await by("domain")).toMatchObject({ gmail: 2, microsoft: 1, yahoo: 1, "example.org": 1 });
  expect(await by("template")).toEqual({ hi: 1 });
  expect((await sdk.metrics.get({ domain: "GMAIL" })).total.accepted).toBe(2);
  expect((await sdk.metrics.get({ tag: "kind=report" })).total.accepted).toBe(3);
  expect((await sdk.metrics.get({ test: true })).total.accepted).toBe(1);
  expect((await staging.metrics.get()).total.accepted).toBe(1);
  await expectCorrect(sdk);
});

test("a campaign counts its recipients; what machines do is in their numbers only, and an open counts once for each mail", async () => {
  await using world = await createWorld();
  const { sdk, clock } = world;
  await addContacts(world, 4);
  const { id } = await createCampaign(world, { trackOpens: true, trackClicks: true });
  await sdk.campaigns.send(id);
  await world.settle();
  await clock.advance("1h");
  const [first, second] = await world.inbox
    .all({ to: "p0@example.com" })
    .then(async (one) => [...one, ...(await world.inbox.all({ to: "p1@example.com" }))]);
  const linksOf = async (mail: { id: string } | undefined) =>
    [...((await sdk.inbox.get(mail?.id ?? "")).html ?? "").matchAll(/(?:href|src)="(http[^"]+)"/g)].map(([, url]) =>
      (url ?? "").replaceAll("&amp;", "&"),
    );
  const get = (url: string | undefined, agent: string) => world.fetch(url ?? "", { redirect: "manual", headers: { "user-agent": agent } });
  const pixel = (await linksOf(first)).find((url) => url.includes("/t/o/"));
  await get(pixel, PERSON);
  await clock.advance("1h");
  await get(pixel, PERSON);
  await Promise.all((await linksOf(second)).map((url) => get(url, "python-requests/2.32")));
  await clock.advance("1h");
  const { total } = await sdk.metrics.get({ campaign: id });
  expect(total).toMatchObject({ accepted: 4, sent: 4, delivered: 4, opens: 2, opened: 1, clicked: 0, unsubscribed: 0 });
  expect(total.machineOpens).toBe(1);
  expect(total.rates).toMatchObject({ open: 0.25, bounce: 0, complaint: 0 });
  await expectCorrect(sdk);
});

test("days are those of the zone that is asked for: of 23 and 25 hours, behind half an hour, and after the workspace moved", async () => {
  await using world = await createWorld();
  const { sdk, clock } = world;
  const sendAt = async (instant: string): Promise<void> => {
    clock.control.freeze(Date.parse(instant));
    await sdk.emails.send({ ...hello, to: "ada@example.org" });
    await world.settle();
  };
  // In Berlin the clocks are put forward on March 29 and back on October 25.
  for (const instant of ["2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:00Z", "2026-03-29T22:00:00Z"])
    await sendAt(instant);
  for (const instant of ["2026-10-24T22:00:00Z", "2026-10-25T22:59:00Z", "2026-10-25T23:00:00Z"]) await sendAt(instant);
  const perDay = async (zone: string | undefined, from: string, to: string) =>
    (await sdk.metrics.get({ from, to, ...(zone && { zone }) })).data.map(({ from: at, accepted }) => [at, accepted]);
  expect(await perDay("Europe/Berlin", "2026-03-28", "2026-03-30")).toEqual([
    ["2026-03-27T23:00:00.000Z", 1],
    ["2026-03-28T23:00:00.000Z", 2],
    ["2026-03-29T22:00:00.000Z", 1],
  ]);
  expect(await perDay("Europe/Berlin", "2026-10-25", "2026-10-26")).toEqual([
    ["2026-10-24T22:00:00.000Z", 2],
    ["2026-10-25T23:00:00.000Z", 1],
  ]);
  const hours = async (date: string) => (await sdk.metrics.get({ from: date, to: date, interval: "hour", zone: "Europe/Berlin" })).data;
  expect((await hours("2026-03-29")).map(({ accepted }) => accepted)).toEqual([1, ...Array(21).fill(0), 1]);
  expect(await hours("2026-10-25")).toHaveLength(25);
  await sendAt("2026-11-02T18:14:59Z");
  await sendAt("2026-11-02T18:15:00Z");
  expect(await perDay("Asia/Kathmandu", "2026-11-02", "2026-11-03")).toEqual([
    ["2026-11-01T18:15:00.000Z", 1],
    ["2026-11-02T18:15:00.000Z", 1],
  ]);
  expect((await perDay(undefined, "2026-11-02", "2026-11-03")).map(([, n]) => n)).toEqual([2, 0]);
  await sdk.brand.update({ timezone: "Asia/Kathmandu" });
  expect((await perDay(undefined, "2026-11-02", "2026-11-03")).map(([, n]) => n)).toEqual([1, 1]);
  await expect(sdk.metrics.get({ zone: "Mars/Olympus" })).rejects.toMatchObject({ code: "validation_error" });
  await expect(sdk.metrics.get({ from: "2026-11-03", to: "2026-11-02" })).rejects.toMatchObject({ code: "validation_error" });
  await expect(sdk.metrics.get({ from: "2026-01-01", to: "2026-03-01", interval: "hour" })).rejects.toMatchObject({
    code: "validation_error",
  });
  await expect(sdk.metrics.get({ by: "domain", campaign: "cmp_x" })).rejects.toMatchObject({ code: "validation_error" });
});

test("counting anew agrees after readers that die between batches, erasures, values without room, and a clock that went back", async () => {
  await using world = await createWorld();
  const { sdk, clock, app, workspaceId } = world;
  const names = Array.from({ length: VALUES_A_DAY + 60 }, (_, i) => `u${i}`);
  for (let i = 0; i < names.length; i += 50)
    await sdk.emails.send({ ...hello, to: names.slice(i, i + 50).map((name) => `${name}@${name}.example`), tags: { order: `${i}` } });
  await sdk.emails.send({ ...hello, to: "ada@lovelace.example", tags: { who: "ada@lovelace.example" } });
  await world.settle();
  await clock.advance("26h");
  await sdk.emails.send({ ...hello, to: ["ada@lovelace.example", "bea@example.org"], tags: { who: "ada@lovelace.example" } });
  await world.settle();
  clock.control.freeze(clock.now() - 7_200_000);
  await sdk.emails.send({ ...hello, to: "cyd@example.org" });
  await world.settle();
  await expectCorrect(sdk);
  const before = await sdk.metrics.get({ interval: "all" });

  // The same from the beginning, by processes that each die after one batch.
  const { db } = app.deps;
  await db.tx(async (tx) => {
    await tx.delete(tx.t.mailMetrics);
    await tx.delete(tx.t.eventReaders);
  });
  const readSome = async (): Promise<boolean> =>
    new EventReaders(
      () => ({ db, clock: manualTime(), log: silentLog, eventStream: { wake: () => {}, wakeReaders: () => {} } }),
      [metricsReader(() => app.deps)],
    ).read(null, true);
  await Promise.all([readSome(), readSome()]);
  await sdk.people.erase("u1@u1.example");
  while (await readSome());
  expect(await sdk.metrics.verify()).toMatchObject({ correct: true });

  const erased = await sdk.metrics.get({ interval: "all" });
  await sdk.people.erase("ada@lovelace.example");
  await sdk.people.erase("u3@u3.example");
  expect(await sdk.metrics.verify()).toMatchObject({ correct: true });
  // The numbers stay; what is about one person alone is not named any more.
  expect((await sdk.metrics.get({ interval: "all" })).total).toEqual(erased.total);
  expect(before.total.accepted - erased.total.accepted).toBeLessThanOrEqual(1);
  const rows = await db.read.select().from(db.read.t.mailMetrics);
  expect(rows.filter(({ value }) => /ada|lovelace|u3\b/.test(value))).toEqual([]);
  expect(rows.filter(({ workspaceId: own }) => own !== workspaceId)).toEqual([]);
  const perDay = Map.groupBy(rows, ({ dimension, day }) => `${dimension} ${day}`);
  for (const own of perDay.values()) expect(own.length).toBeLessThanOrEqual(VALUES_A_DAY + 1);
});

test("a request does not wait for long while its answer is still being counted: it says so, and when to ask again", async () => {
  await using world = await createWorld();
  const { eventStream, clock } = world.app.deps;
  const { after } = clock.real;
  const timers: number[] = [];
  using _behind = vi.spyOn(eventStream, "settle").mockReturnValue(new Promise(() => {}));
  using _time = vi.spyOn(clock.real, "after").mockImplementation((ms, fire) => {
    timers.push(ms);
    return after(0, fire);
  });
  const sdk = world.sdk.withOptions({ maxRetries: 0 });
  await expect(sdk.metrics.get()).rejects.toMatchObject({
    status: 503,
    code: "storage_unavailable",
    message: "The server is still working through earlier events of this workspace.",
  });
  expect(timers).toContain(20_000);
});

test("counting anew leaves out what is not counted yet, as while mail is being sent", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { db } = world.app.deps;
  const { mailMetrics, eventReaders } = db.read.t;
  const ofMetrics = eq(eventReaders.reader, "metrics");
  const send = async (): Promise<void> => {
    await sdk.emails.send({ ...hello, to: "ada@example.org" });
    await world.settle();
  };
  await send();
  const rows = await db.read.select().from(mailMetrics);
  const [{ position } = { position: 0 }] = await db.read.select().from(eventReaders).where(ofMetrics);
  await send();
  // The numbers as they were after the first mail, while the log has both.
  await db.tx(async (tx) => {
    for (const { dimension, value, counts } of rows)
      await tx
        .update(mailMetrics)
        .set({ counts })
        .where(and(eq(mailMetrics.dimension, dimension), eq(mailMetrics.value, value)));
    await tx.update(eventReaders).set({ position }).where(ofMetrics);
  });
  expect(await sdk.metrics.verify()).toMatchObject({ correct: true, differences: [], events: 3 });
});

test("times of hand-over stay when mail is deleted before its events: no difference, also after they were rebuilt", async () => {
  await using world = await createWorld({ flags: { keep: "emails=3" } });
  const { sdk } = world;
  await sdk.emails.send({ ...hello, to: "ada@example.org" });
  await world.settle();
  const ask = () => sdk.metrics.get({ from: "2026-01-01", to: "2026-01-01", interval: "all" });
  const { total } = await ask();
  expect(total).toMatchObject({ sent: 1, handOver: expect.objectContaining({ within10s: 1 }) });
  for (let day = 0; day < 6; day += 1) await world.clock.advance("1d");
  expect((await sdk.emails.list()).data).toEqual([]);
  const verify = () => sdk.metrics.verify({ from: "2026-01-01", to: "2026-01-07" });
  expect(await verify()).toMatchObject({ correct: true, daysWithoutMail: 1 });
  const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
  await operator.readers.rebuild("metrics", {});
  await world.settle();
  expect((await ask()).total).toEqual(total);
  expect(await verify()).toMatchObject({ correct: true, daysWithoutMail: 1 });
});

test("a difference is named", async () => {
  await using world: TestWorld = await createWorld();
  await world.sdk.emails.send({ ...hello, to: "ada@example.org" });
  await world.settle();
  const { db } = world.app.deps;
  await db.tx((tx) =>
    tx
      .update(tx.t.mailMetrics)
      .set({ counts: EMPTY_DAY })
      .then(() => undefined),
  );
  const { correct, differences } = await world.sdk.metrics.verify();
  expect(correct).toBe(false);
  expect(differences.some(({ what, counted, actual }) => what.includes("domain example.org") && counted === 0 && actual === 1)).toBe(true);
});

test("a domain counts for the receiver that its MX records name, also what was counted before; the answer is kept", async () => {
  const asked: string[] = [];
  const mx = async (name: string) => {
    asked.push(name);
    if (name === "broken.example") throw new Error("SERVFAIL");
    return name === "shop.example" ? [{ priority: 5, exchange: "ASPMX.L.GOOGLE.COM." }] : [{ priority: 1, exchange: "mx.own.example" }];
  };
  await using world = await createWorld({ dns: { mx } });
  const { sdk, clock, app } = world;
  const send = () => sdk.emails.send({ ...hello, to: ["ada@shop.example", "bea@own.example", "cyd@gmail.com", "dan@broken.example"] });
  await send();
  await world.settle();
  const learn = async (): Promise<void> => {
    const { commit } = await learnReceivers(app.deps)({ payload: {} } as Parameters<ReturnType<typeof learnReceivers>>[0]);
    await app.deps.db.tx(async (tx) => void (await commit?.(tx)));
  };
  await learn();
  expect(asked.toSorted()).toEqual(["broken.example", "own.example", "shop.example"]);
  const byDomain = async () => listValues((await sdk.metrics.get({ interval: "all", by: "domain" })).data);
  expect(await byDomain()).toEqual({ gmail: 2, "own.example": 1, "broken.example": 1 });
  expect((await sdk.metrics.get({ domain: "gmail" })).total.accepted).toBe(2);
  expect((await sdk.metrics.get({ domain: "shop.example" })).total.accepted).toBe(2);
  await learn();
  expect(asked).toHaveLength(3);
  await clock.advance("26h");
  await send();
  await world.settle();
  await learn();
  expect(asked.slice(3)).toEqual(["broken.example"]);
  expect(await byDomain()).toEqual({ gmail: 4, "own.example": 2, "broken.example": 2 });
  await expectCorrect(sdk);
});
