import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";
import { findEmailRows, SINGLE } from "./emails.ts";

const hello = { from: "Acme <hello@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." };
type One = { id: string; status: string };
type Many = { ids: string[]; status: string; count: number; failed?: unknown[] };

describe("a send", () => {
  test("to one recipient answers an id; the email can be read back with everything it says", async () => {
    await using world = await createWorld();
    const request = {
      ...hello,
      html: "<p>It works.</p>",
      replyTo: "Help <help@acme.test>",
      headers: { "X-Order": "7" },
      tags: { kind: "welcome" },
    };
    const sent = (await world.sdk.emails.send(request)) as One;
    expect(sent).toEqual({ id: expect.stringMatching(/^em_[0-9a-z]{26}$/), status: "queued" });
    await world.settle();
    expect(await world.sdk.emails.get(sent.id)).toMatchObject({
      ...request,
      status: "delivered",
      messageId: `<${sent.id}@acme.test>`,
      attempts: 1,
      inDoubt: false,
      lastError: null,
      scheduledAt: null,
      nextAttemptAt: null,
      createdAt: "2026-01-01T00:00:00.000Z",
      sentAt: "2026-01-01T00:00:00.000Z",
      attachments: [],
    });
  });

  test("to a list, even of one, gives each recipient a message that names nobody else", async () => {
    await using world = await createWorld();
    const one = (await world.sdk.emails.send({ ...hello, to: ["solo@example.com"] })) as Many;
    expect(one).toEqual({ ids: [expect.any(String)], status: "queued", count: 1 });
    const many = (await world.sdk.emails.send({ ...hello, to: ["a@example.com", "b@example.com", "c@example.com"] })) as Many;
    expect([many.count, new Set(many.ids).size, "failed" in many]).toEqual([3, 3, false]);
    const captured = await world.inbox.all({ subject: "Hello" });
    expect(captured.map((m) => m.to).sort()).toEqual(["a@example.com", "b@example.com", "c@example.com", "solo@example.com"]);
    for (const m of captured) {
      const raw = await world.sdk.inbox.raw(m.id);
      for (const other of captured) if (other.to !== m.to) expect(raw).not.toContain(other.to);
    }
  });

  test("through the other path is the same operation", async () => {
    await using world = await createWorld();
    const response = await ask(world, { path: "/api/v1/v1/emails/send", body: hello });
    expect(await response.json()).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
  });

  test("carries attachments unharmed, with a type guessed from the name", async () => {
    await using world = await createWorld();
    const bytes = Buffer.from(Uint8Array.from({ length: 1000 }, (_, i) => i % 256));
    const attachments = [
      { filename: "plan.pdf", content: bytes.toString("base64") },
      { filename: "pixel.png", content: "iVBORw0KGgo=", contentId: "logo" },
      { filename: "noextension", content: "aGk=" },
      { filename: "données.csv", content: "YSxi", contentType: "text/csv; charset=utf-8" },
    ];
    const { id } = (await world.sdk.emails.send({ ...hello, html: "<img src='cid:logo'>", attachments })) as One;
    const [mail] = await world.inbox.all();
    const detail = await world.sdk.inbox.get(mail?.id ?? "");
    expect(detail.attachments.map((a) => [a.filename, a.size, a.contentId]).sort()).toEqual(
      [
        ["plan.pdf", 1000, null],
        ["pixel.png", 8, "logo"],
        ["noextension", 2, null],
        ["données.csv", 3, null],
      ].sort(),
    );
    expect((await world.sdk.emails.get(id)).attachments.map((a) => a.contentType)).toEqual([
      "application/pdf",
      "image/png",
      "application/octet-stream",
      "text/csv; charset=utf-8",
    ]);
  });

  test("all of a batch is stored, or none of it", async () => {
    await using world = await createWorld();
    const { queue } = world.app.deps;
    const { announce } = queue;
    // The rows of the emails are written by then.
    queue.announce = async (tx, work) => {
      await announce(tx, work);
      throw new Error("trouble");
    };
    expect(
      (await ask(world, { path: "/api/v1/send", body: { ...hello, to: ["a@example.com", "b@example.com", "c@example.com"] } })).status,
    ).toBe(500);
    queue.announce = announce;
    expect((await world.sdk.emails.list()).pagination.total).toBe(0);
    expect(await world.inbox.all()).toEqual([]);
  });

  test("records its events in order, with a sequence that only grows", async () => {
    await using world = await createWorld();
    const { id } = (await world.sdk.emails.send(hello)) as One;
    await world.settle();
    const { events } = await world.sdk.emails.get(id);
    expect(events.map((e) => e.type)).toEqual(["email.queued", "email.sent", "email.delivered"]);
    expect(events.map((e) => e.id)).toEqual(events.map((e) => e.id).sort());
    expect(new Set(events.map((e) => e.id)).size).toBe(3);
    expect(events[1]?.data).toEqual({ response: "250 2.0.0 Captured", attempt: 1 });
  });
});

