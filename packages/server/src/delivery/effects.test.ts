import { afterEach, beforeEach, expect, test } from "vitest";
import { accepted, busy, noSuchUser, scriptedMailer } from "../../test/scripted-mailer.ts";
import { findEmailRows, SINGLE } from "../emails/emails.ts";
import type { Receipt } from "../mail/mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { type Effect, type Mark, storeEffects } from "./effects.ts";
import { holdDomain, listHolds, releaseDomain } from "./holds.ts";
import { loadMails, toPendingMail } from "./load.ts";
import { outcomeOfReceipt } from "./outcome.ts";
import { type PendingMail, transformMails } from "./transform.ts";

const random = { fraction: () => 0.5 };
let world: TestWorld;
beforeEach(async () => {
  world = await createWorld({ mailer: scriptedMailer() });
  await world.app.deps.queue.stop();
});
afterEach(() => world.dispose());

const send = async (to: string): Promise<string> =>
  ((await world.sdk.emails.send({ from: "hello@acme.test", to, subject: "Hello", text: "It works." })) as { id: string }).id;

const load = async (...ids: string[]): Promise<PendingMail[]> => {
  const emails = await findEmailRows(world.app.deps.db.read, world.workspaceId, ids);
  const claimed = emails.map((email) => ({ email }));
  return (await loadMails(world.app.deps, claimed)).flatMap((one) => (one.next === "handOver" ? one.mail : []));
};
const store = (...effects: Effect[]): Promise<void> => {
  const { deps } = world.app;
  return deps.db.tx((tx) => storeEffects(tx, deps, effects));
};
const markOf = (mail: PendingMail): Mark => ({ kind: "mark", mail, marked: null });
const captured: Receipt = { outcome: "delivered", response: "captured" };
const outcomeOf = ({ email, attempt }: PendingMail, receipt: Receipt = captured) =>
  outcomeOfReceipt(receipt, { email, attempt, relay: null, at: 0, random });
const statuses = (ids: string[]) => Promise.all(ids.map(async (id) => (await world.sdk.emails.get(id)).status));

test("marks, outcomes and holds are stored together, each email as it was read", async () => {
  const { deps } = world.app;
  const ids = [await send("a@one.example"), await send("b@one.example"), await send("c@two.example"), await send("d@two.example")];
  const [a, b, c, d] = (await load(...ids)) as [PendingMail, PendingMail, PendingMail, PendingMail];
  await deps.db.tx((tx) => holdDomain(tx, deps, "two.example", null));
  const mark = markOf(a);
  const held = { kind: "held" as const, email: c.email, domain: "two.example" };
  await store(mark, outcomeOf(b), held, outcomeOf(d, busy));
  expect(await statuses(ids)).toEqual(["sending", "delivered", "queued", "deferred"]);
  expect(mark.marked).toMatchObject({ id: ids[0], status: "sending", attempts: 1 });
  expect(await listHolds(deps.db.read)).toMatchObject([{ domain: "two.example", emails: 1 }]);
});

test("an email that was cancelled meanwhile is not marked, and its outcome is dropped", async () => {
  const ids = [await send("a@one.example"), await send("b@one.example")];
  const [a, b] = (await load(...ids)) as [PendingMail, PendingMail];
  for (const id of ids) await world.sdk.emails.cancel(id);
  const mark = markOf(a);
  await store(mark, outcomeOf(b, noSuchUser));
  expect(mark.marked).toBeNull();
  expect(await statuses(ids)).toEqual(["cancelled", "cancelled"]);
  expect((await world.sdk.suppressions.list()).data).toEqual([]);
});

test("a mark that is stored once more, because the answer to its commit was lost, says that the email is sending", async () => {
  const [a] = (await load(await send("a@one.example"))) as [PendingMail];
  const mark = markOf(a);
  await store(mark);
  await store(mark);
  expect(mark).toMatchObject({ marked: null, isSending: true });
  await store(outcomeOf({ ...a, email: { ...a.email, status: "sending", attempts: 1 } }));
  await store(mark);
  expect(mark).toMatchObject({ marked: null, isSending: false });
});

