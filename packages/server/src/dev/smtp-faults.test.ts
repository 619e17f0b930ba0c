import nodemailer from "nodemailer";
import { describe, expect, test } from "vitest";
import { talkSmtp } from "../../test/smtp-client.ts";
import { HELLO, readId, serve, start, startProduction, submitTo, toLogin } from "../../test/submission.ts";
import type { SubmissionReport } from "../submission/submission.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

describe("a program that submits mail", () => {
  test.each([
    ["connect", 421],
    ["ehlo", 502],
    ["auth", 454],
    ["mail", 451],
    ["rcpt", 452],
    ["data", 451],
    ["end-of-data", 552],
  ] as const)("is refused at %s as often as the rule counts", async (smtp, code) => {
    const { world, port } = await start();
    const { id } = await world.sdk.faults.add({ smtp, code, text: "Not now", count: 1 });
    const refused = await submitTo(port, HELLO, { login: toLogin("secret") });
    expect(refused).toMatch(new RegExp(`^${code} [45]\\.\\d+\\.\\d+ Not now$`));
    expect((await world.sdk.emails.list()).pagination.total).toBe(0);
    expect(readId(await submitTo(port, HELLO, { login: toLogin("secret") }))).toMatch(/^em_/);
    expect((await world.sdk.faults.list()).data).toMatchObject([{ id, hits: 1 }]);
    expect((await world.sdk.emails.list()).pagination.total).toBe(1);
  });

  test("gets the usual enhanced code and text of a code, with the rule that caused it", async () => {
    const { world, port } = await start();
    const { id } = await world.sdk.faults.add({ smtp: "rcpt", code: 550 });
    expect(await submitTo(port, HELLO)).toBe(`550 5.1.1 No such user here (fault rule ${id})`);
  });

  test("is refused by the address of a recipient, a sender or a user only", async () => {
    const { world, port } = await start();
    await world.sdk.faults.add({ smtp: "rcpt", address: "*@Full.example", code: 452, enhancedCode: "4.3.1", text: "Disk full" });
    await world.sdk.faults.add({ smtp: "mail", address: "stranger@*", code: 550 });
    await world.sdk.faults.add({ smtp: "auth", address: "bob", code: 535 });
    expect(await submitTo(port, HELLO, { to: ["ada@full.example"] })).toBe("452 4.3.1 Disk full");
    expect(await submitTo(port, HELLO, { login: toLogin("x", "bob") })).toMatch(/^535 5\.7\.8 /);
    expect(readId(await submitTo(port, HELLO, { login: toLogin("x", "ada") }))).toMatch(/^em_/);
  });

  test("loses its connection, also after the message was stored", async () => {
    const { world, port } = await start();
    const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
    const send = () => transport.sendMail({ ...hello, text: "Hi" });
    await world.sdk.faults.add({ smtp: "end-of-data", drop: true, count: 1 });
    await world.sdk.faults.add({ smtp: "end-of-data", drop: true, when: "after", count: 1 });
    await expect(send()).rejects.toThrow();
    expect((await world.sdk.emails.list()).pagination.total).toBe(0);
    await expect(send()).rejects.toThrow();
    expect((await world.sdk.emails.list()).pagination.total).toBe(1);
    await send();
    transport.close();
  });

  test.each(["connect", "ehlo", "mail", "rcpt", "data"] as const)("loses its connection at %s", async (smtp) => {
    const { world, port } = await start();
    await world.sdk.faults.add({ smtp, drop: true, count: 1 });
    const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
    await expect(transport.sendMail(hello)).rejects.toThrow();
    await transport.sendMail(hello);
    transport.close();
  });

  test("waits as long as a rule says, and goes on", async () => {
    const { world, port } = await start();
    await world.sdk.faults.add({ smtp: "rcpt", delayMs: 40 });
    const since = performance.now();
    expect(readId(await submitTo(port, HELLO))).toMatch(/^em_/);
    expect(performance.now() - since).toBeGreaterThanOrEqual(38);
  });

  test("sees the same share of refusals for the same seed", async () => {
    const run = async (seed: number): Promise<string> => {
      const { world, port } = await start();
      await world.sdk.faults.add({ smtp: "rcpt", code: 452, rate: 0.5, seed });
      const to = Array.from({ length: 20 }, (_, i) => `RCPT TO:<a${i}@example.com>`);
      const replies = await talkSmtp(port, ["EHLO app.example.com", "MAIL FROM:<a@acme.test>", ...to], () => false);
      return replies.map((reply) => reply.slice(0, 3)).join(" ");
    };
    const first = await run(7);
    expect(first).toContain("452");
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
  });

  test("is refused recipients whose name is a code", async () => {
    const { port } = await start();
    expect(await submitTo(port, HELLO, { to: ["550@example.com"] })).toBe("550 5.1.1 No such user here");
    expect(await submitTo(port, HELLO, { to: ["452+a@example.com"] })).toBe("452 4.2.2 Mailbox full");
    expect(readId(await submitTo(port, HELLO, { to: ["350@example.com", "5501@example.com"] }))).toMatch(/^em_/);
  });

  test("reaches such recipients of a server in production", async () => {
    const { world, port, login, mailer } = await startProduction();
    expect(readId(await submitTo(port, HELLO, { login, to: ["550@example.com"] }))).toMatch(/^em_/);
    await world.settle();
    expect(mailer.mails.map(({ envelopeTo }) => envelopeTo)).toEqual(["550@example.com"]);
  });

  test("has its refusals reported", async () => {
    const { world } = await start();
    const reports: SubmissionReport[] = [];
    const { port } = await serve(world, {}, (report) => void reports.push(report));
    await world.sdk.faults.add({ smtp: "data", code: 451, text: "Later" });
    await submitTo(port, HELLO);
    expect(reports).toMatchObject([{ to: ["ada@example.com"], reply: "451 4.7.1 Later" }]);
  });
});

