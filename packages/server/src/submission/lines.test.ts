import { describe, expect, test } from "vitest";
import { HELLO, readId, start, submitTo } from "../../test/submission.ts";
import { mendLines } from "./lines.ts";
import { readMessage } from "./message.ts";

describe("lines that programs write wrongly are mended", () => {
  const sent = async (message: Buffer | string) => {
    const s = await start();
    const id = readId(await submitTo(s.port, message));
    const captured = await s.world.inbox.waitFor({ to: "ada@example.com" });
    return { ...s, id, captured };
  };

  test("bare line feeds become CRLF, and end no message", async () => {
    const { world, captured } = await sent(Buffer.from(`${HELLO}one\n..two\n.\nMAIL FROM:<x@y.example>\n.\r\nthree\r\n`));
    expect(captured.text).toContain("one\n.two\n.\nMAIL FROM:<x@y.example>\n.\nthree");
    expect((await world.sdk.emails.list()).data).toHaveLength(1);
  });

  test.each([
    ["a text", `Content-Type: text/html; charset=utf-8\r\n\r\n<p>${"grün ".repeat(800)}</p>\r\n`],
    [
      "a text in quoted-printable",
      `Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${"gr=C3=BCn ".repeat(400)}\r\n`,
    ],
    [
      "a part",
      `Content-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\n\r\n${"word ".repeat(400)}\r\n--B\r\nContent-Type: text/plain\r\n\r\nshort\r\n--B--\r\n`,
    ],
  ])("%s with long lines is written in base64", async (_what, rest) => {
    const mended = (await mendLines(Buffer.from(`From: a@acme.example\r\n${rest}`), false)).toString();
    expect(mended.split("\r\n").every((line) => line.length <= 998)).toBe(true);
    expect(mended).toContain("Content-Transfer-Encoding: base64\r\n\r\n");
    expect(mended.endsWith("\r\n")).toBe(true);
    const { default: PostalMime } = await import("postal-mime");
    const [before, after] = await Promise.all([`From: a@acme.example\r\n${rest}`, mended].map((one) => PostalMime.parse(Buffer.from(one))));
    const say = (text: string | undefined): string[] => (text ?? "").split(/\s+/).filter(Boolean);
    expect([say(after?.text), say(after?.html), after?.attachments.length]).toEqual([say(before?.text), say(before?.html), 0]);
  });

  test("but not in a message that is signed, nor in its header", async () => {
    const long = "x".repeat(1000);
    for (const message of [
      `DKIM-Signature: v=1\r\n\r\n${long}\r\n`,
      `Content-Type: multipart/signed; boundary=B\r\n\r\n--B\r\n\r\n${long}\r\n--B--\r\n`,
      `X-Long: ${long}\r\n\r\nHi\r\n`,
    ])
      await expect(mendLines(Buffer.from(message), false)).rejects.toThrow("longer than 998 bytes");
  });

  test("fields that a message has once, and a date that is none", async () => {
    const read = async (head: string): Promise<string> =>
      (
        await readMessage(Buffer.from(`From: a@acme.example\r\n${head}\r\nHi\r\n`), {
          ...{ from: "a@acme.example", recipients: [], protocol: "ESMTP", by: "localhost", at: 0, captured: false },
        })
      ).bytes.toString();
    const mended = await read(
      "Subject: A\r\nTo: a@b.example\r\nsubject: B\r\nTo: c@d.example,\r\n e@f.example\r\nMessage-ID: <1@x>\r\nMessage-ID: <2@x>\r\nDate: yesterday\r\n",
    );
    expect(mended).toMatch(
      /From: a@acme\.example\r\nSubject: A\r\nTo: a@b\.example,\r\n c@d\.example,\r\n e@f\.example\r\nMessage-ID: <1@x>\r\n\r\nHi/,
    );
    expect(await read("Date: Thu, 1 Jan 2026 10:00:00 +0100 (CET)\r\n")).toContain("Date: Thu");
    expect(await read("DKIM-Signature: v=1\r\nSubject: A\r\nSubject: B\r\n")).toContain("Subject: A\r\nSubject: B");
  });
});
