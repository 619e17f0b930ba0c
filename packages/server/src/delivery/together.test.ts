import { expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { type Postfix, postfixMissing, startPostfix } from "../../test/postfix.ts";
import { ask } from "../../test/scenario.ts";
import { smtpPeer } from "../../test/smtp-peer.ts";
import { findMail } from "../emails/emails.ts";
import { realTime } from "../lib/clock.ts";
import type { Mailer } from "../mail/mailer.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const content = {
  from: "Acme <hello@acme.test>",
  subject: "Minutes",
  text: "See you.",
  html: '<p>See <a href="https://acme.test/">you</a>.</p>',
};

/** One mail to 50 people: 20 by to, 20 by cc, 10 by bcc. The ninth is the one whose mailbox does not exist. */
const people = Array.from({ length: 50 }, (_, i) => (i === 8 ? "nobody@example.com" : `person${i}@example.com`));
const party = { ...content, to: people.slice(0, 20), cc: people.slice(20, 40), bcc: people.slice(40) };

const mailerTo = (port: number): Mailer => smtpMailer({ url: `smtp://127.0.0.1:${port}`, time: realTime });

/** Expects that all got the mail but the one whose mailbox does not exist. */
async function expectOneRefused(world: TestWorld, id: string): Promise<void> {
  const mail = await world.sdk.emails.get(id);
  expect(mail.status).toBe("sent");
  expect(mail.recipients.map(({ email }) => email)).toEqual(people);
  expect(mail.recipients.filter(({ status }) => status !== "sent")).toMatchObject([
    { email: "nobody@example.com", kind: "to", status: "bounced", attempts: 1, lastError: { smtpCode: 550, enhancedCode: "5.1.1" } },
  ]);
  expect((await world.sdk.suppressions.list()).data).toMatchObject([{ email: "nobody@example.com", reason: "bounce" }]);
  expect(await world.events.all({ email: id, type: "email.bounced" })).toMatchObject([
    { emailId: id, recipient: { email: "nobody@example.com", kind: "to" } },
  ]);
  expect((await world.sdk.emails.list({ status: "bounced" })).data.map((one) => one.id)).toEqual([id]);
}

test("one of fifty recipients whom the mail server refuses bounces alone, and each of the others gets the same bytes", async () => {
  const peer = await smtpPeer({
    onRcptTo: ({ address }, _session, done) =>
      done(address === "nobody@example.com" ? Object.assign(new Error("5.1.1 no such user"), { responseCode: 550 }) : null),
  });
  await using world = await createWorld({ mailer: mailerTo(peer.port) });
  const { id } = await world.sdk.emails.send(party);
  await world.settle();
  await expectOneRefused(world, id);
  expect(peer.mails.map(({ to }) => to).sort()).toEqual(people.filter((one) => one !== "nobody@example.com").sort());
  expect(new Set(peer.mails.map(({ raw }) => Buffer.from(raw).toString("latin1"))).size).toBe(1);
  expect((await world.sdk.jobs.list()).data.filter(({ kind }) => kind.startsWith("email."))).toEqual([]);
  await peer.close();
});

const missing = postfixMissing();

test.runIf(missing === null)("so it is with Postfix", async () => {
  const postfix: Postfix = await startPostfix();
  try {
    await using world = await createWorld({ mailer: mailerTo(postfix.port) });
    const { id } = await world.sdk.emails.send(party);
    await world.settle();
    await expectOneRefused(world, id);
    const got = await postfix.delivered(49);
    expect(got.map(({ to }) => to).sort()).toEqual(people.filter((one) => one !== "nobody@example.com").sort());
    expect(new Set(got.map(({ raw }) => Buffer.from(raw).toString("latin1"))).size).toBe(1);
  } finally {
    await postfix.stop();
  }
});

test("a recipient who is deferred is tried again alone, before bulk mail, and keeps the mail open", async () => {
  const mailer = acceptingMailer();
  let busy = true;
  await using world = await createWorld({
    mailer: {
      ...mailer,
      send: async (mail) =>
        busy && mail.envelopeTo === "person7@example.com"
          ? { outcome: "deferred", error: { message: "later", smtpCode: 450, enhancedCode: "4.2.0" } }
          : mailer.send(mail),
    },
  });
  const { id } = await world.sdk.emails.send(party);
  await world.settle();
  const open = await world.sdk.emails.get(id);
  expect(open).toMatchObject({ status: "deferred", lastError: { smtpCode: 450 }, nextAttemptAt: expect.any(String) });
  expect(mailer.mails).toHaveLength(49);
  await expect(world.sdk.emails.reschedule(id, { scheduledAt: "2027-01-01T00:00:00Z" })).rejects.toMatchObject({
    code: "invalid_state",
  });
  busy = false;
  await world.clock.advance("2m");
  expect(mailer.mails).toHaveLength(50);
  expect(await world.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 2, lastError: null, nextAttemptAt: null });
});

