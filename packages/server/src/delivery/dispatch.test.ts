import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { accepted, busy, cutOff, noSuchUser, relayDenied, type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import { type EmailRow, findEmailRows, toDeliveryJob } from "../emails/emails.ts";
import type { OutgoingMail, Receipt } from "../mail/mailer.ts";
import { composeMime } from "../mail/mime.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { Dispatch } from "./dispatch.ts";
import { RETRY_DELAYS } from "./outcome.ts";

const hello = { from: "Acme <hello@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." };
type One = { id: string };

const world = async (script?: Script) => {
  const mailer = scriptedMailer(script);
  const w = await createWorld({ mailer });
  return { w, mailer, [Symbol.asyncDispose]: () => w.dispose() };
};
const send = async (w: TestWorld, changes: Record<string, unknown> = {}): Promise<string> =>
  ((await w.sdk.emails.send({ ...hello, ...changes })) as One).id;
const types = async (w: TestWorld, id: string): Promise<string[]> => (await w.sdk.emails.get(id)).events.map((e) => e.type);
/** A promise that is settled from outside. */
const latch = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

describe("one attempt", () => {
  test("an email that the next hop accepts is sent, not delivered", async () => {
    await using t = await world();
    const id = await send(t.w);
    await t.w.settle();
    expect(await t.w.sdk.emails.get(id)).toMatchObject({
      status: "sent",
      attempts: 1,
      sentAt: "2026-01-01T00:00:00.000Z",
      nextAttemptAt: null,
    });
    expect(await types(t.w, id)).toEqual(["email.queued", "email.sent"]);
    expect(t.mailer.sent).toMatchObject([
      {
        envelopeFrom: "hello@acme.test",
        envelopeTo: "ada@example.com",
        messageId: `<${id}@acme.test>`,
        attempt: 1,
        date: Date.parse("2026-01-01T00:00:00Z"),
      },
    ]);
  });

  test("a refused mailbox bounces the email and suppresses the address", async () => {
    await using t = await world(() => noSuchUser);
    const id = await send(t.w);
    await t.w.clock.advance("7d");
    expect(t.mailer.sent).toHaveLength(1);
    const email = await t.w.sdk.emails.get(id);
    expect(email).toMatchObject({ status: "bounced", lastError: { smtpCode: 550, enhancedCode: "5.1.1" }, nextAttemptAt: null });
    expect(email.events.at(-1)).toMatchObject({
      type: "email.bounced",
      data: { type: "PERMANENT", smtpCode: 550, diagnostic: "550 5.1.1 No such user here" },
    });
    await expect(send(t.w)).rejects.toMatchObject({ code: "recipient_suppressed" });
    expect((await t.w.sdk.suppressions.list()).data).toMatchObject([{ email: "ada@example.com", reason: "bounce", emailId: id }]);
  });

  test("another permanent refusal bounces the email and leaves address and contact alone", async () => {
    await using t = await world(() => relayDenied);
    const contact = await t.w.sdk.contacts.create({ email: "ada@example.com" });
    const id = await send(t.w);
    await t.w.settle();
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "bounced", lastError: { smtpCode: 550, enhancedCode: null } });
    expect((await t.w.sdk.suppressions.list()).data).toEqual([]);
    expect((await t.w.sdk.contacts.get(contact.id)).status).toBe("SUBSCRIBED");
  });

  test("while a relay refuses all recipients, email is deferred, and it is sent once the relay is repaired", async () => {
    let repaired = false;
    await using t = await world(() => (repaired ? accepted : relayDenied));
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(await send(t.w, { to: `user${n}@example.com` }));
    await t.w.settle();
    const statuses = async () => Promise.all(ids.map(async (id) => (await t.w.sdk.emails.get(id)).status));
    expect((await statuses()).filter((status) => status === "deferred")).toHaveLength(21);
    expect((await t.w.sdk.me.get()).server.mailerFault).toContain("550 relay not permitted");
    // Only those that were handed over count as tried.
    const attempts = await Promise.all(ids.map(async (id) => (await t.w.sdk.emails.get(id)).attempts));
    expect(attempts.filter((count) => count === 0)).toHaveLength(30 - t.mailer.sent.length);
    repaired = true;
    await t.w.clock.advance("3d");
    expect((await statuses()).filter((status) => status === "sent")).toHaveLength(21);
    expect((await t.w.sdk.me.get()).server.mailerFault).toBeNull();
  });

  test("a deferred email is retried and then sent", async () => {
    await using t = await world((_, n) => (n === 0 ? busy : accepted));
    const id = await send(t.w);
    await t.w.settle();
    const deferred = await t.w.sdk.emails.get(id);
    expect(deferred).toMatchObject({ status: "deferred", attempts: 1, inDoubt: false, lastError: { smtpCode: 451 } });
    const wait = Date.parse(deferred.nextAttemptAt ?? "") - t.w.clock.now();
    expect(wait).toBeGreaterThanOrEqual(48_000);
    expect(wait).toBeLessThanOrEqual(72_000);
    await t.w.clock.advance(`${wait}ms`);
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 2, lastError: null, nextAttemptAt: null });
    expect(await types(t.w, id)).toEqual(["email.queued", "email.deferred", "email.sent"]);
  });
});