test("a world takes mail over SMTP at a port of its own, which closes with it", async () => {
  await using world = await createWorld();
  const { port } = await world.listenSmtp();
  expect(await world.listenSmtp()).toMatchObject({ port });
  await world.sdk.faults.add({ smtp: "rcpt", code: 452, count: 1 });
  expect(await submitTo(port, HELLO)).toMatch(/^452 4\.2\.2 /);
  expect(readId(await submitTo(port, HELLO))).toMatch(/^em_/);
  expect(await world.inbox.all()).toHaveLength(1);
  await world.dispose();
  expect(await talkSmtp(port, [])).toEqual([""]);
});

describe("a delivery", () => {
  test("is deferred, tried again and delivered", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ smtp: "rcpt", on: "delivery", address: "ada@*", code: 452, count: 1 });
    const { id } = await world.sdk.emails.send(hello);
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "deferred" });
    await world.clock.advance("1h");
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "delivered" });
    const { data } = await world.sdk.events.list({ type: "email.deferred" });
    expect(data).toMatchObject([{ data: { smtpCode: 452, enhancedCode: "4.2.2" } }]);
  });

  test("bounces, and the address is suppressed", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ smtp: "rcpt", on: "delivery", code: 550, count: 1 });
    const { id } = await world.sdk.emails.send(hello);
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "bounced" });
    expect((await world.sdk.suppressions.list()).data).toMatchObject([{ email: "ada@example.com" }]);
  });

  test("bounces for its content without an effect on the address", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ smtp: "end-of-data", on: "delivery", code: 554, enhancedCode: "5.7.1", text: "Looks like spam" });
    const { id } = await world.sdk.emails.send(hello);
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "bounced" });
    expect((await world.sdk.suppressions.list()).data).toEqual([]);
  });

  test.each(["connect", "ehlo", "auth", "mail", "data", "end-of-data"] as const)(
    "is tried again when its connection is cut at %s",
    async (smtp) => {
      await using world = await createWorld();
      await world.sdk.faults.add({ smtp, on: "delivery", drop: true, count: 1 });
      const { id } = await world.sdk.emails.send(hello);
      await world.settle();
      expect(await world.sdk.emails.get(id)).toMatchObject({ status: "deferred" });
      await world.clock.advance("1h");
      expect(await world.sdk.emails.get(id)).toMatchObject({ status: "delivered" });
    },
  );

  test("is refused for recipients whose name is a code", async () => {
    await using world = await createWorld();
    const bounced = await world.sdk.emails.send({ ...hello, to: "550@example.com" });
    const deferred = await world.sdk.emails.send({ ...hello, to: "452+inbox@example.com" });
    await world.settle();
    expect(await world.sdk.emails.get(bounced.id)).toMatchObject({ status: "bounced" });
    expect(await world.sdk.emails.get(deferred.id)).toMatchObject({ status: "deferred" });
  });

  test("of a relay fails by the same rules", async () => {
    const { world, login, port } = await startProduction({ dev: true });
    await world.sdk.faults.add({ smtp: "rcpt", on: "delivery", code: 450, count: 1 });
    const id = readId(await submitTo(port, HELLO, { login }));
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "deferred" });
  });
});

test.each([
  [{ smtp: "rcpt", code: "queue_failed" }, "code"],
  [{ code: 452 }, "code"],
  [{ drop: true, address: "a@b.example" }, "address"],
  [{ smtp: "connect", address: "a@b.example", drop: true }, "address"],
  [{ smtp: "rcpt", code: 452, when: "after" }, "when"],
  [{ smtp: "rcpt", code: 452, enhancedCode: "5.1.1" }, "enhancedCode"],
  [{ smtp: "rcpt", text: "no", drop: true }, "code"],
  [{ smtp: "rcpt", code: 452, text: "two\r\nlines" }, "text"],
  [{ smtp: "rcpt", code: 250 }, "code"],
  [{ smtp: "rcpt", code: 452, path: "/api/*" }, "path"],
] as const)("%o is refused by its field %s", async (rule, path) => {
  await using world = await createWorld();
  await expect(world.sdk.faults.add(rule as never)).rejects.toMatchObject({ code: "validation_error", details: [{ path }] });
});
