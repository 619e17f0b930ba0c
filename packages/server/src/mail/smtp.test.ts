import { setTimeout as sleep } from "node:timers/promises";
import PostalMime from "postal-mime";
import type { SMTPServerOptions } from "smtp-server";
import { afterEach, describe, expect, test } from "vitest";
import { type SmtpPeer, smtpPeer } from "../../test/smtp-peer.ts";
import { realTime } from "../lib/clock.ts";
import { expectSameMail, mailerLaws, sampleMail } from "./mailer.laws.ts";
import type { Mailer, OutgoingMail } from "./mailer.ts";
import { smtpMailer } from "./smtp.ts";

mailerLaws("The SMTP mailer", async () => {
  const peer = await smtpPeer();
  const mailer = smtpMailer({ url: `smtp://127.0.0.1:${peer.port}`, time: realTime });
  return {
    mailer,
    accept: async () => {},
    received: async () => peer.mails,
    close: async () => {
      await mailer.close();
      await peer.close();
    },
  };
});

describe("The SMTP mailer", () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    // Mailers first: a server waits for its clients.
    for (const thing of opened.splice(0).reverse()) await thing.close();
  });

  const open = async (options: SMTPServerOptions, url: (port: number) => string): Promise<{ peer: SmtpPeer; mailer: Mailer }> => {
    const peer = await smtpPeer(options);
    const mailer = smtpMailer({ url: url(peer.port), time: realTime });
    opened.push(peer, mailer);
    return { peer, mailer };
  };

  const login: SMTPServerOptions = {
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      if (username === "user@acme" && password === "p:ss w/rd#") done(null, { user: username });
      else done(Object.assign(new Error("5.7.8 Wrong password"), { responseCode: 535 }));
    },
  };
  const loginUrl = (port: number): string => `smtp://user%40acme:p%3Ass%20w%2Frd%23@127.0.0.1:${port}`;

  test("encrypts with STARTTLS when it is offered", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent", response: expect.stringMatching(/^250 /) });
    expect(peer.mails).toMatchObject([{ secure: true }]);
  });

  test("sends in the clear when STARTTLS is not offered, or is switched off", async () => {
    const bare = await open({ disabledCommands: ["STARTTLS"] }, (port) => `smtp://127.0.0.1:${port}`);
    const off = await open({}, (port) => `smtp://127.0.0.1:${port}?tls=off`);
    expect([await bare.mailer.send(sampleMail()), await off.mailer.send(sampleMail())]).toMatchObject([
      { outcome: "sent" },
      { outcome: "sent" },
    ]);
    expect([...bare.peer.mails, ...off.peer.mails]).toMatchObject([{ secure: false }, { secure: false }]);
  });

  test("sends nothing in the clear when TLS is required", async () => {
    const { peer, mailer } = await open({ disabledCommands: ["STARTTLS"] }, (port) => `smtp://127.0.0.1:${port}?tls=required`);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred" });
    expect(peer.mails).toEqual([]);
  });

  test("speaks TLS from the first byte with smtps", async () => {
    const { peer, mailer } = await open({ secure: true }, (port) => `smtps://127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails).toMatchObject([{ secure: true }]);
  });

  test.each(["smtp", "smtps"])("defers when the certificate of %s cannot be trusted", async (scheme) => {
    const { peer, mailer } = await open({ secure: scheme === "smtps" }, (port) => `${scheme}://127.0.0.1:${port}?verify=true`);
    expect(await mailer.send(sampleMail())).toMatchObject({
      outcome: "deferred",
      error: { smtpCode: null, message: expect.stringMatching(/certificate/) },
    });
    expect(await mailer.check()).toMatch(/certificate/);
    expect(peer.mails).toEqual([]);
  });

  test("logs in", async () => {
    const { peer, mailer } = await open(login, loginUrl);
    expect(await mailer.check()).toBeNull();
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails).toMatchObject([{ user: "user@acme", secure: true }]);
  });

  test("defers on a wrong password, and never shows it", async () => {
    const { mailer } = await open(login, (port) => `smtp://user%40acme:letmein@127.0.0.1:${port}`);
    const receipt = await mailer.send(sampleMail());
    expect(receipt).toMatchObject({ outcome: "deferred", error: { smtpCode: 535, enhancedCode: "5.7.8" } });
    expect(JSON.stringify(receipt)).not.toContain("letmein");
    expect(await mailer.check()).toMatch(/535/);
  });

  test("defers when the server wants a login and none is configured", async () => {
    const { mailer } = await open(login, (port) => `smtp://127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred", error: { smtpCode: 530 } });
  });

  test("defers when a login is configured and the server offers none", async () => {
    const { peer, mailer } = await open({ disabledCommands: ["AUTH"] }, (port) => `smtp://u:p@127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred", error: { message: expect.stringMatching(/log in/) } });
    expect(peer.mails).toEqual([]);
  });

  test("never has more connections than its limit, and keeps the ones it has", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}?pool=3&tls=off`);
    expect(mailer.concurrency).toBe(3);
    const receipts = await Promise.all(Array.from({ length: 30 }, (_, i) => mailer.send(sampleMail({ messageId: `<${i}@acme.example>` }))));
    expect(receipts.every((receipt) => receipt.outcome === "sent")).toBe(true);
    expect(peer.connections).toMatchObject({ peak: 3, total: 3 });
  });

  test("renews a connection after its share of messages, still within the limit", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}?pool=1&messages=4&tls=off`);
    for (let i = 0; i < 10; i += 1) expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails).toHaveLength(10);
    expect(peer.connections).toMatchObject({ peak: 1, total: 3 });
  });

  test("goes on over a new connection when the server has closed an idle one", async () => {
    const { peer, mailer } = await open({ socketTimeout: 400 }, (port) => `smtp://127.0.0.1:${port}?pool=1&tls=off`);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    while (peer.connections.open > 0) await sleep(10);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails).toHaveLength(2);
  });

  test("calls itself what the URL says", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}?name=mail.acme.example`);
    await mailer.send(sampleMail());
    expect(peer.mails).toMatchObject([{ ehlo: "mail.acme.example" }]);
  });

  test("uses SMTPUTF8 for addresses beyond ASCII", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}`);
    const address = "jürgen@xn--bcher-kva.example";
    const mail = sampleMail({ envelopeTo: address, to: [{ name: "", address }] });
    expect(await mailer.send(mail)).toMatchObject({ outcome: "sent" });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails.map((got) => got.smtpUtf8)).toEqual([true, false]);
    await expectSameMail(peer.mails[0]?.raw ?? new Uint8Array(), mail);
  });

  test("needs SMTPUTF8 for a header that names an address beyond ASCII, also of another recipient", async () => {
    const mail = sampleMail({ to: ["ada@example.com", "jörg@example.com"].map((address) => ({ name: "", address })) });
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}?pool=1`);
    for (const one of [mail, sampleMail()]) expect(await mailer.send(one)).toMatchObject({ outcome: "sent" });
    expect(peer.mails.map((got) => got.smtpUtf8)).toEqual([true, false]);
    const old = await open({ hideSMTPUTF8: true } as SMTPServerOptions, (port) => `smtp://127.0.0.1:${port}`);
    expect(await old.mailer.send(mail)).toMatchObject({ outcome: "bounced", error: { enhancedCode: "5.6.7" } });
    // Messages composed by a program go out unchanged.
    const message = Buffer.from("Subject: Grüße\r\n\r\nHi\r\n");
    expect(await old.mailer.send(sampleMail({ message }))).toMatchObject({ outcome: "sent" });
  });

  test("bounces addresses beyond ASCII with 5.6.7 where SMTPUTF8 is missing, and keeps the connection", async () => {
    const { peer, mailer } = await open({ hideSMTPUTF8: true } as SMTPServerOptions, (port) => `smtp://127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail({ envelopeTo: "jürgen@example.com" }))).toMatchObject({
      outcome: "bounced",
      error: { smtpCode: null, enhancedCode: "5.6.7" },
    });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.connections.total).toBe(1);
  });

  describe("with 8-bit bytes in a message that goes out as it came in", () => {
    const submitted = (body: string): OutgoingMail =>
      sampleMail({ message: Buffer.from(`From: hello@acme.example\r\nTo: ada@example.com\r\nSubject: Hi\r\n\r\n${body}\r\n`) });
    const bodies = (options: SMTPServerOptions) => {
      const types: unknown[] = [];
      const onMailFrom: SMTPServerOptions["onMailFrom"] = ({ args }, _session, done) => {
        types.push((args as { BODY?: string }).BODY);
        done();
      };
      return { types, options: { ...options, onMailFrom } };
    };
    const far = `${"x".repeat(70)}\r\n`.repeat(20_000);

    test("says BODY=8BITMIME where that is offered, and only then", async () => {
      const { types, options } = bodies({});
      const { peer, mailer } = await open(options, (port) => `smtp://127.0.0.1:${port}`);
      for (const body of ["Grüße", `${far}Grüße`, "Hi"]) expect(await mailer.send(submitted(body))).toMatchObject({ outcome: "sent" });
      expect(types).toEqual(["8BITMIME", "8BITMIME", undefined]);
      expect(Buffer.from(peer.mails[0]?.raw ?? []).toString()).toContain("Grüße");
    });

    test("bounces with 5.6.3 where it is not offered, and keeps the connection for what is 7-bit", async () => {
      const { types, options } = bodies({ hide8BITMIME: true });
      const { peer, mailer } = await open(options, (port) => `smtp://127.0.0.1:${port}`);
      for (const body of ["Grüße", `${far}Grüße`])
        expect(await mailer.send(submitted(body))).toEqual({
          outcome: "bounced",
          error: { smtpCode: null, enhancedCode: "5.6.3", message: expect.stringMatching(/8BITMIME.*quoted-printable or base64/) },
        });
      expect(await mailer.send(submitted("Hi"))).toMatchObject({ outcome: "sent" });
      expect(await mailer.send(sampleMail({ text: "Grüße", subject: "Grüße" }))).toMatchObject({ outcome: "sent" });
      expect(types).toEqual([undefined, undefined]);
      expect([peer.mails.length, peer.connections.total]).toEqual([2, 1]);
    });
  });

  test("bounces a message above the size the server announces", async () => {
    const { peer, mailer } = await open({ size: 2000 }, (port) => `smtp://127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail({ text: "x".repeat(3000) }))).toMatchObject({
      outcome: "bounced",
      error: { enhancedCode: "5.3.4" },
    });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails).toHaveLength(1);
  });

  test("bounces an address that cannot stand in a command", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}`);
    expect(await mailer.send(sampleMail({ envelopeTo: '"a>b"@example.com' }))).toMatchObject({
      outcome: "bounced",
      error: { enhancedCode: "5.1.3" },
    });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.mails).toHaveLength(1);
  });

  test("goes on with the next message after a refused recipient, on the same connection", async () => {
    const refuse: SMTPServerOptions = {
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith("no@") ? Object.assign(new Error("5.1.1 No such user"), { responseCode: 550 }) : null),
    };
    const { peer, mailer } = await open(refuse, (port) => `smtp://127.0.0.1:${port}?pool=1`);
    expect(await mailer.send(sampleMail({ envelopeTo: "no@example.com" }))).toEqual({
      outcome: "bounced",
      error: { message: expect.stringContaining("No such user"), smtpCode: 550, enhancedCode: "5.1.1" },
      invalidRecipient: true,
    });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect((await PostalMime.parse(peer.mails[0]?.raw ?? "")).subject).toBe("Hello");
    expect(peer.connections.total).toBe(1);
  });

  test("defers what is sent after it is closed", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}`);
    await mailer.close();
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred" });
    expect(peer.connections.total).toBe(0);
  });

  test("lets messages under way finish when it is closed, and defers the ones that wait", async () => {
    const { peer, mailer } = await open({}, (port) => `smtp://127.0.0.1:${port}?pool=1&tls=off`);
    await mailer.send(sampleMail());
    const sends = Array.from({ length: 3 }, () => mailer.send(sampleMail()));
    while (peer.connections.total < 1) await sleep(1);
    await mailer.close();
    const outcomes = (await Promise.all(sends)).map((receipt) => receipt.outcome);
    expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(peer.mails.length - 1);
    expect(outcomes.filter((outcome) => outcome !== "sent").every((outcome) => outcome === "deferred")).toBe(true);
  });
});
