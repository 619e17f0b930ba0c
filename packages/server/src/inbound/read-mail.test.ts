import { describe, expect, onTestFinished, test } from "vitest";
import { hostileMails } from "../../test/hostile-mails.ts";
import { realTime } from "../lib/clock.ts";
import { cutBase64 } from "./cut-base64.ts";
import { MailParser } from "./mail-parser.ts";
import { MailNotRead } from "./mail-thread.ts";
import { readLarge } from "./read-captured.ts";
import { readMail } from "./read-mail.ts";

const MAX_TEXT = 1024 * 1024;

async function read(...lines: string[]) {
  const result = await readMail(Buffer.from(lines.join("\r\n")), MAX_TEXT);
  if (!("mail" in result)) throw new Error(result.fault);
  return result.mail;
}

test("NUL, lone surrogates and control characters are stored as databases take them", async () => {
  const mail = await read("From: a@b.example", "Subject: =?utf-8?B?AEFCCgk=?=\0", "", "a\0b");
  expect(mail.text).toBe("a\ufffdb\n");
  expect(mail.subject).not.toMatch(/[\0\n]/);
  expect(JSON.stringify(mail.headers)).not.toContain("\\u0000");
});

test.each(["multipart/mixed", "multipart/mixed; boundary=never", 'multipart/alternative; boundary=""'])(
  "a mail whose parts cannot be told apart has its body as text: %s",
  async (type) => {
    const lines = ["From: a@b.example", "Subject: Hi", `Content-Type: ${type}`, "", "Hello,", "see you."];
    expect(await read(...lines)).toMatchObject({ text: "Hello,\r\nsee you.", reply: "Hello,\nsee you.", files: [] });
    expect(await readLarge(Buffer.from(lines.join("\r\n")))).toMatchObject({ text: "Hello,\r\nsee you.", html: null });
    expect(await read("From: a@b.example", `Content-Type: ${type}`, "", "")).toMatchObject({ text: "", reply: "" });
  },
);

test("what is cut ends before a character that it would cut in half", async () => {
  const long = (length: number): string => `${"a".repeat(length - 1)}😀`;
  const encode = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
  const mail = await read(
    `From: ${encode(long(998))} <a@b.example>`,
    `Subject: ${encode(long(998))}`,
    "Content-Type: multipart/mixed; boundary=x",
    "",
    "--x",
    "Content-Type: application/octet-stream",
    `Content-Disposition: attachment; filename="${encode(long(255))}"`,
    "",
    "x",
    "--x--",
  );
  expect([mail.fromName, mail.subject, mail.files[0]?.filename]).toEqual(["a".repeat(997), "a".repeat(997), "a".repeat(254)]);
});

test("encoded words, broken ones too, and names of files are read", async () => {
  const mail = await read(
    "From: =?iso-8859-1?Q?J=FCrgen?= <j@b.example>",
    "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?utf-8?B?broken",
    "Content-Type: multipart/mixed; boundary=x",
    "",
    "--x",
    "Content-Type: application/octet-stream",
    "Content-Disposition: attachment; filename*=utf-8''%2e%2e%2fgr%C3%BC%C3%9Fe.txt",
    "",
    "x",
    "--x--",
  );
  expect(mail).toMatchObject({ fromName: "Jürgen", from: "j@b.example", subject: expect.stringMatching(/^Grüße/) });
  expect(mail.files).toMatchObject([{ filename: ".._grüße.txt", contentType: "application/octet-stream" }]);
});

test("a file without a name is named after what it is", async () => {
  const part = (type: string, disposition: string): string[] => [
    "--x",
    `Content-Type: ${type}`,
    `Content-Disposition: ${disposition}`,
    "",
    "x",
  ];
  const mail = await read(
    "From: a@b.example",
    "Content-Type: multipart/mixed; boundary=x",
    "",
    ...part("text/calendar; method=REQUEST", 'attachment; filename=""'),
    ...part("image/png", "attachment"),
    ...part("application/x-own", 'attachment; filename=""'),
    ...part("constructor/x", "attachment"),
    "--x--",
  );
  expect(mail.files.map(({ filename }) => filename)).toEqual(["invite.ics", "file-2.png", "file-3", "file-4"]);
});