describe("many attempts", () => {
  test("an email deferred at every attempt fails after about two days, each wait being longer than the last", async () => {
    await using t = await world(() => busy);
    const id = await send(t.w);
    const at: number[] = [];
    do at.push(t.w.clock.now());
    while (at.length < 50 && (await t.w.clock.next()) && t.mailer.sent.length > at.length);
    await t.w.clock.advance("4d");
    expect(t.mailer.sent.map((m) => m.attempt)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
    const email = await t.w.sdk.emails.get(id);
    expect(email).toMatchObject({ status: "failed", attempts: 10, nextAttemptAt: null });
    const times = email.events.filter((e) => e.type === "email.deferred").map((e) => Date.parse(e.at));
    const waits = [...times.slice(1), Date.parse(email.events.at(-1)?.at ?? "")].map((t2, i) => t2 - (times[i] ?? 0));
    waits.forEach((w, i) => {
      expect(w).toBeGreaterThanOrEqual(0.79 * (RETRY_DELAYS[i] ?? 0));
      expect(w).toBeLessThanOrEqual(1.21 * (RETRY_DELAYS[i] ?? 0));
    });
    expect(email.events.at(-1)).toMatchObject({ type: "email.failed", data: { type: "TRANSIENT", attempts: 10 } });
    expect((await t.w.sdk.suppressions.list()).pagination.total).toBe(0);
  });

  test("every attempt sends the same bytes", async () => {
    await using t = await world((_, n) => (n < 3 ? busy : accepted));
    await send(t.w, { html: "<p>Hi</p>", attachments: [{ filename: "a.txt", content: "aGk=" }], headers: { "X-A": "1" } });
    await t.w.clock.advance("2d");
    const bytes = await Promise.all(t.mailer.sent.map(async (m) => Buffer.from(await composeMime(m)).toString("latin1")));
    expect(bytes).toHaveLength(4);
    expect(new Set(bytes).size).toBe(1);
  });

  test("a deferred email can be cancelled and is not retried", async () => {
    await using t = await world(() => busy);
    const id = await send(t.w);
    await t.w.settle();
    await t.w.sdk.emails.cancel(id);
    await t.w.clock.advance("7d");
    expect(t.mailer.sent).toHaveLength(1);
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "cancelled", nextAttemptAt: null });
  });

  test("an email to an address suppressed in the meantime is not sent", async () => {
    await using t = await world(() => busy);
    const id = await send(t.w);
    await t.w.settle();
    await t.w.sdk.suppressions.create({ email: "ADA@example.com" });
    await t.w.clock.advance("7d");
    expect(t.mailer.sent).toHaveLength(1);
    expect(await types(t.w, id)).toEqual(["email.queued", "email.deferred", "email.suppressed"]);
    expect((await t.w.sdk.emails.get(id)).status).toBe("suppressed");
  });
});

