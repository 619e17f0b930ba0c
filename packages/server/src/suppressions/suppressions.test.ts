import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };

test("a suppressed address gets no email, in any case", async () => {
  await using world = await createWorld();
  expect(await world.sdk.suppressions.create({ email: "Ada@Example.COM" })).toMatchObject({
    email: "ada@example.com",
    reason: "manual",
    scope: "all",
    emailId: null,
  });
  const refused = await ask(world, { path: "/api/v1/send", body: { ...hello, to: "ADA@example.com" } });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: "recipient_suppressed", details: [{ path: "to", code: "recipient_suppressed" }] } },
  ]);
  expect(await world.inbox.all()).toEqual([]);
});

test("scope marketing lets a send with bypassUnsubscribe through, and is widened when asked", async () => {
  await using world = await createWorld();
  const first = await world.sdk.suppressions.create({ email: "ada@example.com", scope: "marketing" });
  await world.sdk.emails.send({ ...hello, to: "ada@example.com", bypassUnsubscribe: true });
  expect(await world.inbox.all()).toHaveLength(1);
  const wider = await world.sdk.suppressions.create({ email: "ada@example.com" });
  expect(wider).toMatchObject({ id: first.id, scope: "all", createdAt: first.createdAt });
  expect(await world.sdk.suppressions.create({ email: "ada@example.com", scope: "marketing" })).toEqual(wider);
  expect((await world.sdk.suppressions.list()).pagination.total).toBe(1);
});

test.each([
  ["its id", (s: { id: string }) => s.id],
  ["the address", () => "ada@example.com"],
  ["the address in another case", () => "ADA@EXAMPLE.COM"],
])("a suppression is removed by %s, after which email is sent again", async (_how, which) => {
  await using world = await createWorld();
  const made = await world.sdk.suppressions.create({ email: "ada@example.com" });
  expect(await world.sdk.suppressions.delete(which(made))).toEqual(made);
  await world.sdk.emails.send({ ...hello, to: "ada@example.com" });
  expect(await world.inbox.all()).toHaveLength(1);
  await expect(world.sdk.suppressions.delete(which(made))).rejects.toMatchObject({ code: "not_found" });
});

test("a suppression with an international domain is found by both spellings", async () => {
  await using world = await createWorld();
  await world.sdk.suppressions.create({ email: "ada@bücher.example" });
  const refused = await ask(world, { path: "/api/v1/send", body: { ...hello, to: "ada@xn--bcher-kva.example" } });
  expect(refused.status).toBe(400);
  expect((await world.sdk.suppressions.list({ email: "ada@bücher.example" })).pagination.total).toBe(1);
  await expect(world.sdk.suppressions.delete("ada@bücher.example")).resolves.toMatchObject({ email: "ada@xn--bcher-kva.example" });
});

test("of a batch, suppressed recipients are in failed and the others get the email", async () => {
  await using world = await createWorld();
  await world.sdk.suppressions.create({ email: "b@example.com" });
  const sent = await world.sdk.emails.send({ ...hello, to: ["a@example.com", "B@example.com", "c@example.com"] });
  expect(sent).toMatchObject({ status: "queued", count: 2, failed: [{ to: "B@example.com", code: "recipient_suppressed" }] });
  expect((await world.inbox.all()).map((m) => m.to).sort()).toEqual(["a@example.com", "c@example.com"]);
});

test("a batch of suppressed addresses only is an error that names each of them", async () => {
  await using world = await createWorld();
  for (const email of ["a@example.com", "b@example.com"]) await world.sdk.suppressions.create({ email });
  const refused = await ask(world, { path: "/api/v1/send", body: { ...hello, to: ["a@example.com", "b@example.com"] } });
  expect(await refused.json()).toMatchObject({ error: { code: "recipient_suppressed", details: [{ path: "to[0]" }, { path: "to[1]" }] } });
});

test("bounces and complaints suppress, with the email that caused it; lists filter by reason", async () => {
  await using world = await createWorld();
  const sent = (await world.sdk.emails.send({
    ...hello,
    to: ["bounced+1@simulator.mailsvc.test", "complained@simulator.mailsvc.test"],
  })) as { ids: string[] };
  await world.clock.advance("1m");
  const by = async (reason: "bounce" | "complaint") => (await world.sdk.suppressions.list({ reason })).data;
  expect(await by("bounce")).toMatchObject([{ email: "bounced+1@simulator.mailsvc.test", scope: "all", emailId: sent.ids[0] }]);
  expect(await by("complaint")).toMatchObject([{ email: "complained@simulator.mailsvc.test", scope: "all", emailId: sent.ids[1] }]);
});

test("concurrent suppressions of one address create one entry", async () => {
  await using world = await createWorld();
  const made = await Promise.all(Array.from({ length: 20 }, () => world.sdk.suppressions.create({ email: "ada@example.com" })));
  expect(new Set(made.map((s) => s.id)).size).toBe(1);
});

test("pages are stable while suppressions are added", async () => {
  await using world = await createWorld();
  for (let i = 0; i < 25; i += 1) await world.sdk.suppressions.create({ email: `r${i}@example.com` });
  const first = await world.sdk.suppressions.list({ limit: 10 });
  expect(first.pagination).toMatchObject({ page: 1, limit: 10, total: 25, totalPages: 3, hasMore: true });
  await world.sdk.suppressions.create({ email: "new@example.com" });
  const second = await world.sdk.suppressions.list({ limit: 10, cursor: first.pagination.nextCursor as string });
  expect(second.data[0]?.email).toBe("r14@example.com");
  const last = await world.sdk.suppressions.list({ limit: 10, page: 3 });
  expect(last.pagination).toMatchObject({ hasMore: false, nextCursor: null, total: 26 });
  expect(last.data).toHaveLength(6);
  expect((await world.sdk.suppressions.list({ page: 99 })).data).toEqual([]);
});
