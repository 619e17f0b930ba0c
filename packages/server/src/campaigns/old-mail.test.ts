import { Mailsvc } from "@mailsvc/sdk";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { DAY } from "../lib/units.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "hello@acme.example", to: "ada@mail.example", subject: "Hello", text: "Hello" };

/** Lets days pass: the first and the last three as they come, so that a sweep runs on each, and those between at once. */
async function pass({ clock }: TestWorld, days: number): Promise<void> {
  await clock.advance("1d");
  clock.control.freeze(clock.now() + Math.max(0, days - 4) * DAY);
  await clock.advance("3d");
}

/** Counts the rows that belong to mail. */
async function countRows({ app: { deps } }: TestWorld) {
  const { read } = deps.db;
  const { emails, contents, attachments, emailLabels, engagements } = read.t;
  const count = (table: Parameters<typeof read.$count>[0]): Promise<number> => Promise.resolve(read.$count(table));
  return {
    emails: await count(emails),
    contents: await count(contents),
    attachments: await count(attachments),
    labels: await count(emailLabels),
    engagements: await count(engagements),
  };
}

test("old mail is deleted with its contents, files and labels; newer mail is not", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  const file = { filename: "a.txt", content: Buffer.from("A").toString("base64") };
  const old = await sdk.emails.send({ ...hello, attachments: [file], tags: { kind: "welcome" } });
  await sdk.emails.send({ ...hello, to: ["ada@mail.example", "bea@mail.example"] });
  await world.settle();
  expect(await countRows(world)).toMatchObject({ emails: 3, contents: 2, attachments: 1, labels: 1 });
  await pass(world, 60);
  const newer = await sdk.emails.send({ ...hello, attachments: [file], tags: { kind: "welcome" } });
  await pass(world, 15);
  expect((await sdk.emails.list()).data.map(({ id }) => id)).toEqual([newer.id]);
  expect(await countRows(world)).toEqual({ emails: 1, contents: 1, attachments: 1, labels: 1, engagements: 0 });
  await expect(sdk.emails.get(old.id)).rejects.toMatchObject({ code: "not_found" });
  // Events have a time of their own.
  expect((await sdk.events.list({ email: old.id })).data.map(({ type }) => type)).toContain("email.delivered");
});

test("the captured copy of old mail goes as well, that of a live key and that of a test key", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  const { key } = await sdk.keys.create({ name: "staging", permissions: ["transactional:send"], test: true });
  await sdk.emails.send({ ...hello, attachments: [{ filename: "a.txt", content: Buffer.from("A".repeat(200_000)).toString("base64") }] });
  await new Mailsvc({ apiKey: key, baseUrl: world.url, fetch: world.fetch }).emails.send(hello);
  await world.settle();
  const { read } = world.app.deps.db;
  const countCopies = async () => [await read.$count(read.t.inbox), await read.$count(read.t.inboxBytes)];
  expect(await countCopies()).toEqual([2, 2]);
  await pass(world, 60);
  await sdk.emails.send(hello);
  await pass(world, 15);
  expect(await countCopies()).toEqual([1, 0]);
});

test("mail that is still to be sent stays, and leaves at its time", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  await sdk.emails.send(hello);
  const file = { filename: "a.txt", content: Buffer.from("A").toString("base64") };
  const next = await sdk.emails.send({
    ...hello,
    subject: "Next summer",
    attachments: [file],
    tags: { kind: "birthday" },
    scheduledAt: "2026-06-24T12:00:00.000Z",
  });
  for (let month = 0; month < 4; month += 1) {
    await pass(world, 30);
    await sdk.emails.send({ ...hello, subject: `Month ${month}` });
  }
  await world.settle();
  expect(await sdk.emails.get(next.id)).toMatchObject({ status: "queued", tags: { kind: "birthday" } });
  expect((await sdk.emails.list({ status: "scheduled" })).data.map(({ id }) => id)).toEqual([next.id]);
  expect((await sdk.emails.list({ tag: "kind=birthday" })).data.map(({ id }) => id)).toEqual([next.id]);
  expect((await countRows(world)).emails).toBeLessThanOrEqual(4);
  await pass(world, 60);
  const sent = (await sdk.inbox.list({ to: "ada@mail.example" })).data.map(({ subject }) => subject);
  expect(sent.filter((subject) => subject === "Next summer")).toHaveLength(1);
  expect((await sdk.events.list({ email: next.id })).data.map(({ type }) => type)).toContain("email.delivered");
  // Once it is sent it is as old as it is.
  await pass(world, 62);
  expect(await countRows(world)).toEqual({ emails: 0, contents: 0, attachments: 0, labels: 0, engagements: 0 });
});

