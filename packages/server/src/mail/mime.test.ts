import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { expectSameMail, expectWireForm, NASTY_MAIL, sampleMail } from "./mailer.laws.ts";
import { composeMime, detectMediaType } from "./mime.ts";

const source = async (changes: Parameters<typeof sampleMail>[0]): Promise<string> => (await composeMime(sampleMail(changes))).toString();

describe("A message as it goes over the wire", () => {
  test("is exactly this, for a plain text", async () => {
    expect(await source({ headers: { "X-CamelCASE": "As Given" }, replyTo: '"Doe, Jane" <jane@acme.example>' })).toBe(
      [
        "From: Acme <hello@acme.example>",
        "To: ada@example.com",
        'Reply-To: "Doe, Jane" <jane@acme.example>',
        "Subject: Hello",
        "Date: Sat, 31 Jan 2026 09:30:00 +0000",
        "Message-ID: <em_01jc3v2m9k8q4w6x0y5z7a1b2c@acme.example>",
        "X-CamelCASE: As Given",
        "MIME-Version: 1.0",
        "Content-Transfer-Encoding: 7bit",
        "Content-Type: text/plain; charset=utf-8",
        "",
        "It works.",
        "",
      ].join("\r\n"),
    );
  });

  test("is mixed(alternative(text, related(html, image)), file) when it has everything", async () => {
    const text = await source({
      html: '<img src="cid:logo">',
      attachments: [
        { filename: "logo.png", contentType: "image/png", contentId: "logo", content: new Uint8Array([1]) },
        { filename: "a.pdf", contentType: "application/pdf", contentId: null, content: new Uint8Array([2]) },
      ],
    });
    const types = [...text.matchAll(/^Content-Type: ([a-z/-]+)/gm)].map(([, type]) => type);
    expect(types).toEqual([
      "multipart/mixed",
      "multipart/alternative",
      "text/plain",
      "multipart/related",
      "text/html",
      "image/png",
      "application/pdf",
    ]);
  });

  test.each(NASTY_MAIL)("holds %s, in CRLF lines", async (_, changes) => {
    const raw = await composeMime(sampleMail(changes));
    expectWireForm(raw);
    await expectSameMail(raw, sampleMail(changes));
  });

  test("has the same boundaries for the same texts and others for others", async () => {
    const boundary = async (changes: Parameters<typeof sampleMail>[0]) =>
      /boundary="([^"]+)"/.exec(await source({ html: "<p>", ...changes }))?.[1];
    const first = await boundary({});
    expect(first).toBeDefined();
    expect(await boundary({ attempt: 7, messageId: "<other@acme.example>" })).toBe(first);
    expect(await boundary({ text: "other" })).not.toBe(first);
  });

  test.each([
    ["as it is", "end"],
    ["encoded", "end ".repeat(30)],
  ])("is read as it was when its author puts the boundary of an earlier one into a text that is sent %s", async (_, end) => {
    const texts = (line: string) => ({ text: `${line}\n${end}`, html: `<p>${line}\n${end}</p>` });
    const boundary = /boundary="([^"]+)"/.exec(await source(texts("Hello")))?.[1];
    const mail = sampleMail(texts(`Hello\n--${boundary}\nContent-Type: text/plain\n\nHi\n--${boundary}--`));
    await expectSameMail(await composeMime(mail), mail);
  });

  test("keeps an unsubscribe address of 1,200 characters readable within lines of 998", async () => {
    const url = `<https://acme.example/u?token=${"t".repeat(1200)}>`;
    const text = await source({ headers: { "List-Unsubscribe": url } });
    const value = /^List-Unsubscribe: (.*(?:\r\n .*)*)/m.exec(text)?.[1] ?? "";
    // RFC 2369 2: blanks inside the brackets do not count.
    expect(value.replace(/\s/g, "")).toBe(url);
    expect(value.split("\r\n").every((line) => line.length < 998)).toBe(true);
    expect(text).toContain("\r\nContent-Type: text/plain");
  });

  test.each([60, 884, 885, 940, 980])("sends an unsubscribe address of %d characters unbroken", async (length) => {
    const url = `<https://acme.example/u?token=${"t".repeat(length - 29)}>, <mailto:u@acme.example>`;
    const text = await source({ headers: { "List-Unsubscribe": url } });
    const value = /^List-Unsubscribe:(.*(?:\r\n .*)*)/m.exec(text)?.[1] ?? "";
    expect(value.replace(/\r\n/g, "").trim()).toBe(url);
    expect(text.split("\r\n").every((line) => line.length <= 998)).toBe(true);
  });

  test.each(["a.eml", "a.EML", "b.mht", "b.mhtml", "c.mime", "d.nws", "e", "f.unknown"])("sends %s as bytes", async (name) => {
    expect(await detectMediaType(name)).toBe("application/octet-stream");
  });

  test("knows the type of a common file", async () => {
    expect(await detectMediaType("Bill.PDF")).toBe("application/pdf");
  });

  test.each([
    ["star*.txt", 'filename="star*.txt"'],
    ["-x.txt", 'filename="-x.txt"'],
    ['q"uo\\te.txt', 'filename="q\\"uo\\\\te.txt"'],
    ["=?UTF-8?Q?x?=.txt", "filename*=utf-8''%3D%3FUTF-8%3FQ%3Fx%3F%3D.txt"],
    ["März (1).pdf", "filename*=utf-8''M%C3%A4rz%20%281%29.pdf"],
  ])("names a file %s in quotes or encoded, so that no reader changes it", async (filename, param) => {
    const text = await source({ attachments: [{ filename, contentType: "image/png", contentId: null, content: new Uint8Array([1]) }] });
    expect(text).toContain(`\r\nContent-Disposition: attachment;\r\n ${param}\r\n`);
    // This parser decodes encoded words even where RFC 2231 stands.
    if (!filename.includes("=?")) expect((await PostalMime.parse(text)).attachments[0]?.filename).toBe(filename);
    expect(/^Content-Type: image\/png;\r\n name="[^*]/m.test(text) || filename.includes("*")).toBe(true);
  });

  test("never reads files or URLs, whatever a text looks like", async () => {
    const path = "file:///etc/hostname";
    const text = await source({
      text: path,
      html: path,
      attachments: [{ filename: "/etc/hostname", contentType: "text/plain", contentId: null, content: new Uint8Array(0) }],
    });
    expect(text.split(path)).toHaveLength(3);
  });

  test("leaves text without a body empty", async () => {
    expect(await source({ text: "" })).toMatch(/Content-Type: text\/plain; charset=utf-8\r\n\r\n(?:\r\n)?$/);
  });

  test.each([
    ["subject", { subject: "a\nb" }, /Subject/],
    ["header value", { headers: { "X-A": "a\0b" } }, /X-A/],
    ["header value beyond ASCII", { headers: { "X-A": "ü\r\nBcc: x@x.example" } }, /X-A/],
    ["header name", { headers: { "X A": "a" } }, /"X A"/],
    ["message id", { messageId: "<a@b>\r\nBcc: x" }, /Message-ID/],
    ["sender", { from: "a\r\n <a@b.example>" }, /line breaks/],
  ])("refuses a line break in the %s and names it", async (_, changes, message) => {
    await expect(composeMime(sampleMail(changes as unknown as Parameters<typeof sampleMail>[0]))).rejects.toThrow(message);
  });
});