test("an address that is named more than once gets one mail, whatever the kind of the send", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const to = ["Ada <ada@bücher.example>", "bob@example.com", "ADA@xn--bcher-kva.example", "bob@example.com"];
  const separate = await sdk.emails.send({ ...hello, to });
  expect(separate).toMatchObject({ count: 2, ids: [expect.any(String), expect.any(String)], status: "queued" });
  const together = await sdk.emails.send({ ...hello, to, together: true, cc: "bob@example.com" });
  expect(together.recipients.map(({ email, kind }) => [email, kind])).toEqual([
    ["ada@xn--bcher-kva.example", "to"],
    ["bob@example.com", "to"],
  ]);
  const batch = await sdk.emails.sendBatch({ emails: [{ ...hello, to }] });
  expect(batch).toMatchObject({ queued: 1, results: [{ count: 2 }] });
  await sdk.suppressions.create({ email: "bob@example.com", reason: "manual" });
  expect(await sdk.emails.send({ ...hello, to })).toMatchObject({ count: 1, failed: [{ to: "bob@example.com" }] });
  await world.settle();
  expect((await sdk.emails.list({ to: "ada@bücher.example" })).pagination.total).toBe(4);
});

describe("the list of emails", () => {
  test("is newest first, and narrowed by state and recipient", async () => {
    await using world = await createWorld();
    for (const to of ["ada@example.com", "bounced@simulator.mailsvc.test", "Ada@Example.com"])
      await world.sdk.emails.send({ ...hello, to });
    await world.settle();
    expect((await world.sdk.emails.list()).data.map((e) => e.to)).toEqual([
      "Ada@example.com",
      "bounced@simulator.mailsvc.test",
      "ada@example.com",
    ]);
    expect((await world.sdk.emails.list({ status: "bounced" })).data.map((e) => e.to)).toEqual(["bounced@simulator.mailsvc.test"]);
    expect((await world.sdk.emails.list({ to: "ADA@example.com" })).pagination.total).toBe(2);
  });

  test("can be walked page by page without missing or repeating any, while more arrive", async () => {
    await using world = await createWorld();
    const sent = (await world.sdk.emails.send({ ...hello, to: Array.from({ length: 50 }, (_, i) => `r${i}@example.com`) })) as Many;
    const seen: string[] = [];
    for await (const page of world.sdk.emails.list({ limit: 7 }).pages()) {
      seen.push(...page.data.map((e) => e.id));
      await world.sdk.emails.send({ ...hello, to: "late@example.com" });
    }
    expect(seen).toEqual([...sent.ids].reverse());
  });
});