describe("in doubt", () => {
  test("an email whose connection is lost after the message is listed as in doubt and sent again with the same Message-ID", async () => {
    await using t = await world((_, n) => (n === 0 ? cutOff : accepted));
    const id = await send(t.w);
    await t.w.settle();
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "deferred", inDoubt: true });
    await t.w.clock.advance("2m");
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "sent", inDoubt: true, attempts: 2 });
    expect(new Set(t.mailer.sent.map((m) => m.messageId)).size).toBe(1);
    const listed = async (inDoubt: boolean) => (await t.w.sdk.emails.list({ inDoubt: String(inDoubt) } as never)).data.map((e) => e.id);
    expect([await listed(true), await listed(false)]).toEqual([[id], []]);
  });

  test("an email that is sending at the start is in doubt and sent again unchanged", async () => {
    const halfway = latch();
    const never = latch();
    let first: OutgoingMail | undefined;
    await using t = await world(async (mail, n): Promise<Receipt> => {
      if (n > 0) return accepted;
      first = mail;
      halfway.open();
      await never.opened;
      return accepted;
    });
    const id = await send(t.w, { html: "<p>Hi</p>" });
    await halfway.opened;
    expect((await t.w.sdk.emails.get(id)).status).toBe("sending");
    // The next process finds the database as it is at this moment.
    const { deps } = t.w.app;
    const next = new Dispatch(deps);
    const [email] = await findEmailRows(deps.db.read, t.w.workspaceId, [id]);
    await new Promise<void>((ended) =>
      next.run([toDeliveryJob(email as EmailRow)], async (_job, outcome) => {
        if ("error" in outcome) throw outcome.error;
        const { effect, more } = outcome;
        if (effect) await deps.db.tx((tx) => next.commit(tx, [effect]));
        if (!more) ended();
      }),
    );
    const again = t.mailer.sent[1] as OutgoingMail;
    expect(Buffer.from(await composeMime(again)).equals(Buffer.from(await composeMime(first as OutgoingMail)))).toBe(true);
    never.open();
    await t.w.settle();
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "sent", inDoubt: true, attempts: 2 });
    expect((await types(t.w, id)).filter((type) => type === "email.sent")).toHaveLength(1);
  });

  test("one that a process left sending and the next one captures is in doubt as well", async () => {
    await using w = await createWorld({ seed: 5 });
    const { id } = await w.sdk.emails.send({
      from: "hi@acme.example",
      to: "ada@reader.example",
      subject: "Hello",
      text: "x",
      scheduledAt: "2026-01-02T00:00:00.000Z",
    });
    const { db, queue } = w.app.deps;
    await db.tx(async (tx) => {
      const { emails } = tx.t;
      await tx.update(emails).set({ status: "sending", nextAttemptAt: 0 }).where(eq(emails.id, id));
    });
    queue.refresh();
    await w.settle();
    expect(await w.sdk.emails.get(id)).toMatchObject({ status: "delivered", inDoubt: true });
  });

  test("a mailer that throws loses no email: it is sent later, as in doubt", async () => {
    await using t = await world((_, n) => {
      if (n === 0) throw new Error("a bug");
      return accepted;
    });
    const id = await send(t.w);
    await t.w.clock.advance("1m");
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "sent", inDoubt: true });
  });

  test("one that a mailer fails 25 times is failed, and says that the server is to blame", async () => {
    await using t = await world(() => {
      throw new Error("a bug");
    });
    const id = await send(t.w);
    await t.w.settle();
    expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "sending", nextAttemptAt: expect.any(String) });
    await t.w.clock.advance("20d");
    expect(t.mailer.sent).toHaveLength(25);
    expect(await t.w.sdk.emails.get(id)).toMatchObject({
      ...{ status: "failed", inDoubt: true, nextAttemptAt: null },
      lastError: { message: expect.stringContaining("a reason of its own"), smtpCode: null },
    });
    expect(await types(t.w, id)).toEqual(["email.queued", "email.failed"]);
  });
});
