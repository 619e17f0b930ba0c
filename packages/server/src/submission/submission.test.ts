import { generateKeyPairSync } from "node:crypto";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { Mailsvc } from "@mailsvc/sdk";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import nodemailer from "nodemailer";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../../test/certificates.ts";
import { talkSmtp } from "../../test/smtp-client.ts";
import { HELLO, readId, serve, start, startProduction, submitTo, toLogin } from "../../test/submission.ts";
import { dkimSigner, toPublicKey } from "../mail/dkim.ts";
import { createSubmissionAccess } from "../submission-access.ts";
import { readMessage } from "./message.ts";
import type { SubmissionReport } from "./submission.ts";

describe("a program that changed its port", () => {
  test("sends invitations with nodemailer, which arrive as it composed them", async () => {
    const { world, port } = await start();
    const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
    const content = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Größe\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    const mail = { from: "hello@acme.example", to: "ada@example.com", subject: "Review", text: "Hi", html: "<b>Hi</b>" };
    await transport.sendMail({ ...mail, icalEvent: { method: "request", filename: "review.ics", content } });
    await world.settle();
    const captured = await world.inbox.waitFor({ to: "ada@example.com" });
    expect(captured).toMatchObject({
      text: "Hi\n",
      icalEvent: { method: "REQUEST", summary: "Größe", content: content.replaceAll("\r\n", "\n") },
      attachments: [{ filename: "review.ics" }],
    });
    expect(await world.sdk.inbox.raw(captured.id)).toMatch(/Content-Type: text\/calendar; charset=utf-8; method=REQUEST\r\n/);
    // One without the file as well.
    const alternatives = [{ contentType: "text/calendar; charset=utf-8; method=CANCEL", content: content.replace("REQUEST", "CANCEL") }];
    await transport.sendMail({ ...mail, to: "bob@example.com", alternatives });
    await world.settle();
    expect(await world.inbox.waitFor({ to: "bob@example.com" })).toMatchObject({
      icalEvent: { method: "CANCEL" },
      attachments: [{ filename: "invite.ics", contentType: "text/calendar" }],
    });
  });

  test("sends with nodemailer, whose message arrives as it composed it", async () => {
    const { world, port } = await start();
    const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
    const info = await transport.sendMail({
      from: "Acmé <hello@acme.example>",
      to: ["Ada Lövelace <ada@example.com>", "bob@example.com"],
      cc: "carol@example.com",
      bcc: "dan@example.com",
      subject: "Grüße",
      text: "Hi",
      html: "<b>Hi</b>",
      attachments: [{ filename: "a.txt", content: "file" }],
      headers: { "X-Entity-Ref-ID": "7", "List-Id": "<news.acme.example>" },
    });
    await world.settle();
    const mail = await world.sdk.emails.get(readId(`250 ${info.response.slice(4)}`));
    expect(mail).toMatchObject({
      status: "delivered",
      subject: "Grüße",
      from: '"Acmé" <hello@acme.example>',
      text: "Hi\n",
      html: "<b>Hi</b>\n",
      messageId: info.messageId,
      attachments: [{ filename: "message.eml", contentType: "message/rfc822" }],
    });
    expect(mail.recipients.map(({ email, kind, name }) => [email, kind, name])).toEqual([
      ["ada@example.com", "to", "Ada Lövelace"],
      ["bob@example.com", "to", null],
      ["carol@example.com", "cc", null],
      ["dan@example.com", "bcc", null],
    ]);
    const captured = await world.inbox.waitFor({ to: "dan@example.com" });
    expect(captured).toMatchObject({ subject: "Grüße", text: "Hi\n", html: "<b>Hi</b>\n" });
    expect(captured.attachments).toMatchObject([{ filename: "a.txt" }]);
    const names = captured.headers.map(({ name }) => name.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(["x-entity-ref-id", "list-id", "message-id", "date", "received"]));
    expect(names).not.toContain("bcc");
    transport.close();
  });

  test("may use any login, or one that picks a workspace", async () => {
    const { world, port } = await start();
    const id = readId(await submitTo(port, HELLO, { login: toLogin("secret", "shop+run7") }));
    expect(id).toMatch(/^em_/);
    expect(readId(await submitTo(port, HELLO, { login: toLogin("secret", "shop+run7@example.com") }))).toMatch(/^em_/);
    expect(readId(await submitTo(port, HELLO, { login: toLogin("secret") }))).toMatch(/^em_/);
    await world.settle();
    expect((await world.sdk.inbox.list({ workspace: "run7" })).data).toHaveLength(2);
    expect((await world.sdk.inbox.list({ workspace: world.workspaceId })).data).toHaveLength(1);
    await expect(world.sdk.emails.get(id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("of another machine needs a key as soon as mail can leave", async () => {
    const { deps, installation } = (await start()).world.app;
    const access = createSubmissionAccess(deps, installation);
    expect(access.anonymous("10.0.0.7")).not.toBeNull();
    const sending = await start({ flags: { "smtp-url": "smtp://127.0.0.1:9" } });
    const guarded = createSubmissionAccess(sending.world.app.deps, sending.world.app.installation);
    expect(guarded.anonymous("127.0.0.1")).not.toBeNull();
    expect(guarded.anonymous("10.0.0.7")).toBeNull();
    const login = { user: "anybody", password: "secret", address: "10.0.0.7" };
    await expect(guarded.logIn(login)).rejects.toMatchObject({ code: "unauthorized" });
    expect(await guarded.logIn({ ...login, password: sending.world.apiKey })).toMatchObject({ workspaceId: sending.world.workspaceId });
  });

  test("needs a verified sender, and on another machine a key, as soon as a relay is added", async () => {
    const { world, port } = await start();
    const stranger = HELLO.replace("hello@acme.example", "any@somewhere.org");
    expect(readId(await submitTo(port, stranger))).toMatch(/^em_/);
    const access = createSubmissionAccess(world.app.deps, world.app.installation);
    const submitter = access.anonymous("10.0.0.7");
    if (submitter === null) throw new Error("Nobody may submit.");
    await access.admit(submitter, "10.0.0.7");
    const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
    await operator.relays.add({ name: "default", host: "127.0.0.1", port: 9 });
    expect(await submitTo(port, stranger)).toMatch(
      /^550 5\.7\.1 Neither any@somewhere\.org nor the domain somewhere\.org is a verified sender/,
    );
    expect(readId(await submitTo(port, HELLO))).toMatch(/^em_/);
    await expect(access.admit(submitter, "10.0.0.7")).rejects.toMatchObject({ code: "unauthorized" });
    await access.admit(submitter, "127.0.0.1");
    await operator.relays.remove("default");
    expect(readId(await submitTo(port, stranger))).toMatch(/^em_/);
  });

  test("may send what has no headers, and from any address", async () => {
    const { world, port } = await start();
    const message = "Hello world\r\n";
    const id = readId(await submitTo(port, message));
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({ from: "hello@acme.example", subject: "", status: "delivered" });
    expect(await world.inbox.waitFor({ to: "ada@example.com" })).toMatchObject({ text: "Hello world\n", from: "hello@acme.example" });
    expect(readId(await submitTo(port, HELLO.replace("hello@acme.example", "any@somewhere.org")))).toMatch(/^em_/);
  });
});

describe("addresses of local hosts, as frameworks have them by default", () => {
  const LOCAL = "From: webmaster@localhost\r\nTo: Root <root@localhost>, cron@[127.0.0.1]\r\nSubject: Broken\r\n\r\nHi\r\n";
  const envelope = ["MAIL FROM:<root@localhost>", "RCPT TO:<root@localhost>", "RCPT TO:<cron@[127.0.0.1]>"];

  test("are taken while mail is captured, and found by", async () => {
    const { world, port } = await start();
    const replies = await talkSmtp(port, ["EHLO app", ...envelope, "RCPT TO:<ops@host7>", "DATA", Buffer.from(`${LOCAL}.\r\n`)]);
    const id = readId(replies.at(-1) ?? "");
    expect(await world.inbox.waitFor({ to: "root@localhost" })).toMatchObject({ from: "webmaster@localhost", subject: "Broken" });
    await world.settle();
    const mail = await world.sdk.emails.get(id);
    expect(mail).toMatchObject({ from: "webmaster@localhost", status: "delivered", messageId: expect.stringContaining("@localhost>") });
    expect(mail.recipients.map(({ email, name, kind }) => [email, name, kind])).toEqual([
      ["root@localhost", "Root", "to"],
      ["cron@[127.0.0.1]", null, "to"],
      ["ops@host7", null, "bcc"],
    ]);
    const ids = (page: { data: readonly { id: string }[] }): string[] => page.data.map((one) => one.id);
    expect(ids(await world.sdk.emails.list({ to: "Root@LOCALHOST", from: "webmaster@localhost" }))).toEqual([id]);
    expect((await world.sdk.events.list({ to: "cron@[127.0.0.1]", type: "email.delivered" })).data).toMatchObject([
      { to: "cron@[127.0.0.1]" },
    ]);
    expect(await world.sdk.explanations.get(id, { recipient: "root@localhost" })).toMatchObject({ status: "delivered" });
    const [captured] = (await world.sdk.inbox.list({ to: "root@localhost" })).data;
    await world.sdk.inbox.report(captured?.id ?? "", { outcome: "bounced" });
    await world.settle();
    expect((await world.sdk.suppressions.list({ email: "root@localhost" })).data).toHaveLength(1);
    await world.sdk.people.erase("root@localhost");
    expect((await world.sdk.inbox.raw(captured?.id ?? "").catch(() => "")).toLowerCase()).not.toContain("root@localhost");
  });

  test("are refused as soon as mail can leave, and in production", async () => {
    const { world, port } = await start();
    const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
    await operator.relays.add({ name: "default", host: "127.0.0.1", port: 9 });
    expect(await submitTo(port, HELLO, { to: ["root@localhost"] })).toMatch(/^550 5\.6\.0 "localhost" has no dot/);
    expect(await submitTo(port, LOCAL)).toMatch(/^550 5\.6\.0 The From header cannot be used: "localhost" has no dot/);
    await expect(world.sdk.emails.send({ from: "a@localhost", to: "ada@example.com", subject: "Hi", text: "Hi" })).rejects.toMatchObject({
      code: "validation_error",
    });
    const production = await startProduction();
    expect((await talkSmtp(production.port, ["EHLO app", production.login, ...envelope])).slice(-2)).toEqual([
      expect.stringMatching(/^550 5\.6\.0 "localhost" has no dot/),
      expect.stringMatching(/^550 5\.6\.0 "\[127\.0\.0\.1\]" is not a domain name/),
    ]);
    expect(await submitTo(production.port, LOCAL, { login: production.login })).toMatch(/^550 5\.6\.0 The From header cannot be used/);
  });
});

describe("a key", () => {
  test("is the password, by PLAIN and LOGIN", async () => {
    const { world, port, login, mailer } = await startProduction();
    expect(await submitTo(port, HELLO)).toBe("530 5.7.0 Log in first: any user name, and an API key as password");
    const id = readId(await submitTo(port, HELLO, { login }));
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const replies = await talkSmtp(port, ["EHLO app", "AUTH LOGIN", base64("user"), base64(world.apiKey)]);
    expect(replies.at(-1)).toMatch(/^235 /);
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "sent" });
    expect(Buffer.from(mailer.mails[0]?.message ?? []).toString()).toMatch(
      /^Received: by localhost \(mailsvc\) with ESMTPA;\r\n\t.*\r\nFrom: Acme <hello@acme.example>\r\n/,
    );
    expect((await talkSmtp(port, ["EHLO app", "AUTH CRAM-MD5"])).at(-1)).toMatch(/^504 /);
  });

  test("that is wrong, revoked or may not send is refused, and the third failure ends the connection", async () => {
    const { world, port } = await startProduction();
    const wrong = toLogin("ms_live_wrong");
    const replies = await talkSmtp(port, ["EHLO app", wrong, wrong, wrong]);
    expect(replies.slice(-3).map((reply) => reply.slice(0, 9))).toEqual(["535 5.7.8", "535 5.7.8", "421 4.7.0"]);
    const reader = await world.sdk.keys.create({ name: "reader", permissions: ["transactional:read"] });
    expect((await talkSmtp(port, ["EHLO app", toLogin(reader.key)])).at(-1)).toContain(
      "550 5.7.1 This API key lacks the permission transactional:send.",
    );
    expect((await talkSmtp(port, ["EHLO app", toLogin(world.operatorKey)])).at(-1)).toMatch(/^535 /);
  });

  test("that is revoked ends its connections", async () => {
    const { world, port } = await startProduction();
    const made = await world.sdk.keys.create({ name: "app", permissions: ["transactional:send"] });
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const ended = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    const loggedIn = new Promise<void>((resolve) =>
      socket.on("data", (chunk) => {
        text += chunk;
        if (text.includes("235 ")) resolve();
      }),
    );
    socket.write(`EHLO app\r\n${toLogin(made.key)}\r\n`);
    await loggedIn;
    await world.sdk.keys.revoke(made.id);
    await ended;
    expect(text).toContain("421 4.7.0 This API key was revoked");
  });

  test("for tests has its mail captured, with an id of test mail", async () => {
    const { world, port, mailer } = await startProduction();
    const key = await world.sdk.keys.create({ name: "ci", test: true, permissions: ["transactional:send"] });
    const id = readId(await submitTo(port, HELLO, { login: toLogin(key.key) }));
    expect(id).toMatch(/^em_t/);
    await world.settle();
    expect((await world.sdk.testInbox.list()).data).toMatchObject([{ emailId: id, subject: "Hello" }]);
    expect(mailer.mails).toEqual([]);
  });
});

describe("what the API refuses is refused here, with the hint in the text", () => {
  test("a sender that is not verified, a suppressed recipient, a rate that is used up", async () => {
    const { world, port, login } = await startProduction({ flags: { "rate-limit": "send=3/s" } });
    expect(await submitTo(port, HELLO.replace("hello@acme.example", "me@other.example"), { login })).toBe(
      "550 5.7.1 Neither me@other.example nor the domain other.example is a verified sender of this workspace. Add and verify it: mailsvc senders create --email me@other.example",
    );
    await world.sdk.suppressions.create({ email: "ada@example.com", reason: "manual" });
    expect(await submitTo(port, HELLO, { login })).toMatch(
      /^550 5\.7\.1 This recipient is on the suppression list\. .* X-Mailsvc-Bypass-Unsubscribe: yes reaches people who unsubscribed$/,
    );
    const id = readId(await submitTo(port, HELLO, { login, to: ["ada@example.com", "bob@example.com"] }));
    expect((await world.sdk.emails.get(id)).recipients.map(({ status }) => status).sort()).toEqual(["queued", "suppressed"]);
    expect(await submitTo(port, HELLO, { login })).toMatch(/^450 4\.7\.1 Too many requests\..* Try again in \d+ s\.$/);
  });

  test("a storage that takes nothing", async () => {
    const { world, port, login } = await startProduction();
    world.app.deps.storage.lowDisk = "The disk is nearly full.";
    expect(await submitTo(port, HELLO, { login })).toBe("451 4.3.0 The disk is nearly full. Nothing was stored. Try again in 30 s.");
    world.app.deps.storage.lowDisk = null;
    expect(readId(await submitTo(port, HELLO, { login }))).toMatch(/^em_/);
  });

  test("recipients beyond the thousand that a message may have, each of which is told, and then the message", async () => {
    const { world } = await start();
    const reports: SubmissionReport[] = [];
    const { port } = await serve(world, {}, (report) => void reports.push(report));
    const to = Array.from({ length: 1002 }, (_, i) => `a${i}@example.com`);
    const envelope = ["MAIL FROM:<hello@acme.example>", ...[...to, "A7@example.com"].map((one) => `RCPT TO:<${one}>`), "DATA"];
    const replies = await talkSmtp(port, ["EHLO app.example.com", ...envelope, `${HELLO}.`]);
    // The greeting and the replies to EHLO and MAIL FROM come first. An address that was named before is no further one.
    expect(replies.slice(3, -2).map((one) => one.slice(0, 9))).toEqual([
      ...Array<string>(1000).fill("250 2.1.5"),
      ...["452 4.5.3", "452 4.5.3", "250 2.1.5"],
    ]);
    // Programs that do not look at the replies to single recipients see this one.
    expect(replies.at(-1)).toMatch(/^452 4\.5\.3 /);
    expect((await world.sdk.emails.list()).data).toEqual([]);
    expect(reports).toEqual([
      { from: "hello@acme.example", to: ["a1000@example.com"], size: null, reply: expect.stringMatching(/^452 4\.5\.3 /) },
      { from: "hello@acme.example", to: ["a1001@example.com"], size: null, reply: expect.stringMatching(/^452 4\.5\.3 /) },
      { from: "hello@acme.example", to: to.slice(0, 1000).with(7, "A7@example.com"), size: expect.any(Number), reply: replies.at(-1) },
    ]);
  });

  test("EXPN is not implemented, and VRFY tells nothing", async () => {
    const { port } = await start();
    const replies = await talkSmtp(port, ["EHLO app", "EXPN staff", "VRFY ada@example.com"]);
    expect(replies.slice(-2)).toEqual([expect.stringMatching(/^502 5\.5\.1 /), expect.stringMatching(/^252 /)]);
  });

  test("too many recipients, a message that is too large, an address that is none", async () => {
    const { port } = await start({ flags: { "max-body": "1" } });
    const to = Array.from({ length: 1001 }, (_, i) => `a${i}@example.com`);
    expect(await submitTo(port, HELLO, { to })).toMatch(/^452 4\.5\.3 /);
    // A program that does not look at single replies learns it from the one to the message.
    const dialogue = ["EHLO app", "MAIL FROM:<hello@acme.example>", ...to.map((one) => `RCPT TO:<${one}>`), "DATA", `${HELLO}.`];
    expect((await talkSmtp(port, dialogue)).at(-1)).toMatch(/^452 4\.5\.3 /);
    expect(await submitTo(port, HELLO, { to: ["a..b@example.com"] })).toMatch(/^5/);
    expect((await talkSmtp(port, ["EHLO app", "MAIL FROM:<a@acme.example> SIZE=9999999"])).at(-1)).toMatch(/^552 /);
    expect(await submitTo(port, `${HELLO}${`${"x".repeat(900)}\r\n`.repeat(1300)}`)).toMatch(/^552 5\.3\.4 /);
  });
});

test("a message goes to a thousand recipients, as one mail", async () => {
  const { world, port } = await start();
  const to = Array.from({ length: 1000 }, (_, i) => `a${i}@example.com`);
  const id = readId(await submitTo(port, HELLO, { to }));
  const { recipients } = await world.sdk.emails.get(id);
  expect(recipients).toHaveLength(1000);
});

test("recipients that were refused one by one, while others were taken, are told by why", async () => {
  const { world, port, login } = await startProduction();
  const named = ["ada@example.com", "bob@localhost", "root@host7"].map((one) => `RCPT TO:<${one}>`);
  const replies = await talkSmtp(port, ["EHLO app", login, "MAIL FROM:<hello@acme.example>", ...named, "DATA", `${HELLO}.`]);
  expect(replies.slice(-5, -2)).toEqual([expect.stringMatching(/^250 /), expect.stringMatching(/^5/), expect.stringMatching(/^5/)]);
  const [accepted] = (await world.sdk.explanations.get(readId(replies.at(-1) ?? ""))).timeline;
  expect(accepted?.what).toBe("Accepted; 2 other recipients of the message were refused over SMTP");
  const [whole] = (await world.sdk.explanations.get(readId(await submitTo(port, HELLO, { login })))).timeline;
  expect(whole?.what).toBe("Accepted");
});

test("parameters of extensions that are not announced are refused, and a quoted local part may have a blank", async () => {
  const { port } = await start();
  const last = async (...lines: string[]) => (await talkSmtp(port, ["EHLO app", ...lines])).at(-1);
  for (const parameter of ["FOO=BAR", "RET=HDRS", "ENVID=1"])
    expect(await last(`MAIL FROM:<a@acme.example> ${parameter}`)).toMatch(/^555 5\.5\.4 /);
  expect(await last("MAIL FROM:<a@acme.example> SIZE=100 BODY=8BITMIME SMTPUTF8 AUTH=<>")).toMatch(/^250 /);
  expect(await last("MAIL FROM:<a@acme.example>", "RCPT TO:<b@example.com> NOTIFY=SUCCESS")).toMatch(/^555 5\.5\.4 /);
  expect(await last("MAIL FROM:<a@acme.example>", 'RCPT TO:<"odd one"@example.com>')).toMatch(/^250 /);
});

describe("what could smuggle a second message in, or breaks mail on its way, is refused", () => {
  test.each([
    ["a dot between bare carriage returns", "\r.\rMAIL FROM:<x@y.example>\r\n", "CR without LF"],
    ["a dot before a bare carriage return", "\r\n.\rMAIL FROM:<x@y.example>\r\n", "CR without LF"],
    ["a NUL byte", "a\0b\r\n", "NUL byte"],
  ])("%s", async (_name, body, fault) => {
    const { world, port, login } = await startProduction();
    expect(await submitTo(port, Buffer.from(HELLO + body), { login })).toMatch(new RegExp(`^550 5\\.6\\.0 .*${fault}`));
    expect((await world.sdk.emails.list()).data).toEqual([]);
  });

  test("and while mail is captured too, but for long lines, which stay as they are", async () => {
    const { world, port } = await start();
    expect(await submitTo(port, Buffer.from(`${HELLO}\r.\r\r\n`))).toMatch(/^550 5\.6\.0 .*CR without LF/);
    const line = `<p>${"word ".repeat(1000)}</p>`;
    expect(readId(await submitTo(port, HELLO.replace("\r\n\r\n", "\r\nContent-Type: text/html\r\n\r\n").replace("Hi Ada", line)))).toMatch(
      /^em_/,
    );
    expect(await world.inbox.waitFor({ to: "ada@example.com" })).toMatchObject({ html: `${line}\n` });
  });

  test("headers without end, and mail in a circle", async () => {
    const { port } = await start();
    expect(await submitTo(port, `${"X-A: b\r\n".repeat(20_000)}${HELLO}`)).toMatch(/^550 5\.6\.0 The headers take more than 128 KB/);
    expect(await submitTo(port, `${"Received: by a\r\n".repeat(101)}${HELLO}`)).toContain("it goes in a circle");
  });
});

test("a message of headers only is signed with all of them", async () => {
  const { bytes } = await readMessage(Buffer.from("From: a@acme.example\r\nSubject: Hi\r\n"), {
    ...{ from: "a@acme.example", recipients: [], protocol: "ESMTP", by: "localhost", at: 0, captured: false },
  });
  expect(bytes.toString()).toMatch(/\r\nSubject: Hi\r\n\r\n$/);
  const privateKey = String(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
  const signature = await dkimSigner([{ domain: "acme.example", selector: "s", privateKey, workspaces: null }])(
    "acme.example",
    bytes,
    null,
  );
  const { type, key } = toPublicKey({ privateKey });
  const verify = async (message: string | Buffer) => {
    const resolver = async (name: string) => (name === "s._domainkey.acme.example" ? [[`v=DKIM1; k=${type}; p=${key}`]] : []);
    const { results } = await dkimVerify(Readable.from([Buffer.from(message as string)]), { resolver });
    return results.map(({ status, signingHeaders }) => [status.result, signingHeaders?.keys]);
  };
  const signed = Buffer.concat([signature, bytes]);
  expect(await verify(signed)).toEqual([["pass", "Subject: From"]]);
  const text = signed.toString();
  for (const altered of [
    text.replace("Subject: Hi", "Subject: Money"),
    text.replace("Subject:", "Reply-To: eve@evil.example\r\nSubject:"),
    `${text}Hi\r\n`,
  ])
    expect([altered, (await verify(altered)).map(([result]) => result === "pass")]).toEqual([altered, [false]]);
});

describe("a message goes through untouched", () => {
  test.each([
    [
      "that is signed",
      'Content-Type: multipart/signed; boundary="b"; protocol="application/pkcs7-signature"\r\n\r\n--b\r\n\r\nText \t\r\n--b--\r\n',
    ],
    ["without a text", "Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0=\r\n"],
    ["with lines that begin with dots", "\r\n.\r\n..\r\n.hidden\r\n"],
    ["in eight bits", "Content-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n"],
  ])("%s", async (_name, rest) => {
    const { port, world, login, mailer } = await startProduction();
    const head =
      "From: hello@acme.example\r\nTo: ada@example.com\r\nMessage-ID: <1@acme.example>\r\nDate: Thu, 01 Jan 2026 00:00:00 +0000\r\n";
    const message = head + rest;
    const stuffed = message.replace(/^\./gm, "..");
    expect(readId(await submitTo(port, Buffer.from(stuffed), { login }))).toMatch(/^em_/);
    await world.settle();
    const sent = Buffer.from(mailer.mails[0]?.message ?? []).toString();
    expect(sent.slice(sent.indexOf("From: "))).toBe(message);
  });

  test("of several megabytes", async () => {
    const { world, port } = await start();
    const line = `${"y".repeat(76)}\r\n`;
    const message = `${HELLO}${line.repeat(40_000)}`;
    const id = readId(await submitTo(port, message));
    await world.settle();
    const [captured] = (await world.sdk.inbox.list()).data;
    expect(captured).toMatchObject({ emailId: id });
    expect((await world.sdk.inbox.raw(captured?.id ?? "")).endsWith(message)).toBe(true);
  });
});

describe("TLS", () => {
  test("is offered by STARTTLS, and forgets what came before", async () => {
    const { key, cert } = selfSigned(["mail.acme.test"]);
    const { world } = await startProduction();
    const tls = { current: { key, cert }, renew: () => null };
    const { port } = await serve(world, { tls });
    const transport = nodemailer.createTransport({
      ...{ host: "127.0.0.1", port, requireTLS: true },
      auth: { user: "any", pass: world.apiKey },
      tls: { ca: cert, servername: "mail.acme.test" },
    });
    expect((await transport.sendMail({ from: "hello@acme.example", to: "ada@example.com", text: "Hi" })).response).toMatch(
      /^250 2\.0\.0 queued/,
    );
    transport.close();
    const implicit = await serve(world, { tls, implicitTls: true });
    const socket = connectTls({ port: implicit.port, ca: cert, servername: "mail.acme.test" });
    const greeting = await new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
    expect(greeting).toMatch(/^220 localhost ESMTP/);
    socket.destroy();
  });
});

test("the extensions that clients need are offered, and DSN, which is not done, is not", async () => {
  const { port } = await startProduction();
  const [, offer = ""] = await talkSmtp(port, ["EHLO app"]);
  for (const extension of ["PIPELINING", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES", "AUTH PLAIN LOGIN", "SIZE 31457280"])
    expect(offer).toContain(extension);
  for (const other of ["DSN", "STARTTLS", "CRAM-MD5"]) expect(offer).not.toContain(other);
});

test("a connection is used again, and RSET forgets a message", async () => {
  const { world, port } = await start();
  const message = Buffer.from(`${HELLO}.\r\n`);
  const once = ["MAIL FROM:<hello@acme.example>", "RCPT TO:<ada@example.com>", "DATA", message];
  const replies = await talkSmtp(port, ["EHLO app", ...once, "MAIL FROM:<a@acme.example>", "RSET", ...once]);
  expect(replies.filter((reply) => reply.includes("queued as"))).toHaveLength(2);
  expect((await world.sdk.emails.list()).data).toHaveLength(2);
});

test("a connection without a login ends after its time", async () => {
  const { world } = await startProduction();
  const { port } = await serve(world, { loginMs: 50 });
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await new Promise<void>((resolve) => socket.on("close", () => resolve()));
  expect(text).toContain("421 4.7.0 Too long without a login");
});

test("a person who is erased is named no more in a message that others got too", async () => {
  const { world, port } = await start();
  const to = "To: =?utf-8?q?Zo=C3=AB?= <zoe@example.com>, Ada <ada@example.com>";
  const message = `${HELLO.replace("To: ada@example.com", to)}`;
  const id = readId(await submitTo(port, message, { to: ["ada@example.com", "zoe@example.com"] }));
  await world.settle();
  await world.sdk.people.erase("ada@example.com");
  await world.settle();
  const { read } = world.app.deps.db;
  const [stored] = await read.select().from(read.t.attachments);
  const text = Buffer.from(stored?.content ?? []).toString();
  expect(text).toContain("zoe@example.com");
  expect(text.toLowerCase()).not.toContain("ada@example.com");
  expect(stored?.size).toBe(stored?.content.length);
  expect((await world.sdk.emails.get(id)).text).toBe("Hi Ada\n");
});
