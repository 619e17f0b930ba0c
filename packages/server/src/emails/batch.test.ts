import type { BatchEmail, BatchQueued } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { check } from "../http/validation.ts";
import { MB } from "../lib/units.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { prepareBatch } from "./batch.ts";

const hello = { from: "Acme <hello@acme.test>", subject: "Hello", text: "It works." };
const to = (name: string, changes: Partial<BatchEmail> = {}): BatchEmail => ({ ...hello, to: `${name}@example.com`, ...changes });
const idsOf = (results: readonly { status: string }[]) => results.map((result) => (result as BatchQueued).id);
const post = (world: TestWorld, body: unknown, headers: Record<string, string> = {}) =>
  ask(world, { path: "/api/v1/send/batch", body, headers });
const total = async (world: TestWorld) => (await world.sdk.emails.list()).pagination.total;

async function refusal(world: TestWorld, body: unknown) {
  const response = await post(world, body);
  const { error } = (await response.json()) as { error: { code: string; message: string; details: { path: string; code: string }[] } };
  return {
    status: response.status,
    code: error.code,
    message: error.message,
    details: error.details.map((one) => `${one.path} ${one.code}`),
  };
}

async function withTemplate(world: TestWorld): Promise<void> {
  const { id } = await world.sdk.templates.create({ name: "Hi", slug: "hi", subject: "Hi {{ name }}", html: "<p>Hi {{ name }}</p>" });
  await world.sdk.templates.publish(id);
}

test("a hundred different emails are queued in their order, and each is delivered as it says", async () => {
  await using world = await createWorld();
  const emails = Array.from({ length: 100 }, (_, i) => to(`p${i}`, { subject: `Hello ${i}`, tags: { n: String(i) } }));
  const { queued, failed, results } = await world.sdk.emails.sendBatch({ emails });
  expect([queued, failed]).toEqual([100, 0]);
  await world.settle();
  for (const [i, id] of idsOf(results).entries())
    expect(await world.sdk.emails.get(id ?? "")).toMatchObject({
      to: `p${i}@example.com`,
      subject: `Hello ${i}`,
      tags: { n: String(i) },
      status: "delivered",
    });
  expect(await world.inbox.all()).toHaveLength(100);
});

test("an email of a batch has all that a single send has: files, schedule, template, several recipients", async () => {
  await using world = await createWorld();
  await withTemplate(world);
  const { results } = await world.sdk.emails.sendBatch({
    emails: [
      to("files", { attachments: [{ filename: "hi.txt", content: "aGk=" }] }),
      to("later", { scheduledAt: "2026-01-02T00:00:00Z" }),
      { template: "hi", from: hello.from, to: "ada@example.com", variables: { name: "Ada" } },
      { ...hello, to: ["a@example.com", "b@example.com"] },
      { ...hello, to: "one@example.com", cc: "two@example.com" },
    ],
  });
  expect(results).toMatchObject([
    { status: "queued", id: expect.any(String) },
    { status: "queued", id: expect.any(String) },
    { status: "queued", template: "hi" },
    { status: "queued", count: 2, ids: [expect.any(String), expect.any(String)] },
    { status: "queued", recipients: [{ kind: "to" }, { kind: "cc" }] },
  ]);
  await world.settle();
  const subjects = async () => (await world.inbox.all()).map(({ to: address, subject }) => `${address} ${subject}`).sort();
  const first = [
    "a@example.com Hello",
    "ada@example.com Hi Ada",
    "b@example.com Hello",
    "files@example.com Hello",
    "one@example.com Hello",
    "two@example.com Hello",
  ];
  expect(await subjects()).toEqual(first);
  expect((await world.inbox.waitFor({ to: "files@example.com" })).attachments).toMatchObject([{ filename: "hi.txt" }]);
  await world.clock.advance("1d");
  expect(await subjects()).toEqual([...first, "later@example.com Hello"].sort());
});

