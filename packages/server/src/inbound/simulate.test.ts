import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

const mail = { from: "Acme <hello@acme.example>", subject: "Hello", text: "text" };

/** Sends a mail and answers it as it was captured. */
async function capture(world: TestWorld, fields: { readonly to: string; readonly tags?: Record<string, string> }) {
  const { id } = await world.sdk.emails.send({ ...mail, ...fields });
  const captured = await world.sdk.inbox.wait({ to: fields.to });
  return { id, mailId: captured.id };
}

test.each([
  ["bounced", "bounce"],
  ["complained", "complaint"],
] as const)("a captured mail that is reported as %s ends there, and its recipient is suppressed", async (outcome, reason) => {
  await using world = await createWorld();
  const { id, mailId } = await capture(world, { to: "ada@example.com" });
  expect(await world.sdk.inbox.report(mailId, { outcome })).toMatchObject({ id: mailId, emailId: id });
  const { status, events } = await world.sdk.emails.get(id);
  expect([status, events.at(-1)?.type]).toEqual([outcome, `email.${outcome}`]);
  expect((await world.sdk.suppressions.list()).data).toMatchObject([{ email: "ada@example.com", reason }]);
  await expect(world.sdk.inbox.report(mailId, { outcome })).rejects.toMatchObject({ code: "invalid_state" });
});

test("captured mail is found by a tag of its email", async () => {
  await using world = await createWorld();
  await capture(world, { to: "ada@example.com", tags: { kind: "receipt" } });
  await capture(world, { to: "bob@example.com", tags: { kind: "newsletter" } });
  const { data } = await world.sdk.inbox.list({ tag: "kind=receipt" });
  expect(data.map(({ to }) => to)).toEqual(["ada@example.com"]);
  expect((await world.sdk.inbox.list({ tag: "kind=none" })).data).toEqual([]);
});

test("the deliveries of a webhook are found by the email that they are about", async () => {
  await using world = await createWorld();
  const { id: webhook } = await world.sdk.webhooks.create({ url: "http://127.0.0.1:9/hook", events: ["email.*"] });
  const { id } = await capture(world, { to: "ada@example.com" });
  await capture(world, { to: "bob@example.com" });
  await world.clock.advance("1s");
  const { data, pagination } = await world.sdk.webhooks.deliveries(webhook, { email: id });
  const { events } = await world.sdk.emails.get(id);
  expect(data.map(({ eventId }) => eventId).sort()).toEqual(events.map((event) => event.id).sort());
  expect(pagination.total).toBe(events.length);
  const sent = await world.sdk.webhooks.deliveries(webhook, { email: id, type: "email.sent" });
  expect(sent.data.map(({ type }) => type)).toEqual(["email.sent"]);
  await expect(world.sdk.webhooks.deliveries(webhook, { email: "em_unknown" })).rejects.toMatchObject({ code: "not_found" });
});
