import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { makeUnsubscribeUrl } from "../unsubscribe/unsubscribe.ts";
import { suppress } from "./suppressions.ts";

const email = "ada@example.com";
const START = "2026-01-01T00:00:00.000Z";

/** Unsubscribes by the one click of a mail program, with the link of an email; that email's id. */
async function clickOnce(world: TestWorld): Promise<string> {
  const { id: emailId } = (await world.sdk.emails.list({ to: email, limit: 1 })).data[0] ?? { id: "" };
  const response = await world.fetch(makeUnsubscribeUrl(world.app.deps, { workspaceId: world.workspaceId, email, emailId }), {
    method: "POST",
    body: "List-Unsubscribe=One-Click",
  });
  expect(await response.text()).toContain("unsubscribed");
  return emailId;
}

/** Suppresses the address as a permanent bounce does. */
async function bounce({ app, workspaceId }: TestWorld): Promise<void> {
  const { deps } = app;
  await deps.db.tx((tx) => suppress(tx, deps, workspaceId, { email, reason: "bounce", scope: "all", source: "bounce" }));
}

const steps: Readonly<Record<string, (world: TestWorld) => Promise<unknown>>> = { unsubscribes: clickOnce, bounces: bounce };

async function start(): Promise<TestWorld> {
  const world = await createWorld();
  await world.sdk.contacts.create({ email });
  await world.sdk.emails.send({ from: "a@acme.test", to: email, subject: "x", text: "x" });
  await world.settle();
  return world;
}

async function listEvents({ app }: TestWorld, wanted: string) {
  const { read } = app.deps.db;
  const events = await read.select().from(read.t.events);
  return events.filter(({ type }) => type === wanted).sort((a, b) => a.sequence - b.sequence);
}

const MARKETING_ONLY = { reason: "unsubscribe", scope: "marketing", source: "unsubscribe", unsubscribedAt: START };

test.each([
  ["unsubscribes", "bounces"],
  ["bounces", "unsubscribes"],
] as const)("of an address that %s and then %s, removing the bounce leaves the unsubscription", async (...order) => {
  await using world = await start();
  const { sdk } = world;
  for (const step of order) await steps[step]?.(world);
  // Once more changes nothing.
  const emailId = await clickOnce(world);
  const both = await sdk.suppressions.get(email);
  expect(both).toMatchObject({ reason: "bounce", scope: "all", source: "bounce", unsubscribedAt: START });
  expect(await listEvents(world, "email.unsubscribed")).toMatchObject([{ emailId, data: { method: "one-click", scope: "all" } }]);
  expect((await sdk.explanations.get(email)).summary).toContain("The recipient has unsubscribed besides.");

  expect(await sdk.suppressions.delete(email)).toEqual(both);
  expect(await sdk.suppressions.get(email)).toMatchObject({ ...MARKETING_ONLY, id: both.id });
  expect((await listEvents(world, "suppression.removed")).map(({ data }) => data)).toMatchObject([{ reason: "bounce", scope: "all" }]);
  expect((await listEvents(world, "suppression.added")).map(({ data }) => data?.["reason"])).toEqual(
    order.map((step) => (step === "bounces" ? "bounce" : "unsubscribe")),
  );
  const mail = { from: "a@acme.test", to: email, subject: "x", text: "x" };
  await expect(sdk.emails.send(mail)).rejects.toMatchObject({ code: "recipient_suppressed" });
  await sdk.emails.send({ ...mail, bypassUnsubscribe: true });

  await sdk.suppressions.delete(email);
  await expect(sdk.suppressions.get(email)).rejects.toMatchObject({ code: "not_found" });
});

test("removing many at once, and erasing the person before, leave the unsubscription too", async () => {
  await using world = await start();
  const { sdk } = world;
  await clickOnce(world);
  await bounce(world);
  await sdk.people.erase(email);
  expect(await sdk.suppressions.remove({ entries: [email, email] })).toMatchObject({ removed: 1, unsubscribed: 1, failed: [] });
  expect(await sdk.suppressions.get(email)).toMatchObject(MARKETING_ONLY);
});

test("an import that names an address for two reasons keeps both", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const entries = (["manual", "unsubscribe"] as const).map((reason) => ({ email, reason }));
  expect(await sdk.suppressions.import({ entries })).toMatchObject({ created: 1, widened: 0, unchanged: 1 });
  expect(await sdk.suppressions.get(email)).toMatchObject({ reason: "manual", scope: "all", unsubscribedAt: START });
  await sdk.suppressions.delete(email);
  expect(await sdk.suppressions.get(email)).toMatchObject({ ...MARKETING_ONLY, source: "import" });
});

test("the page of an address that bounced lets its person unsubscribe", async () => {
  await using world = await start();
  await bounce(world);
  const url = makeUnsubscribeUrl(world.app.deps, { workspaceId: world.workspaceId, email });
  const open = async (): Promise<string> => (await world.fetch(url, { headers: { accept: "text/html" } })).text();
  expect(await open()).toContain('name="action" value="all"');
  await world.fetch(url, { method: "POST", body: new URLSearchParams({ action: "all" }) });
  expect(await open()).toContain("<h1>You&#x27;re unsubscribed</h1>");
});