test("the next attempt of one recipient of a large mail knows its size, so that few are read at the same time", async () => {
  const mailer = acceptingMailer();
  const failing: Mailer = {
    ...mailer,
    send: async () => ({ outcome: "deferred", error: { message: "later", smtpCode: 450, enhancedCode: "4.2.0" } }),
  };
  await using world = await createWorld({ mailer: failing });
  const { id } = await world.sdk.emails.send({ ...party, text: "x".repeat(100_000) });
  await world.settle();
  const mail = await findMail(world.app.deps.db.read, world.workspaceId, id);
  expect(mail?.emails.map(({ status, bytes }) => [status, bytes])).toEqual(Array(50).fill(["deferred", 100_000 + party.html.length]));
});

test("a mail that is cancelled is cancelled, also if an address of it was suppressed", async () => {
  await using world = await createWorld();
  await world.sdk.suppressions.create({ email: "person1@example.com", reason: "manual" });
  const { id } = await world.sdk.emails.send({ ...party, scheduledAt: "2027-01-01T00:00:00Z" });
  expect(await world.sdk.emails.cancel(id)).toMatchObject({ status: "cancelled" });
});

test("cancelling what is deferred ends it for those who wait, and the mail is what the others got", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.emails.send({ ...content, to: "ada@example.com", cc: "delayed@simulator.mailsvc.test" });
  await world.settle();
  expect((await world.sdk.emails.get(id)).status).toBe("deferred");
  const cancelled = await world.sdk.emails.cancel(id);
  expect([cancelled.status, ...cancelled.recipients.map(({ status }) => status)]).toEqual(["delivered", "delivered", "cancelled"]);
  await world.clock.advance("3d");
  expect((await world.sdk.emails.get(id)).recipients.map(({ status }) => status)).toEqual(["delivered", "cancelled"]);
});

test.each([
  ["cancelling", (world: TestWorld, id: string) => world.sdk.emails.cancel(id), ["sent", "cancelled", "cancelled"]],
  [
    "rescheduling",
    (world: TestWorld, id: string) => world.sdk.emails.reschedule(id, { scheduledAt: "2026-01-20T00:00:00Z" }),
    ["sent", "sent", "queued"],
  ],
] as const)("%s a mail for those who wait leaves the job to one who is in delivery", async (_, change, statuses) => {
  const mailer = acceptingMailer();
  let failing = true;
  await using world = await createWorld({
    mailer: {
      ...mailer,
      send: async (mail) => {
        if (!failing) return mailer.send(mail);
        if (mail.envelopeTo === "ada@example.com") throw new Error("The process dies.");
        return { outcome: "deferred", error: { message: "later", smtpCode: 450, enhancedCode: "4.2.0" } };
      },
    },
  });
  await ask(world, { path: "/api/v1/queue/hold", body: { domain: "slow.example" }, key: world.operatorKey });
  const { id } = await world.sdk.emails.send({
    ...content,
    to: ["ada@example.com", "bob@example.com", "carol@slow.example"],
    together: true,
    scheduledAt: "2026-01-02T00:00:00Z",
  });
  await world.clock.advance("24h");
  const during = await world.sdk.emails.get(id);
  expect(during.recipients.map(({ status }) => status)).toEqual(["sending", "deferred", "queued"]);
  await change(world, id);
  failing = false;
  await world.clock.advance("2d");
  expect((await world.sdk.emails.get(id)).recipients.map(({ status }) => status)).toEqual(statuses);
});

test("a domain that is held keeps back its recipients alone", async () => {
  await using world = await createWorld();
  const operate = (path: string) => ask(world, { path: `/api/v1/queue/${path}`, body: { domain: "slow.example" }, key: world.operatorKey });
  await operate("hold");
  const { id } = await world.sdk.emails.send({ ...content, to: "ada@example.com", cc: "bob@slow.example", bcc: "carol@slow.example" });
  const statuses = async () => {
    await world.settle();
    const { status, recipients } = await world.sdk.emails.get(id);
    return [status, ...recipients.map((one) => one.status)];
  };
  expect(await statuses()).toEqual(["queued", "delivered", "queued", "queued"]);
  await operate("release");
  expect(await statuses()).toEqual(["delivered", "delivered", "delivered", "delivered"]);
});

test("who opens or clicks is known for each recipient, though the rest of the mail is the same", async () => {
  await using world = await createWorld();
  const { id, recipients } = await world.sdk.emails.send({
    ...content,
    to: "ada@example.com",
    bcc: "bob@example.com",
    tracking: { opens: true, clicks: true },
  });
  await world.clock.advance("1h");
  const [bobs] = await world.inbox.all({ to: "bob@example.com" });
  const link = (await world.inbox.get(bobs?.id ?? "")).links[0] ?? "";
  const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
  await world.fetch(link, { redirect: "manual", headers: { "user-agent": browser } });
  await world.clock.advance("1h");
  expect(await world.events.all({ email: id, type: "email.clicked" })).toMatchObject([
    { emailId: id, to: "bob@example.com", recipient: { id: recipients[1]?.id, kind: "bcc" } },
  ]);
});
