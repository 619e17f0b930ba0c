import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { smtpPeer } from "../../test/smtp-peer.ts";
import { realTime } from "../lib/clock.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "Acme <hello@acme.test>", subject: "Hello", text: "It works." };
const party = {
  ...hello,
  to: ["Ada <ada@example.com>", "bob@example.com"],
  cc: '"Carol, C." <carol@example.com>',
  bcc: ["dan@example.com"],
};

describe("one mail to several recipients", () => {
  test("answers its id and its recipients, and arrives at each of them with the same bytes", async () => {
    await using world = await createWorld();
    const sent = await world.sdk.emails.send(party);
    expect(sent).toEqual({
      id: expect.stringMatching(/^em_/),
      status: "queued",
      recipients: [
        { id: sent.id, email: "ada@example.com", kind: "to", status: "queued" },
        { id: expect.any(String), email: "bob@example.com", kind: "to", status: "queued" },
        { id: expect.any(String), email: "carol@example.com", kind: "cc", status: "queued" },
        { id: expect.any(String), email: "dan@example.com", kind: "bcc", status: "queued" },
      ],
    });
    const captured = await world.inbox.all();
    expect(captured.map(({ to }) => to).sort()).toEqual(["ada@example.com", "bob@example.com", "carol@example.com", "dan@example.com"]);
    expect(new Set(captured.map(({ emailId }) => emailId))).toEqual(new Set([sent.id]));
    const raws = await Promise.all(captured.map(({ id }) => world.sdk.inbox.raw(id)));
    expect(new Set(raws).size).toBe(1);
    expect(raws[0]).toContain("To: Ada <ada@example.com>, bob@example.com\r\n");
    expect(raws[0]).toContain('Cc: "Carol, C." <carol@example.com>\r\n');
    expect(raws[0]).toContain(`Message-ID: <${sent.id}@acme.test>\r\n`);
    expect(raws[0]?.toLowerCase()).not.toMatch(/bcc|dan@/);
  });

  test("is read by its id and by that of each recipient, and shows how far it is with each", async () => {
    await using world = await createWorld();
    const { id, recipients } = await world.sdk.emails.send(party);
    await world.settle();
    const mail = await world.sdk.emails.get(id);
    expect(mail).toMatchObject({ id, status: "delivered", to: "ada@example.com", messageId: `<${id}@acme.test>`, attempts: 1 });
    expect(mail.recipients.map(({ email, name, kind, status }) => [email, name, kind, status])).toEqual([
      ["ada@example.com", "Ada", "to", "delivered"],
      ["bob@example.com", null, "to", "delivered"],
      ["carol@example.com", "Carol, C.", "cc", "delivered"],
      ["dan@example.com", null, "bcc", "delivered"],
    ]);
    expect(mail.events.map(({ type, recipient }) => `${type} ${recipient.kind} ${recipient.email}`).sort()).toEqual(
      ["bcc dan", "cc carol", "to ada", "to bob"]
        .flatMap((who) => ["delivered", "queued", "sent"].map((what) => `email.${what} ${who}@example.com`))
        .sort(),
    );
    for (const one of recipients) expect(await world.sdk.emails.get(one.id)).toEqual(mail);
  });

  test("is listed once, whichever of its recipients match", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.emails.send(party);
    const single = await world.sdk.emails.send({ ...hello, to: "ada@example.com" });
    await world.settle();
    for (const [query, ids] of [
      [{}, [single.id, id]],
      [{ status: "delivered" }, [single.id, id]],
      [{ to: "dan@example.com" }, [id]],
      [{ to: "ada@example.com", status: "delivered" }, [single.id, id]],
      [{ inDoubt: false }, [single.id, id]],
      [{ status: "queued" }, []],
    ] as const) {
      const page = await world.sdk.emails.list(query);
      expect([page.data.map((one) => one.id), page.pagination.total], JSON.stringify(query)).toEqual([ids, ids.length]);
    }
    expect((await world.sdk.emails.list({ limit: 1 })).pagination.hasMore).toBe(true);
    expect((await world.sdk.emails.list().toArray()).map((one) => one.id)).toEqual([single.id, id]);
    expect((await world.sdk.emails.list()).data[1]?.recipients).toHaveLength(4);
  });

  test("skips suppressed recipients without stopping for them, unless all are", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "ada@example.com" });
    const sent = await world.sdk.emails.send(party);
    expect(sent.failed).toEqual([{ to: "ada@example.com", code: "recipient_suppressed", message: expect.any(String) }]);
    expect(sent.recipients.map(({ status }) => status)).toEqual(["suppressed", "queued", "queued", "queued"]);
    expect((await world.inbox.all()).map(({ to }) => to).sort()).toEqual(["bob@example.com", "carol@example.com", "dan@example.com"]);
    const mail = await world.sdk.emails.get(sent.id);
    expect([mail.status, ...mail.recipients.map(({ status }) => status)]).toEqual([
      "delivered",
      "suppressed",
      "delivered",
      "delivered",
      "delivered",
    ]);
    expect(await world.events.all({ type: "email.suppressed" })).toMatchObject([{ emailId: sent.id, to: "ada@example.com" }]);
    const refused = await ask(world, { path: "/api/v1/send", body: { ...hello, to: "ada@example.com", cc: "Ada@example.com" } });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: "recipient_suppressed", details: [{ path: "to" }] } });
  });

  test("names a recipient who is given twice once: to before cc before bcc", async () => {
    await using world = await createWorld();
    const sent = await world.sdk.emails.send({
      ...hello,
      to: ["ada@example.com", "ADA@example.com"],
      cc: ["Ada <ada@example.com>", "bob@example.com"],
      bcc: ["bob@example.com", "carol@example.com"],
    });
    expect(sent.recipients.map(({ email, kind }) => `${kind} ${email}`)).toEqual([
      "to ada@example.com",
      "cc bob@example.com",
      "bcc carol@example.com",
    ]);
    expect(await world.inbox.all()).toHaveLength(3);
  });

  test("waits for its time as a whole: it is moved, and cancelled, for all", async () => {
    await using world = await createWorld();
    const { id, recipients } = await world.sdk.emails.send({ ...party, scheduledAt: "2026-01-02T00:00:00Z" });
    const moved = await world.sdk.emails.reschedule(recipients[1]?.id ?? "", { scheduledAt: "2026-01-03T00:00:00Z" });
    expect(moved).toMatchObject({ id, status: "queued", scheduledAt: "2026-01-03T00:00:00.000Z" });
    await world.clock.advance("36h");
    expect(await world.inbox.all()).toEqual([]);
    await world.clock.advance("24h");
    expect(await world.inbox.all()).toHaveLength(4);

    const other = await world.sdk.emails.send({ ...party, scheduledAt: "2026-02-02T00:00:00Z" });
    const cancelled = await world.sdk.emails.cancel(other.id);
    expect([cancelled.status, ...cancelled.recipients.map(({ status }) => status)]).toEqual(Array(5).fill("cancelled"));
    expect(await world.sdk.emails.cancel(other.id)).toEqual(cancelled);
    expect((await world.sdk.jobs.list({ state: "ready" })).data).toEqual([]);
    await world.clock.advance("60d");
    expect(await world.inbox.all()).toHaveLength(4);
    await expect(world.sdk.emails.cancel(id)).rejects.toMatchObject({ code: "invalid_state" });
  });

  test("has events that name the mail and the recipient, and are found by both", async () => {
    await using world = await createWorld();
    const { id, recipients } = await world.sdk.emails.send(party);
    const dan = recipients[3]?.id ?? "";
    const all = await world.events.all({ type: "email.delivered" });
    expect(new Set(all.map(({ emailId }) => emailId))).toEqual(new Set([id]));
    expect(all.map(({ recipient }) => recipient?.email).sort()).toEqual(recipients.map(({ email }) => email).sort());
    expect(await world.events.all({ email: id })).toHaveLength(12);
    expect(await world.events.all({ email: dan })).toMatchObject([
      { type: "email.queued", recipient: { id: dan, email: "dan@example.com", kind: "bcc" } },
      { type: "email.sent" },
      { type: "email.delivered" },
    ]);
    expect((await world.sdk.events.list({ email: id, after: 0 })).data).toHaveLength(12);
  });

  test("keeps the answer of a list without together: a mail for each", async () => {
    await using world = await createWorld();
    const each = await world.sdk.emails.send({ ...hello, to: ["Ada <ada@example.com>", "bob@example.com"] });
    expect(each).toEqual({ ids: [expect.any(String), expect.any(String)], status: "queued", count: 2 });
    const mails = await world.inbox.all();
    const raws = await Promise.all(mails.map(({ id }) => world.sdk.inbox.raw(id)));
    expect(raws.map((raw) => /^To: .*/m.exec(raw)?.[0]?.trim()).sort()).toEqual(["To: Ada <ada@example.com>", "To: bob@example.com"]);
    const together = await world.sdk.emails.send({ ...hello, to: ["ada@example.com", "bob@example.com"], together: true });
    expect(together.recipients).toHaveLength(2);
    const alone = await world.sdk.emails.send({ ...hello, to: "ada@example.com", together: true });
    expect(alone.recipients).toEqual([{ id: alone.id, email: "ada@example.com", kind: "to", status: "queued" }]);
  });

  test("shows a recipient by bcc to nobody but the workspace that sent it", async () => {
    const peer = await smtpPeer();
    await using world = await createWorld();
    await using sending = await createWorld({ mailer: smtpMailer({ url: `smtp://127.0.0.1:${peer.port}`, time: realTime }) });
    const html = '<p>See <a href="https://acme.test/">you</a>. <a href="{{unsubscribeUrl}}">No more</a></p>';
    const { id: templateId } = await world.sdk.templates.create({ name: "Minutes", slug: "minutes", subject: "Minutes", html });
    await world.sdk.templates.publish(templateId);
    const secret = {
      to: ["Ada <ada@example.com>", "bob@example.com"],
      cc: "carol@example.com",
      bcc: '"Unseen Person" <unseen@example.com>',
    };
    const { id } = await world.sdk.templates.send("minutes", { from: hello.from, ...secret, tracking: { opens: true, clicks: true } });
    await sending.sdk.emails.send({ ...hello, ...secret, html: "<p>x</p>" });
    await world.clock.advance("1h");
    await sending.settle();

    const outputs = peer.mails.map(({ raw }) => Buffer.from(raw).toString("latin1"));
    expect(outputs).toHaveLength(4);
    for (const { id: mailId, to } of await world.inbox.all()) {
      const raw = await world.sdk.inbox.raw(mailId);
      const mail = await world.inbox.get(mailId);
      outputs.push(raw, JSON.stringify(mail.headers), mail.html ?? "", mail.text ?? "");
      if (to === "unseen@example.com") continue;
      outputs.push(JSON.stringify(mail), JSON.stringify(await world.sdk.people.get(to)));
      for (const link of mail.links) {
        const page = await world.fetch(link, { redirect: "manual" });
        outputs.push(JSON.stringify([...page.headers]), await page.text());
      }
    }
    expect(outputs.length).toBeGreaterThan(4 + 4 * 4 + 3 * 4);
    expect(outputs.filter((text) => /unseen|^bcc:/im.test(text))).toEqual([]);
    expect((await world.sdk.emails.get(id)).recipients.at(-1)).toMatchObject({
      email: "unseen@example.com",
      name: "Unseen Person",
      kind: "bcc",
    });
    await peer.close();
  });

  test("of a template is rendered once, so that values for single recipients are refused", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.templates.create({ name: "Hi", slug: "hi", subject: "Hi {{name}}", text: "Hello {{name}}" });
    await world.sdk.templates.publish(id);
    const body = { from: hello.from, to: "ada@example.com", cc: "bob@example.com", variables: { name: "all" } };
    const sent = await world.sdk.templates.send("hi", body);
    expect(sent).toMatchObject({ template: "hi", status: "queued", recipients: [{ kind: "to" }, { kind: "cc" }] });
    expect((await world.inbox.all()).map(({ subject, to }) => `${subject} ${to}`).sort()).toEqual([
      "Hi all ada@example.com",
      "Hi all bob@example.com",
    ]);
    const refused = await ask(world, {
      path: "/api/v1/send/hi",
      body: { ...body, recipientVariables: { "ada@example.com": { name: "Ada" } } },
    });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { details: [{ path: "recipientVariables", code: "one_content" }] } },
    ]);
  });
});
