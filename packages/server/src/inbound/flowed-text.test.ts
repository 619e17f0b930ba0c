import { expect, test } from "vitest";
import { joinFlowedTexts } from "./flowed-text.ts";
import { readMail } from "./read-mail.ts";

const CRLF = "\r\n";
const read = async (header: readonly string[], ...lines: readonly string[]) => {
  const result = await readMail(Buffer.from(["From: a@b.example", "Subject: s", ...header, "", ...lines].join(CRLF)), 100_000);
  if ("fault" in result) throw new Error(result.fault);
  return { ...result.mail, text: result.mail.text.replace(/\n+$/, "") };
};
const FLOWED = "Content-Type: text/plain; charset=utf-8; format=flowed";
const DELSP = `${FLOWED}; delsp=yes`;

test.each<[string, string, string[], string]>([
  ["a paragraph", FLOWED, ["one ", "two ", "three", "four"], "one two three\nfour"],
  ["a paragraph whose spaces go", DELSP, ["https://example.com/ ", "long", "a  ", "b"], "https://example.com/long\na b"],
  ["quotations of different depth", FLOWED, [">> deep ", "> shallow ", "my answer"], ">> deep\n> shallow\nmy answer"],
  ["a quotation that goes on", FLOWED, ["> one ", "> two", ">> a ", ">>b ", "> c"], "> one two\n>> a b\n> c"],
  ["a quotation whose spaces go", DELSP, ["> exa ", "> mple", "> x  ", "> y", "z"], "> example\n> x y\nz"],
  ["an answer below a flowed quotation", FLOWED, ["> Shall we? ", "Yes, ", "we shall."], "> Shall we?\nYes, we shall."],
  ["a line that begins with a protected space", FLOWED, [" From here ", "  on ", " > is no quotation"], "From here  on > is no quotation"],
  ["a signature", FLOWED, ["Bye ", "-- ", "Ada ", "Lovelace"], "Bye\n-- \nAda Lovelace"],
  ["a quoted signature", FLOWED, ["> Bye", "> -- ", "> Ada", "ok"], "> Bye\n> --\n> Ada\nok"],
  ["a protected signature", FLOWED, [" -- ", "Ada"], "-- \nAda"],
  ["empty quoted lines", FLOWED, ["> a", ">", "> b"], "> a\n>\n> b"],
  ["a text in capitals", 'Content-Type: TEXT/PLAIN; FORMAT="FLOWED"', ["a ", "b"], "a b"],
  ["a fixed text", "Content-Type: text/plain; format=fixed", ["a ", " b"], "a \n b"],
  ["umlauts", FLOWED, ["> Grüße, ", "> schöne ", "€ 5 ", "👍"], "> Grüße, schöne\n€ 5 👍"],
])("%s", async (_name, type, lines, text) => {
  expect((await read([type], ...lines)).text).toBe(text);
});

test.each<[string, string, string]>([
  ["base64", Buffer.from(["> q ", "a ", "b"].join(CRLF)).toString("base64"), "> q\na b"],
  ["quoted-printable", ["> q=20", "a=20", "b =", "c=C3=BC"].join(CRLF), "> q\na b cü"],
])("a flowed text in %s is decoded first", async (encoding, content, text) => {
  expect((await read([FLOWED, `Content-Transfer-Encoding: ${encoding}`], content)).text).toBe(text);
});

test("parts beside a flowed text, and flowed files, keep their bytes", async () => {
  const mail = await read(
    ['Content-Type: multipart/mixed; boundary="b"'],
    ...["--b", "Content-Type: text/plain;", " format=flowed;", " charset=utf-8", "", "> a ", "b ", "c "],
    ...["--b", "Content-Type: text/plain; format=flowed; name=f.txt", "Content-Disposition: attachment", "", "x ", "y"],
    ...["--b", "Content-Type: application/octet-stream", "", "format=flowed ", "z", "--b--"],
  );
  expect(mail.text).toBe("> a\nb c");
  expect(mail.files.map(({ content }) => Buffer.from(content).toString().trimEnd())).toEqual(["x \ny", "format=flowed \nz"]);
  const fixed = Buffer.from(["Content-Type: text/plain", "", "format=flowed "].join(CRLF));
  expect(joinFlowedTexts(fixed)).toBe(fixed);
});

test("an answer is cut from the flowed mail that it quotes", async () => {
  const { reply } = await read([FLOWED], "On 2030-01-01 Ada <ada@example.com> wrote:", "> Shall ", "> we? ", "Yes, ", "we shall.");
  expect(reply).toBe("Yes, we shall.");
});
