import nodemailer from "nodemailer";
import { describe, expect, onTestFinished, test } from "vitest";
import { HELLO, readId, start, submitTo } from "../../test/submission.ts";

describe("headers for this server", () => {
  test("become tags, are taken out, and all others stay", async () => {
    const { world, port } = await start();
    const own = [
      "X-Tag: welcome",
      "X-Metadata-Color: blue",
      "X-PM-Metadata-size: L",
      "X-SES-MESSAGE-TAGS: a=1, b=2",
      "X-Mailsvc-Tag-plan: pro",
      "Bcc: secret@example.com",
      "Idempotency-Key: k1",
    ];
    const kept = ["In-Reply-To: <1@example.com>", "References: <1@example.com>", "X-Entity-Ref-ID: 9", "Message-ID: <own@acme.example>"];
    const id = readId(await submitTo(port, `${[...own, ...kept].join("\r\n")}\r\n${HELLO}`));
    await world.settle();
    expect(await world.sdk.emails.get(id)).toMatchObject({
      tags: { tag: "welcome", Color: "blue", size: "L", a: "1", b: "2", plan: "pro" },
      messageId: "<own@acme.example>",
    });
    const raw = await world.sdk.inbox.raw((await world.inbox.waitFor({ to: "ada@example.com" })).id);
    expect(
      raw
        .slice(raw.indexOf("\r\n\t") + 3)
        .replace(/^.*\r\n/, "")
        .replace(/^Date: .*\r\n/m, ""),
    ).toBe(`${kept.join("\r\n")}\r\n${HELLO}`);
  });

  test("an Idempotency-Key stores a message once, and refuses another one", async () => {
    const { world, port } = await start();
    const keyed = `Idempotency-Key: order-1\r\n${HELLO}`;
    const [first, second] = await Promise.all([submitTo(port, keyed), submitTo(port, keyed)]);
    expect(readId(second)).toBe(readId(first));
    expect(readId(await submitTo(port, keyed))).toBe(readId(first));
    expect(await submitTo(port, `${keyed}more\r\n`)).toMatch(/^550 5\.6\.0 This Idempotency-Key was used for a different message/);
    expect((await world.sdk.emails.list()).data).toHaveLength(1);
  });

  test("an Idempotency-Key recognizes a message that nodemailer composed again, and refuses one with other words", async () => {
    const { world, port } = await start();
    const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
    onTestFinished(() => transport.close());
    const mail = {
      ...{
        from: "Acme <hello@acme.example>",
        to: "ada@example.com",
        subject: "Your receipt",
        text: "Thank you.",
        html: "<b>Thank you.</b>",
      },
      attachments: [{ filename: "a.txt", content: "file" }],
      headers: { "Idempotency-Key": "receipt-42", "X-Mailsvc-Tag-kind": "receipt" },
    };
    const send = async (change = {}): Promise<string> => (await transport.sendMail({ ...mail, ...change })).response;
    const first = await send();
    // The boundaries, the Message-ID and the Date differ.
    expect(await send({ date: new Date(0) })).toBe(first);
    const changes = [
      ...[
        { text: "Thanks." },
        { html: "<b>Thanks.</b>" },
        { subject: "Receipt" },
        { from: "Shop <hello@acme.example>" },
        { to: "bob@example.com" },
      ],
      ...[{ attachments: [{ filename: "a.txt", content: "FILE" }] }, { attachments: [{ filename: "b.txt", content: "file" }] }],
      ...[{ attachments: [] }, { headers: { ...mail.headers, "X-Mailsvc-Tag-kind": "invoice" } }, { replyTo: "help@acme.example" }],
    ];
    for (const change of changes)
      await expect([change, await send(change).catch(String)]).toEqual([
        change,
        expect.stringContaining("550 5.6.0 This Idempotency-Key was used for a different message"),
      ]);
    expect((await world.sdk.emails.list()).data).toHaveLength(1);
  });

  describe("an Idempotency-Key recognizes a message whose pictures have new Content-IDs", () => {
    const files = (id: string) => [
      { filename: "a.png", content: Buffer.from([137, 80, 78, 71]), cid: `a.${id}@acme.example` },
      { filename: "b.png", content: Buffer.from([137, 80, 78, 71]), cid: `b.${id}@acme.example` },
    ];
    const pictures = (first: string, second: string) =>
      `<p>${"Vielen Dank für Ihren Einkauf bei uns. ".repeat(20)}</p><img src="cid:${first}"><p>=</p><img src='cid:${second}'>`;
    const sender = async () => {
      const { world, port } = await start();
      const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
      onTestFinished(() => transport.close());
      const send = async (mail: object): Promise<string> =>
        (
          await transport
            .sendMail({ from: "hello@acme.example", to: "ada@example.com", headers: { "Idempotency-Key": "order-7" }, ...mail })
            .catch((error: Error) => ({ response: error.message }))
        ).response;
      return { world, send };
    };

    test.each(["quoted-printable", "base64"] as const)("in %s", async (textEncoding) => {
      const { world, send } = await sender();
      const compose = (id: string) => {
        const [a, b] = [`a.${id}@acme.example`, `b.${id}@acme.example`];
        return { textEncoding, html: pictures(a, b), text: `Vielen Dank für alles! [cid:${a}]`, attachments: files(id) };
      };
      const first = await send(compose("1"));
      expect(first).toMatch(/^250 /);
      // The ids have other lengths, so that each line of the encoded HTML differs.
      expect(await send(compose("1774523981.4711"))).toBe(first);
      expect(await send({ ...compose("22"), html: pictures("a.22%40acme.example", "b.22%40acme.example") })).toBe(first);
      for (const other of [
        { html: pictures("b.3@acme.example", "a.3@acme.example") },
        { html: pictures("a.3@acme.example", "c.3@acme.example") },
        { html: pictures("a.3@acme.example", "b.3@acme.example").replace("Einkauf", "Besuch") },
        { text: "Vielen Dank für alles! [cid:4711]" },
        { attachments: files("3").reverse() },
        { attachments: files("3").map((file) => ({ ...file, content: Buffer.from([137, 80, 78, 72]) })) },
        { attachments: [...files("3"), { filename: "c.txt", content: "c" }] },
      ])
        expect([other, await send({ ...compose("3"), ...other })]).toEqual([
          other,
          expect.stringContaining("This Idempotency-Key was used for a different message"),
        ]);
      expect((await world.sdk.emails.list()).data).toHaveLength(1);
    });

    test("in another encoding", async () => {
      const { send } = await sender();
      const mail = {
        html: `<p>${"Grüße = Küsse\r\n".repeat(30_000)}</p>`,
        attachments: [{ filename: "a.bin", content: Buffer.alloc(700_000, 7) }],
      };
      const first = await send({ ...mail, textEncoding: "base64" });
      expect(first).toMatch(/^250 /);
      expect(await send({ ...mail, textEncoding: "quoted-printable" })).toBe(first);
      expect(await send({ ...mail, html: mail.html.replace(/ü(?=sse\r\n<)/, "u"), textEncoding: "base64" })).toMatch(/different message/);
    });

    test("and refuses a text that only looks as if it referred to one", async () => {
      const { send } = await sender();
      const mail = (order: string) => ({ text: `Your order cid:${order} was sent.`, html: "<b>Hi</b>" });
      expect(await send(mail("1"))).toMatch(/^250 /);
      expect(await send(mail("2"))).toMatch(/different message/);
    });
  });

  test("of those that are resent only Resent-Bcc is taken out", async () => {
    const { world, port } = await start();
    const kept = [
      ...["Resent-Date: Thu, 01 Jan 2026 00:00:00 +0000", "Resent-From: Ada <ada@example.com>", "Resent-Sender: bob@example.com"],
      ...[
        "Resent-To: carol@example.com",
        "Resent-Cc: dan@example.com",
        "Resent-Message-ID: <1@example.com>",
        "Resent-Reply-To: ada@example.com",
      ],
    ];
    await submitTo(port, `${[...kept, "Resent-Bcc: secret@example.com"].join("\r\n")}\r\n${HELLO}`);
    await world.settle();
    const raw = await world.sdk.inbox.raw((await world.inbox.waitFor({ to: "ada@example.com" })).id);
    expect(raw.split("\r\n").filter((line) => line.startsWith("Resent-"))).toEqual(kept);
  });

  test("schedule, name a template, and are refused by their names", async () => {
    const { world, port } = await start();
    await world.sdk.templates.create({ slug: "hi", name: "Hi", subject: "Hi {{name}}", html: "<p>Hi {{name}}</p>" });
    const [template] = (await world.sdk.templates.list()).data;
    await world.sdk.templates.publish(template?.id ?? "");
    const own = 'X-Mailsvc-Template: hi\r\nX-Mailsvc-Variables: {"name":"Ada"}\r\nX-Mailsvc-Send-At: 2026-01-02T00:00:00Z\r\n';
    const id = readId(await submitTo(port, own + HELLO));
    expect(await world.sdk.emails.get(id)).toMatchObject({
      subject: "Hi Ada",
      template: { slug: "hi" },
      scheduledAt: "2026-01-02T00:00:00.000Z",
    });
    // While all mail is captured, any sender will do.
    expect(readId(await submitTo(port, own + HELLO.replace(/^From: .*$/m, "From: webmaster@localhost")))).toMatch(/^em_/);
    expect(await submitTo(port, `X-Mailsvc-Sendat: now\r\n${HELLO}`)).toMatch(/^550 5\.6\.0 X-Mailsvc-Sendat is not known\./);
    expect(await submitTo(port, `X-Mailsvc-Send-At: now\r\n${HELLO}`)).toContain("X-Mailsvc-Send-At takes an instant");
    expect(await submitTo(port, `X-Mailsvc-Send-At: 2099-01-01T00:00:00Z\r\n${HELLO}`)).toContain(
      "X-Mailsvc-Send-At must be at most 365 days ahead.",
    );
  });
});