test("a mail without anything is a mail", async () => {
  expect(await read("", "")).toMatchObject({ from: null, subject: "", text: "", html: null, messageId: null, files: [] });
  expect((await read("Hello")).messageKey).not.toBe((await read("Hallo")).messageKey);
});

test("a message in a message is a file", async () => {
  const mail = await read(
    "Content-Type: multipart/mixed; boundary=x",
    "",
    "--x",
    "Content-Type: message/rfc822",
    "",
    "Subject: inner",
    "",
    "text",
    "--x--",
  );
  expect(mail.files).toMatchObject([{ filename: "message-1.eml", contentType: "message/rfc822" }]);
});

describe("files in base64", () => {
  const file = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 31) & 255));
  const wrap = (text: string, at = 76): string => text.replace(new RegExp(`.{${at}}`, "g"), "$&\r\n");
  const part = (content: string, ...headers: string[]): string[] => [
    "--in ner",
    "Content-Type: image/png",
    "Content-Transfer-Encoding: base64",
    ...headers,
    "",
    content,
  ];

  test.each([76, 75, 1000])("are the bytes that were sent, in lines of %i characters", async (length) => {
    const mail = await read(
      'Content-Type: multipart/mixed; boundary="outer"',
      "",
      "--outer",
      "Content-Type: multipart/related;",
      '  boundary="in ner"',
      "",
      ...part(wrap(file.toString("base64"), length)),
      ...part(wrap(file.subarray(1).toString("base64"), length), "Content-ID: <pic@x>"),
      "--in ner--",
      "--outer",
      "Content-Type: text/plain",
      "",
      "after",
      "--outer--",
    );
    expect(mail.text.trim()).toBe("after");
    expect(mail.files.map(({ content }) => Buffer.from(content).equals(file))).toEqual([true, false]);
    expect(file.subarray(1).equals(mail.files[1]?.content ?? Buffer.alloc(0))).toBe(true);
    expect(mail.files[1]?.contentId).toBe("pic@x");
  });

  test("are cut out of the mail that the parser reads, and a mail cannot name what was cut", () => {
    const raw = Buffer.from(
      ["Content-Type: multipart/mixed; boundary=in", "", "--in", ...part(wrap(file.toString("base64"))).slice(1), "--in--"].join("\r\n"),
    );
    const { skeleton, restore } = cutBase64(raw);
    expect(skeleton.length).toBeLessThan(300);
    expect(restore(new Uint8Array(12))).toBeUndefined();
  });
});

test("whatever a mail repeats, it is read, refused or given up, and the next one is read", async () => {
  const parser = new MailParser(realTime, { timeMs: 60_000 });
  onTestFinished(() => parser.close());
  for (const [name, make] of Object.entries(hostileMails)) {
    const answer = await parser.read(new Uint8Array(make())).catch((error: unknown) => {
      if (error instanceof MailNotRead) return { result: { fault: error.message } };
      throw error;
    });
    expect([name, "mail" in answer.result || answer.result.fault.length > 0]).toEqual([name, true]);
  }
  const { result, raw } = await parser.read(new Uint8Array(Buffer.from("Subject: next\r\n\r\nx")));
  expect([result, raw.length]).toMatchObject([{ mail: { subject: "next" } }, 18]);
});

test("ten thousand parts within parts are refused, and of as many beside each other the first are read", async () => {
  const deep = Array.from({ length: 10_000 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join("");
  expect(await readMail(Buffer.from(deep), MAX_TEXT)).toMatchObject({ fault: expect.stringMatching(/nesting/i) });
  const wide = `Content-Type: multipart/mixed; boundary=x\r\n\r\n${"--x\r\nContent-Type: text/x-note\r\n\r\nhi\r\n".repeat(10_000)}--x--\r\n`;
  expect(await readMail(Buffer.from(wide), MAX_TEXT)).toMatchObject({ mail: { truncated: true } });
  expect(await readMail(Buffer.from(`Subject: ${"x".repeat(200_000)}\r\n\r\n`), MAX_TEXT)).toMatchObject({
    fault: expect.stringMatching(/header/i),
  });
});
