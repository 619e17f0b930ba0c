import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "hi@acme.test", to: "ada@example.com", subject: "Hello", text: "It works." };

test("of sends that arrive together, each gets its own answer, and only those are refused that would be alone", async () => {
  await using world = await createWorld();
  await world.sdk.suppressions.create({ email: "gone@example.com" });
  const send = (body: object, key?: string) =>
    ask(world, { path: "/api/v1/send", body: { ...hello, ...body }, ...(key !== undefined && { headers: { "idempotency-key": key } }) });
  const first = (await (await send({}, "repeated")).json()) as { id: string };
  await send({}, "used");
  const kinds = [
    { body: {}, status: 200 },
    { body: { to: "gone@example.com" }, status: 400, code: "recipient_suppressed" },
    { body: { from: "hi@other.dev" }, status: 400, code: "sender_not_verified" },
    { body: { to: ["gone@example.com", "bob@example.com"] }, status: 200, recipients: 1 },
    { body: { subject: "Another" }, key: "used", status: 409, code: "idempotency_key_reused" },
    { body: {}, key: "repeated", status: 200, id: first.id },
    { body: { scheduledAt: "2026-01-02T00:00:00.000Z" }, status: 200 },
    { body: { attachments: [{ filename: "a.txt", content: "YQ==" }] }, status: 200 },
  ];
  const rounds = Array.from({ length: 12 }, () => kinds).flat();
  const answers = await Promise.all(
    rounds.map(async ({ body, key, ...expected }) => {
      const answer = await send(body, key);
      return { expected, status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    }),
  );
  for (const { expected, status, body } of answers) {
    expect(status).toBe(expected.status);
    if (expected.code) expect(body).toMatchObject({ error: { code: expected.code } });
    if (expected.recipients) expect(body).toMatchObject({ count: expected.recipients, failed: [{ to: "gone@example.com" }] });
    if (expected.id) expect(body["id"]).toBe(expected.id);
  }
  const ids = answers.flatMap(({ expected, body }) => (expected.status === 200 && !expected.id ? (body["ids"] ?? body["id"]) : []));
  expect(new Set(ids).size).toBe(48);
  expect((await world.sdk.emails.list()).pagination.total).toBe(50);
  expect(await world.inbox.all()).toHaveLength(38);
});

test("a new Idempotency-Key that arrives many times at once, among others, takes effect once", async () => {
  await using world = await createWorld();
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const headers = { "idempotency-key": i % 3 === 0 ? "same" : `key-${i}` };
      const answer = await ask(world, { path: "/api/v1/send", headers, body: hello });
      return { same: i % 3 === 0, status: answer.status, id: ((await answer.json()) as { id: string }).id };
    }),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.filter(({ same }) => same).map(({ id }) => id)).size).toBe(1);
  expect((await world.sdk.emails.list()).pagination.total).toBe(41);
});