describe("a strict batch", () => {
  test("is queued whole or not at all, and its error lists every fault by index", async () => {
    await using world = await createWorld();
    expect(
      await refusal(world, { emails: [to("a"), { ...hello, to: "bad" }, to("c"), { to: "d@example.com", text: "x", color: "red" }] }),
    ).toEqual({
      status: 400,
      code: "validation_error",
      message: expect.stringMatching(/^2 of 4 emails were refused, so none was queued: /),
      details: ["emails[1].to invalid_email", "emails[3].color unknown_field", "emails[3].from required", "emails[3].subject required"],
    });
    expect(await total(world)).toBe(0);
  });

  test("has the code of its faults, or batch_refused when they differ", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "gone@example.com", reason: "manual" });
    const stranger = to("x", { from: "x@elsewhere.org" });
    expect(await refusal(world, { emails: [to("a"), to("gone")] })).toMatchObject({
      code: "recipient_suppressed",
      details: ["emails[1].to recipient_suppressed"],
    });
    expect(await refusal(world, { emails: [stranger, to("gone"), { template: "none", to: "a@example.com" }] })).toMatchObject({
      status: 400,
      code: "batch_refused",
      details: [expect.stringMatching(/^emails\[0\]/), "emails[1].to recipient_suppressed", expect.stringMatching(/^emails\[2\]/)],
    });
    expect(await total(world)).toBe(0);
  });
});

test("in a permissive batch each email succeeds or fails for itself, in its place", async () => {
  await using world = await createWorld();
  await withTemplate(world);
  const { queued, failed, results } = await world.sdk.emails.sendBatch({
    mode: "permissive",
    emails: [
      to("a"),
      to("b", { from: "x@elsewhere.org" }),
      { template: "hi", from: hello.from, to: "c@example.com" },
      to("d", { scheduledAt: "2020-01-01T00:00:00Z" }),
      to("e", { attachments: [{ filename: "x", content: "?" }] }),
      to("f"),
    ],
  });
  expect([queued, failed]).toEqual([2, 4]);
  expect(results).toMatchObject([
    { status: "queued" },
    { status: "failed", error: { code: "sender_not_verified" } },
    { status: "failed", error: { code: "missing_variables", details: [{ path: expect.stringContaining("name") }] } },
    { status: "failed", error: { code: "validation_error", details: [{ path: "scheduledAt", code: "in_the_past" }] } },
    { status: "failed", error: { code: "validation_error", details: [{ path: "attachments[0].content" }] } },
    { status: "queued" },
  ]);
  await world.settle();
  expect((await world.inbox.all()).map((mail) => mail.to).sort()).toEqual(["a@example.com", "f@example.com"]);
});

describe("a repeated batch", () => {
  test("with the same Idempotency-Key has one effect and the same answer", async () => {
    await using world = await createWorld();
    const body = { emails: [to("a"), to("b")] };
    const [first, second] = await Promise.all([
      post(world, body, { "idempotency-key": "k" }),
      post(world, body, { "idempotency-key": "k" }),
    ]);
    expect(await second.text()).toBe(await first.text());
    const third = await post(world, body, { "idempotency-key": "k" });
    expect([third.status, third.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(await total(world)).toBe(2);
  });

  test("queues only the emails whose own keys are new", async () => {
    await using world = await createWorld();
    const a = to("a", { idempotencyKey: "a-1" });
    const before = await world.sdk.emails.sendBatch({ emails: [a, to("x")] });
    const { queued, results } = await world.sdk.emails.sendBatch({ emails: [to("b", { idempotencyKey: "b-1" }), a] });
    expect(queued).toBe(2);
    expect(results[1]).toEqual({ ...before.results[0], replayed: true });
    expect(results[0]).not.toHaveProperty("replayed");
    expect(await total(world)).toBe(3);
  });

  test("refuses a key that was used for another email, and one that is there twice", async () => {
    await using world = await createWorld();
    await world.sdk.emails.sendBatch({ emails: [to("a", { idempotencyKey: "k" })] });
    const reused = await refusal(world, { emails: [to("new"), to("b", { idempotencyKey: "k" })] });
    expect(reused).toMatchObject({ status: 409, code: "idempotency_key_reused", details: ["emails[1].idempotencyKey reused"] });
    const twice = await refusal(world, { emails: [to("c", { idempotencyKey: "j" }), to("d", { idempotencyKey: "j" })] });
    expect(twice).toMatchObject({ code: "validation_error", details: ["emails[1].idempotencyKey duplicate"] });
    expect(await total(world)).toBe(1);
  });

  test("forgets the keys of emails that failed, so that they can be corrected", async () => {
    await using world = await createWorld();
    const bad = to("a", { idempotencyKey: "k", scheduledAt: "2020-01-01T00:00:00Z" });
    await world.sdk.emails.sendBatch({ mode: "permissive", emails: [bad] });
    const { results } = await world.sdk.emails.sendBatch({ mode: "permissive", emails: [to("a", { idempotencyKey: "k" })] });
    expect(results).toMatchObject([{ status: "queued" }]);
  });

  test.each(["with", "without"])("sends an email with a key of its own once when batches race, %s an Idempotency-Key each", async (how) => {
    await using world = await createWorld();
    const emails = [to("a", { idempotencyKey: "k" }), to("b", { idempotencyKey: "l" })];
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const response = await post(world, { emails }, how === "with" ? { "idempotency-key": `batch-${i}` } : {});
        expect(response.status).toBe(200);
        return (await response.json()) as { results: { status: string }[] };
      }),
    );
    expect(new Set(answers.map(({ results }) => idsOf(results).join())).size).toBe(1);
    expect(await total(world)).toBe(2);
  });
});

