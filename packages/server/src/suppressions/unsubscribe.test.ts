import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { listContactEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { suppress } from "./suppressions.ts";

const email = "ada@example.com";
const hello = { from: "a@acme.test", subject: "Hello", text: "x" };
const send = (world: TestWorld, body: Record<string, unknown> = {}) =>
  ask(world, { path: "/api/v1/send", body: { ...hello, to: email, ...body } });

describe.each<[string, string, (world: TestWorld) => Promise<unknown>]>([
  [
    "a PATCH",
    "api",
    async ({ sdk }) => {
      const { id } = await sdk.contacts.create({ email });
      await sdk.contacts.update(id, { status: "UNSUBSCRIBED" });
    },
  ],
  [
    "an upsert of a contact",
    "api",
    async ({ sdk }) => {
      await sdk.contacts.create({ email });
      await sdk.contacts.upsert({ email: "ADA@example.com", status: "UNSUBSCRIBED" });
    },
  ],
  ["an upsert of a new contact", "api", ({ sdk }) => sdk.contacts.upsert({ email, status: "UNSUBSCRIBED" })],
  [
    "an import",
    "import",
    async ({ sdk }) => {
      await sdk.contacts.create({ email });
      await sdk.contacts.import({ rows: [{ email, status: "UNSUBSCRIBED" }, { email: "grace@example.com" }] });
    },
  ],
  [
    "a suppression with reason unsubscribe",
    "api",
    async ({ sdk }) => {
      await sdk.contacts.create({ email });
      await sdk.suppressions.create({ email, reason: "unsubscribe" });
    },
  ],
  [
    "the unsubscribe link",
    "unsubscribe",
    async ({ sdk, app }) => {
      await sdk.contacts.create({ email });
      const { deps } = app;
      const { read } = deps.db;
      const [contact] = await read.select().from(read.t.contacts);
      await deps.db.tx((tx) => suppress(tx, deps, contact?.workspaceId as string, { email, reason: "unsubscribe", source: "unsubscribe" }));
    },
  ],
])("unsubscribing by %s", (_name, source, unsubscribe) => {
  test("suppresses the address for marketing, also after the contact is deleted", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await unsubscribe(world);
    expect((await sdk.suppressions.list()).data).toMatchObject([
      { email, reason: "unsubscribe", scope: "marketing", source, emailId: null },
    ]);
    const contact = (await sdk.contacts.list({ search: email })).data[0];
    expect(contact?.status).toBe("UNSUBSCRIBED");
    await sdk.contacts.delete(contact?.id as string);
    await expect(sdk.contacts.create({ email })).rejects.toMatchObject({ code: "email_suppressed" });
    expect(await sdk.contacts.upsert({ email })).toMatchObject({ status: "UNSUBSCRIBED" });
    expect((await sdk.contacts.import({ rows: [{ email }] })).unchanged).toBe(1);
  });

  test("blocks a send, unless it says bypassUnsubscribe", async () => {
    await using world = await createWorld();
    await unsubscribe(world);
    const refused = await send(world);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "recipient_suppressed" } }]);
    expect((await send(world, { bypassUnsubscribe: true })).status).toBe(200);
    expect((await world.inbox.all()).map((mail) => mail.to)).toEqual([email]);
  });

  test("is undone by setting the contact to SUBSCRIBED", async () => {
    await using world = await createWorld();
    await unsubscribe(world);
    const contact = (await world.sdk.contacts.list({ search: email })).data[0];
    expect(await world.sdk.contacts.update(contact?.id as string, { status: "SUBSCRIBED" })).toMatchObject({ status: "SUBSCRIBED" });
    expect((await world.sdk.suppressions.list()).data).toEqual([]);
    expect((await send(world)).status).toBe(200);
    const events = await listContactEvents(world.app.deps.db.read, contact?.id as string);
    expect(events.at(-1)).toMatchObject({ type: "contact.subscribed" });
  });
});

test("a dry run, and a row that is skipped, unsubscribe no one", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email });
  const rows = [{ email, status: "UNSUBSCRIBED" as const }];
  await world.sdk.contacts.import({ rows, dryRun: true });
  await world.sdk.contacts.import({ rows, mode: "skip" });
  expect((await world.sdk.suppressions.list()).pagination.total).toBe(0);
  expect((await send(world)).status).toBe(200);
});

test("a bounce is not lifted by SUBSCRIBED, nor bypassed", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email });
  await world.sdk.contacts.update(id, { status: "UNSUBSCRIBED" });
  await world.sdk.suppressions.create({ email, reason: "bounce" });
  expect((await world.sdk.suppressions.list()).data).toMatchObject([{ scope: "all", reason: "bounce" }]);
  await expect(world.sdk.contacts.update(id, { status: "SUBSCRIBED" })).rejects.toMatchObject({ code: "invalid_state" });
  expect((await send(world, { bypassUnsubscribe: true })).status).toBe(400);
});