test("a claimed email that is postponed or left changes only if it is as it was", async () => {
  const { deps } = world.app;
  const ids = [await send("a@one.example"), await send("b@one.example"), await send("c@one.example"), await send("d@one.example")];
  const [a, b, c, d] = (await load(...ids)) as [PendingMail, PendingMail, PendingMail, PendingMail];
  const runAt = deps.clock.now() + 60_000;
  for (const { email } of [b, d]) await world.sdk.emails.cancel(email.id);
  await store(
    ...[a, b].map(({ email }) => ({ kind: "postponed" as const, email, runAt })),
    ...[c, d].map(({ email }) => ({ kind: "left" as const, email })),
  );
  expect((await findEmailRows(deps.db.read, world.workspaceId, ids)).map((row) => [row.status, row.lane, row.nextAttemptAt])).toEqual([
    ["queued", SINGLE, runAt],
    ["cancelled", null, null],
    ["queued", null, c.email.nextAttemptAt],
    ["cancelled", null, null],
  ]);
});

test("an email to an address that was suppressed meanwhile is not marked: it is suppressed", async () => {
  const id = await send("a@one.example");
  const [a] = (await load(id)) as [PendingMail];
  await world.sdk.suppressions.create({ email: "a@one.example" });
  const mark = markOf(a);
  await store(mark);
  expect(mark.marked).toBeNull();
  expect(await statuses([id])).toEqual(["suppressed"]);
});

test("an email is announced once, with the first of its other events, whatever interrupts its attempts", async () => {
  const { deps } = world.app;
  const [sent, crashed, held] = [await send("a@one.example"), await send("b@one.example"), await send("c@two.example")];
  const mails = await load(sent, crashed, held);
  await store(...mails.map(markOf));
  const typesOf = async (id: string): Promise<string[]> => (await world.sdk.emails.get(id)).events.map(({ type }) => type);
  for (const id of [sent, crashed, held]) expect(await typesOf(id)).toEqual([]);
  // They were with the mail server when the process died: one is marked once more, one is kept back by a hold of its domain.
  const [again, found] = (await load(crashed, held)) as [PendingMail, PendingMail];
  await deps.db.tx((tx) => holdDomain(tx, deps, "two.example", null));
  await store(markOf(again), { kind: "held", email: found.email, domain: "two.example" });
  await deps.db.tx((tx) => releaseDomain(tx, deps, "two.example"));
  const [released] = (await load(held)) as [PendingMail];
  await store(markOf(released));
  for (const mail of await load(sent, crashed, held)) await store(outcomeOf(mail, accepted));
  for (const id of [sent, crashed, held]) expect(await typesOf(id)).toEqual(["email.queued", "email.sent"]);
  expect((await world.sdk.emails.list({ inDoubt: true })).pagination.total).toBe(3);
});

test("of two outcomes for one email in a group, as a crash may leave them, the first counts", async () => {
  const id = await send("a@one.example");
  const [a] = (await load(id)) as [PendingMail];
  await store(outcomeOf(a), outcomeOf(a, noSuchUser));
  const email = await world.sdk.emails.get(id);
  expect(email).toMatchObject({ status: "delivered", attempts: 1 });
  expect(email.events.map(({ type }) => type)).toEqual(["email.queued", "email.sent", "email.delivered"]);
  expect((await world.sdk.suppressions.list()).data).toEqual([]);
});

test("a link that names a person who was erased while their mail was made is erased, too", async () => {
  const { deps } = world.app;
  const to = "ada@one.example";
  const html = `<a href="https://acme.test/?who=${to}">Look</a>`;
  const mail = { from: "hello@acme.test", to, subject: "Hello", html, tracking: { clicks: true } };
  const ids = [((await world.sdk.emails.send(mail)) as { id: string }).id, ((await world.sdk.emails.send(mail)) as { id: string }).id];
  const loaded = await load(...ids);
  await world.sdk.people.erase(to);
  // Both were read before, and are made now.
  const made = await transformMails(
    deps,
    loaded.map(({ email, contents }) => toPendingMail(email, contents)),
  );
  const [a, b] = made.flatMap((one) => ("mail" in one ? one.mail : [])) as [PendingMail, PendingMail];
  const listNaming = async (): Promise<unknown[]> =>
    (await deps.db.read.select().from(deps.db.read.t.trackedLinks)).filter(({ url }) => url.includes(to));
  expect(await listNaming()).toHaveLength(1);
  await store(markOf(a));
  expect(await listNaming()).toEqual([]);
  await transformMails(deps, [toPendingMail(b.email, b.contents)]);
  await store(outcomeOf(b));
  expect(await listNaming()).toEqual([]);
});