describe("a batch is refused", () => {
  const cases: readonly (readonly [string, unknown, string[]])[] = [
    ["without emails", { emails: [] }, ["emails too_small"]],
    ["with 101 emails", { emails: Array.from({ length: 101 }, (_, i) => to(`p${i}`)) }, ["emails too_big"]],
    [
      "with more than 1,000 recipients",
      { emails: Array.from({ length: 21 }, () => ({ ...hello, to: Array.from({ length: 50 }, (_, i) => `p${i}@example.com`) })) },
      ["emails too_big"],
    ],
    ["in an unknown mode", { emails: [to("a")], mode: "loose" }, ["mode invalid_value"]],
    ["with emails that are no objects", { emails: ["x", null] }, ["emails[0] invalid_type", "emails[1] invalid_type"]],
    [
      "with neither content nor template",
      { emails: [{ from: hello.from, subject: "x", to: "a@example.com" }] },
      ["emails[0].html required"],
    ],
    ["with content and template", { emails: [to("a", { template: "hi" })] }, ["emails[0].text unexpected"]],
    ["with a key of spaces", { emails: [to("a", { idempotencyKey: "a b" })] }, ["emails[0].idempotencyKey invalid_format"]],
    [
      "with 21 tags",
      { emails: [to("a", { tags: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`t${i}`, "v"])) })] },
      ["emails[0].tags too_big"],
    ],
  ];
  for (const [name, body, details] of cases)
    test(name, async () => {
      await using world = await createWorld();
      expect(await refusal(world, body)).toMatchObject({ status: 400, code: "validation_error", details });
      expect(await total(world)).toBe(0);
    });
});

test("the files of a batch are 40 MiB at most, and those that emails share count once", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  const context = { read: deps.db.read, deps, workspaceId: world.workspaceId, check };
  const file = (bytes: number) => [{ filename: "a.bin", content: Buffer.alloc(bytes).toString("base64") }];
  const large = file(3 * MB);
  // Another list each time, of one text: the limit counts what is decoded.
  const filled = (last: number) =>
    [...Array.from({ length: 13 }, () => [...large]), file(last)].map((attachments, i) => to(`p${i}`, { attachments }));
  const faultsOf = async (emails: readonly BatchEmail[]) => {
    const prepared = await prepareBatch({ emails: [...emails], mode: "permissive" }, context);
    return prepared.map(({ failure }) => failure?.message ?? null);
  };
  const none = Array.from({ length: 14 }, () => null);
  expect(await faultsOf(filled(MB - 1))).toEqual(none);
  expect(await faultsOf([...filled(MB - 1), to("over", { attachments: file(3) }), to("plain")])).toEqual([
    ...none,
    "At most 40 MiB of attachments in a batch.",
    null,
  ]);
  expect(await faultsOf(Array.from({ length: 20 }, (_, i) => to(`p${i}`, { attachments: large })))).toEqual(
    Array.from({ length: 20 }, () => null),
  );
});

test("no template can have the slug that is the address of batches", async () => {
  await using world = await createWorld();
  await expect(world.sdk.templates.create({ name: "x", slug: "batch" })).rejects.toMatchObject({
    code: "validation_error",
    details: [{ path: "slug", code: "reserved" }],
  });
});