describe("scheduled emails", () => {
  const at = (hour: string) => `2026-01-01T${hour}:00:00.000Z`;

  test("go out at their hour", async () => {
    await using world = await createWorld();
    const { id } = (await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-01T03:00:00+01:00" })) as One;
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "queued", scheduledAt: at("02"), nextAttemptAt: at("02") });
    await world.clock.advance("1h59m59s999ms");
    expect(await world.inbox.all()).toEqual([]);
    await world.clock.advance("1ms");
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "delivered", sentAt: at("02"), nextAttemptAt: null });
  });

  test("are listed as scheduled until their hour, alone and with other filters", async () => {
    await using world = await createWorld();
    const { emails } = world.sdk;
    await emails.send({ ...hello, to: "now@example.com" });
    const two = (await emails.send({ ...hello, to: "two@example.com", scheduledAt: at("02") })) as One;
    const three = (await emails.send({ ...hello, to: "three@example.com", scheduledAt: at("03") })) as One;
    const cancelled = (await emails.send({ ...hello, to: "two@example.com", scheduledAt: at("04") })) as One;
    await emails.cancel(cancelled.id);
    const list = async (filter: object) => {
      const { data, pagination } = await emails.list({ status: "scheduled", ...filter });
      expect(pagination.total).toBe(data.length);
      return data.map(({ id }) => id);
    };
    expect(await list({})).toEqual([three.id, two.id]);
    expect(await list({ to: "two@example.com" })).toEqual([two.id]);
    expect(await list({ inDoubt: true })).toEqual([]);
    await world.clock.advance("2h");
    expect(await list({})).toEqual([three.id]);
  });

  test("can be cancelled until then; cancelling twice is harmless, later it is refused", async () => {
    await using world = await createWorld();
    const [a, b] = [
      (await world.sdk.emails.send({ ...hello, scheduledAt: at("02") })) as One,
      (await world.sdk.emails.send({ ...hello, scheduledAt: at("02") })) as One,
    ];
    const cancelled = await world.sdk.emails.cancel(a.id);
    expect(cancelled).toMatchObject({ status: "cancelled", nextAttemptAt: null });
    expect(await world.sdk.emails.cancel(a.id)).toEqual(cancelled);
    await world.sdk.emails.reschedule(b.id, { scheduledAt: at("03") });
    await world.sdk.emails.reschedule(b.id, { scheduledAt: at("02") });
    // It is not in the queue until its date.
    const rows = await findEmailRows(world.app.deps.db.read, world.workspaceId, [a.id, b.id]);
    expect(rows.map(({ lane }) => lane)).toEqual([null, SINGLE]);
    await world.clock.advance("3h");
    expect(await world.inbox.all()).toHaveLength(1);
    expect((await world.sdk.emails.get(a.id)).events.map((e) => e.type)).toEqual(["email.queued", "email.cancelled"]);
    await expect(world.sdk.emails.cancel(b.id)).rejects.toMatchObject({
      code: "invalid_state",
      message: expect.stringContaining("delivered"),
    });
  });

  test.each([
    ["later", ["05"]],
    ["earlier", ["01"]],
    ["there and back again", ["05", "02"]],
    ["to the very hour it has", ["02"]],
    ["many times", ["05", "01", "07", "02", "05", "03", "02", "06"]],
  ])("can be moved %s, and go out once, at the last hour given", async (_how, hours) => {
    await using world = await createWorld();
    const { id } = (await world.sdk.emails.send({ ...hello, scheduledAt: at("02") })) as One;
    for (const hour of hours)
      expect(await world.sdk.emails.reschedule(id, { scheduledAt: at(hour) })).toMatchObject({ status: "queued", scheduledAt: at(hour) });
    await world.clock.advance("1d");
    const email = await world.sdk.emails.get(id);
    expect(email).toMatchObject({ status: "delivered", sentAt: at(hours.at(-1) as string), attempts: 1, inDoubt: false });
    expect(email.events.map((e) => e.type)).toEqual([
      "email.queued",
      ...hours.map(() => "email.rescheduled"),
      "email.sent",
      "email.delivered",
    ]);
    expect(await world.inbox.all()).toHaveLength(1);
  });

  test("cannot be moved into the past, nor when they are cancelled, gone, or were never scheduled", async () => {
    await using world = await createWorld();
    const { id } = (await world.sdk.emails.send({ ...hello, scheduledAt: at("02") })) as One;
    const move = (which: string, hour = "05") => world.sdk.emails.reschedule(which, { scheduledAt: at(hour) });
    await world.clock.advance("1h");
    await expect(move(id, "00")).rejects.toMatchObject({
      code: "validation_error",
      details: [{ path: "scheduledAt", code: "in_the_past" }],
    });
    await world.sdk.emails.cancel(id);
    await expect(move(id)).rejects.toMatchObject({ code: "invalid_state" });
    const now = (await world.sdk.emails.send(hello)) as One;
    await expect(move(now.id)).rejects.toMatchObject({ code: "invalid_state" });
    await world.settle();
    await expect(move(now.id)).rejects.toMatchObject({ code: "invalid_state" });
    await expect(move("em_unknown")).rejects.toMatchObject({ code: "not_found" });
  });

  test("of many who cancel and move at once, the email ends in one state that fits its history", async () => {
    await using world = await createWorld();
    const { id } = (await world.sdk.emails.send({ ...hello, scheduledAt: at("02") })) as One;
    await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 ? world.sdk.emails.cancel(id) : world.sdk.emails.reschedule(id, { scheduledAt: at("03") }),
      ),
    );
    await world.clock.advance("1d");
    const { status, events } = await world.sdk.emails.get(id);
    expect([status, events.filter((e) => e.type === "email.cancelled").length, events.at(-1)?.type]).toEqual([
      "cancelled",
      1,
      "email.cancelled",
    ]);
    expect(await world.inbox.all()).toEqual([]);
  });
});