test("a batch goes to those who did not unsubscribe, or to all with bypassUnsubscribe", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.upsert({ email, status: "UNSUBSCRIBED" });
  await world.sdk.suppressions.create({ email: "bounced@example.com", reason: "bounce" });
  const to = [email, "bounced@example.com", "grace@example.com"];
  expect(await world.sdk.emails.send({ ...hello, to })).toMatchObject({ count: 1, failed: [{ to: email }, { to: "bounced@example.com" }] });
  expect(await world.sdk.emails.send({ ...hello, to, bypassUnsubscribe: true })).toMatchObject({
    count: 2,
    failed: [{ to: "bounced@example.com" }],
  });
});

test("a scheduled email is checked again when it is due, by the scope it was accepted for", async () => {
  await using world = await createWorld();
  const scheduledAt = new Date(world.clock.now() + 3_600_000).toISOString();
  const plain = await world.sdk.emails.send({ ...hello, to: email, scheduledAt });
  const receipt = await world.sdk.emails.send({ ...hello, to: email, scheduledAt, bypassUnsubscribe: true });
  await world.sdk.contacts.upsert({ email, status: "UNSUBSCRIBED" });
  await world.clock.advance("2h");
  expect((await world.sdk.emails.get(plain.id)).status).toBe("suppressed");
  expect((await world.sdk.emails.get(receipt.id)).status).toBe("delivered");
});

test("a template send takes bypassUnsubscribe too", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.templates.create({ name: "Receipt", slug: "receipt", subject: "Receipt", html: "<p>Hi</p>" });
  await world.sdk.templates.publish(id);
  await world.sdk.contacts.upsert({ email, status: "UNSUBSCRIBED" });
  const template = { from: hello.from, to: email };
  await expect(world.sdk.templates.send("receipt", template)).rejects.toMatchObject({ code: "recipient_suppressed" });
  expect(await world.sdk.templates.send("receipt", { ...template, bypassUnsubscribe: true })).toMatchObject({ status: "queued" });
});

test("erasing a person who unsubscribed keeps the suppression, as a hash", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.create({ email });
  await sdk.contacts.update(id, { status: "UNSUBSCRIBED" });
  expect(await sdk.people.erase(email)).toMatchObject({ contacts: 1, staysSuppressed: true });
  expect((await sdk.suppressions.list()).data).toMatchObject([{ email: expect.stringMatching(/^hmac:/), scope: "marketing" }]);
  await expect(sdk.contacts.create({ email })).rejects.toMatchObject({ code: "email_suppressed" });
  expect((await send(world)).status).toBe(400);
  expect((await send(world, { bypassUnsubscribe: true })).status).toBe(200);
  const back = await sdk.contacts.upsert({ email });
  expect(back.status).toBe("UNSUBSCRIBED");
  await sdk.contacts.update(back.id, { status: "SUBSCRIBED" });
  expect((await sdk.suppressions.list()).data).toEqual([]);
  expect((await send(world)).status).toBe(200);
});

describe("no spelling of an address gets around its suppression", () => {
  test.each([
    '"gone"@x.org',
    '"g\\one"@x.org',
    "GONE@x.org",
    '"GONE"@X.org',
    "jos\u00e9@x.org",
    "jose\u0301@x.org",
    '"jose\\\u0301"@x.org',
  ])("%s", async (spelling) => {
    await using world = await createWorld();
    const { sdk } = world;
    for (const gone of ["gone@x.org", "josé@x.org"]) await sdk.suppressions.create({ email: gone, reason: "complaint" });
    expect((await send(world, { to: spelling })).status).toBe(400);
    expect((await send(world, { to: [spelling] })).status).toBe(400);
    await expect(sdk.contacts.create({ email: spelling })).rejects.toMatchObject({ code: "email_suppressed" });
    expect(await sdk.suppressions.create({ email: spelling })).toMatchObject({ reason: "complaint" });
    expect((await sdk.suppressions.list({ email: spelling })).pagination.total).toBe(1);
    expect(await sdk.contacts.import({ rows: [{ email: spelling }, { email: spelling.toLowerCase() }] })).toMatchObject({
      created: 1,
      unchanged: 1,
      suppressed: 1,
    });
    expect((await sdk.contacts.list()).data).toMatchObject([{ status: "COMPLAINED" }]);
    expect(await sdk.people.erase(spelling)).toMatchObject({ contacts: 1, staysSuppressed: true });
    expect((await send(world, { to: spelling })).status).toBe(400);
    expect(await sdk.suppressions.remove({ entries: [spelling] })).toMatchObject({ removed: 1 });
    expect((await send(world, { to: spelling })).status).toBe(200);
  });
});
