import { expect, test } from "vitest";
import { mendCharsets } from "./mend-charsets.ts";
import { readMail } from "./read-mail.ts";

/** A mail of bytes that are written as Latin-1 here. */
const bytes = (...lines: readonly string[]): Buffer => Buffer.from(lines.join("\r\n"), "latin1");
const read = async (...lines: readonly string[]) => {
  const result = await readMail(new Uint8Array(bytes(...lines)), 10_000);
  if ("fault" in result) throw new Error(result.fault);
  return { ...result.mail, text: result.mail.text.trim() };
};
const UTF8 = Buffer.from("Grüße €").toString("latin1");
const WINDOWS = "Gr\xfc\xdfe \x80";

test.each<[string, string[], string]>([
  ["no charset, UTF-8", ["Content-Type: text/plain", "", UTF8], "Grüße €"],
  ["no charset, Windows-1252", ["Content-Type: text/plain", "", WINDOWS], "Grüße €"],
  ["no Content-Type", ["", WINDOWS], "Grüße €"],
  ["us-ascii, UTF-8", ["Content-Type: text/plain; charset=us-ascii", "", UTF8], "Grüße €"],
  ["us-ascii, Windows-1252", ['Content-Type: text/plain; charset="US-ASCII"; format=flowed', "", WINDOWS], "Grüße €"],
  ["unknown-8bit, UTF-8", ["Content-Type: text/plain; charset=unknown-8bit", "", UTF8], "Grüße €"],
  ["unknown-8bit, Windows-1252", ["Content-Type: text/plain; charset=unknown-8bit", "", WINDOWS], "Grüße €"],
  [
    "quoted-printable without a charset",
    ["Content-Type: text/plain", "Content-Transfer-Encoding: quoted-printable", "", "Gr=FC=DFe =\r\n=80"],
    "Grüße €",
  ],
  ["cp850", ["Content-Type: text/plain; charset=cp850", "", "caf\x82 \xb5"], "café Á"],
  ["ibm437 in base64", ["Content-Type: text/plain;", " charset=IBM437", "Content-Transfer-Encoding: base64", "", "Y2FmguE="], "caféß"],
  ["UTF-7", ["Content-Type: text/plain; charset=utf-7", "", "caf+AOk- +- 1"], "café + 1"],
  ["ISO-2022-KR", ["Content-Type: text/plain; charset=iso-2022-kr", "", "\x1b$)C\x0e>H3g\x0f ok"], "안녕 ok"],
  ["HZ", ["Content-Type: text/plain; charset=hz-gb-2312", "", "~{VPND~} ok"], "中文 ok"],
  ["a label that is right", ["Content-Type: text/plain; charset=iso-8859-1", "", WINDOWS], "Grüße €"],
  ["Shift_JIS by another name", ["Content-Type: text/plain; charset=cp932", "", "\x82\xa0"], "あ"],
])("a text in %s is read", async (_name, lines, text) => {
  expect((await read("From: a@b.example", ...lines)).text).toBe(text);
});

test("header fields are read in these charsets, too", async () => {
  expect(await read('From: "J\xfcrgen" <a@b.example>', "Subject: Gr\xfc\xdfe", "", "x")).toMatchObject({
    fromName: "Jürgen",
    subject: "Grüße",
  });
  expect((await read("From: a@b.example", "Subject: =?cp850?Q?caf=82_?= =?unknown-8bit?Q?Gr=C3=BC=C3=9Fe?=", "", "x")).subject).toBe(
    "café Grüße",
  );
});

test("a mail with nothing to mend, and files, keep their bytes", async () => {
  const plain = bytes("Content-Type: text/plain; charset=utf-8", "", UTF8);
  expect(mendCharsets(plain)).toBe(plain);
  const file = await read("Content-Type: text/plain; charset=cp850", "Content-Disposition: attachment; filename=a.txt", "", "caf\x82");
  expect(
    Buffer.from(file.files[0]?.content ?? [])
      .toString("latin1")
      .trimEnd(),
  ).toBe("caf\x82");
});

test.each([
  ["Lovelace, Ada <ada@example.com>", "Lovelace, Ada"],
  ["Joe Foo, PhD <ada@example.com>", "Joe Foo, PhD"],
  ["=?utf-8?q?M=C3=BCller,?= Jo <ada@example.com>", "Müller, Jo"],
  ['"Lovelace, Ada" <ada@example.com>', "Lovelace, Ada"],
])("the sender %s is one person", async (from, name) => {
  expect(await read(`From: ${from}`, "", "x")).toMatchObject({ from: "ada@example.com", fromName: name });
});