test("mail that waited for its time is kept from then on", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  await sdk.contacts.create({ email: "bea@mail.example" });
  const { id } = await sdk.emails.send({ ...hello, scheduledAt: new Date(world.clock.now() + 60 * DAY).toISOString() });
  await sdk.campaigns
    .create({
      ...{ name: "Spring", subjectLine: "Spring", fromEmail: hello.from, text: "Hello" },
      localTime: { at: new Date(world.clock.now() + 60 * DAY).toISOString().slice(0, 16), fallback: "UTC" },
    })
    .then((campaign) => sdk.campaigns.send(campaign.id));
  await pass(world, 80);
  expect(await sdk.emails.get(id)).toMatchObject({ status: "delivered" });
  expect((await countRows(world)).emails).toBe(2);
  await pass(world, 40);
  expect((await countRows(world)).emails).toBe(0);
});

test("mail in doubt stays", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  const { id } = await sdk.emails.send(hello);
  await sdk.emails.send(hello);
  await world.settle();
  await world.app.deps.db.tx(async (tx) => {
    const { emails } = tx.t;
    await tx.update(emails).set({ inDoubt: true }).where(eq(emails.id, id));
  });
  await pass(world, 100);
  expect((await sdk.emails.list()).data.map((email) => email.id)).toEqual([id]);
  expect((await sdk.emails.get(id)).text).toBe("Hello");
});

test("the statistics of a campaign stay when its mail is deleted, and what it said; it is not counted anew", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  for (const name of ["ada", "bea"]) await sdk.contacts.create({ email: `${name}@mail.example` });
  const campaign = await world.campaign({
    name: "Launch",
    subjectLine: "We are live",
    fromEmail: "news@acme.example",
    html: "<p>Hello</p>",
  });
  await world.settle();
  expect(await sdk.campaigns.verify(campaign.id)).toMatchObject({ correct: true, recipients: 2 });
  const before = await sdk.campaigns.stats(campaign.id);
  await pass(world, 100);
  expect((await countRows(world)).emails).toBe(0);
  expect(await sdk.campaigns.stats(campaign.id)).toEqual({ ...before, computedAt: expect.any(String) });
  // A campaign keeps what it said.
  expect((await countRows(world)).contents).toBe(1);
  await expect(sdk.campaigns.verify(campaign.id)).rejects.toMatchObject({ code: "invalid_state" });
});

test("mail of test keys is deleted as well", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { key } = await world.sdk.keys.create({ name: "CI", permissions: ["transactional:send", "transactional:read"], test: true });
  const staging = world.sdk.withOptions({ apiKey: key });
  await staging.emails.send(hello);
  await world.settle();
  expect((await staging.emails.list()).data).toHaveLength(1);
  await pass(world, 75);
  expect((await staging.emails.list()).data).toEqual([]);
  expect(await countRows(world)).toMatchObject({ emails: 0, contents: 0 });
});

test("recipients of a send whose mail goes at different times share its contents and files to the last", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const file = { filename: "a.txt", content: Buffer.from("A").toString("base64") };
  await world.sdk.emails.send({ ...hello, to: ["ada@mail.example", "bea@mail.example"], attachments: [file] });
  await world.settle();
  const { db } = world.app.deps;
  const [first, second] = await db.read.select().from(db.read.t.emails).orderBy(db.read.t.emails.id);
  await db.tx(
    async (tx) =>
      void (await tx
        .update(tx.t.emails)
        .set({ inDoubt: true })
        .where(eq(tx.t.emails.id, second?.id ?? ""))),
  );
  await pass(world, 75);
  expect(await countRows(world)).toMatchObject({ emails: 1, contents: 1, attachments: 1 });
  await expect(world.sdk.emails.get(first?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  await db.tx(
    async (tx) =>
      void (await tx
        .update(tx.t.emails)
        .set({ inDoubt: false })
        .where(eq(tx.t.emails.id, second?.id ?? ""))),
  );
  await pass(world, 2);
  expect(await countRows(world)).toMatchObject({ emails: 0, contents: 0, attachments: 0 });
});

test("without --keep emails nothing of mail is deleted", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send(hello);
  await pass(world, 100);
  expect((await world.sdk.emails.list()).data).toHaveLength(1);
});
