import fc from "fast-check";
import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { joinEntities, type MimeEntity } from "./mime-entity.ts";
import { encodeLongText, encodeText } from "./mime-text.ts";

/** The entity as its own message, as a receiver would parse it. */
const parse = async ({ contentType, transferEncoding, body }: MimeEntity) => {
  const encoding = transferEncoding === undefined ? "" : `Content-Transfer-Encoding: ${transferEncoding}\r\n`;
  return PostalMime.parse(Buffer.concat([Buffer.from(`MIME-Version: 1.0\r\n${encoding}Content-Type: ${contentType}\r\n\r\n`), body]));
};

// postal-mime gives texts with LF and, depending on the encoding, ends them in one more.
const normalized = (text = ""): string => text.replace(/\r\n|\r|\n/g, "\n").replace(/\n+$/, "");

const lines = (body: Buffer): string[] => body.toString("latin1").split("\r\n");

// Texts that mail software damages: line ends, blanks, dots, "From ", "=", long lines, all of Unicode.
const piece = fc.oneof(
  fc.constantFrom(
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "  \n",
    ".",
    "\n.\n",
    "\nFrom ",
    "From ",
    "=",
    "=3D",
    "=\n",
    "--",
    "\u00a0",
    "\u2028",
    "é",
    "👍🏽",
    "\x7f",
    "\x0b",
  ),
  fc.string({ maxLength: 90 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.integer({ min: 60, max: 90 }).map((n) => "x".repeat(n)),
);
const text = fc
  .array(piece, { maxLength: 30 })
  .map((pieces) => pieces.join("").replaceAll("\0", ""))
  .filter((t) => t.isWellFormed());

describe("A text as a MIME entity", () => {
  test("is read back as it was, in lines of at most 76 ASCII characters that no relay changes", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (original) => {
        const entity = encodeText("text/plain", original);
        for (const line of lines(entity.body)) {
          expect(line.length).toBeLessThanOrEqual(76);
          expect(line).toMatch(/^[\t\x20-\x7e]*$/);
          expect(line).not.toMatch(/[ \t]$/);
          expect(line).not.toMatch(/^From /);
        }
        expect(normalized((await parse(entity)).text)).toBe(normalized(original));
      }),
    );
  });

  test("is kept with its alternative", async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (plain, html) => {
        const both = joinEntities(
          "multipart/alternative",
          [encodeText("text/plain", plain), encodeText("text/html", html)],
          "b".repeat(32),
        );
        const mail = await parse(both);
        expect(normalized(mail.text)).toBe(normalized(plain));
        expect(normalized(mail.html)).toBe(normalized(html));
      }),
    );
  });

  test.each([
    ["short ASCII", "Hello.\r\nBye.", "7bit"],
    ["a line of 76", "x".repeat(76), "7bit"],
    ["a line of 77", "x".repeat(77), "quoted-printable"],
    ["a blank at a line's end", "a \r\nb", "quoted-printable"],
    ["a blank at the end", "a ", "quoted-printable"],
    ["a tab at the end", "a\t", "quoted-printable"],
    ["From at a line's start", "Hi\r\nFrom here", "quoted-printable"],
    ["a few letters beyond ASCII", "Grüße aus Köln", "quoted-printable"],
    ["mostly letters beyond ASCII", "日本語", "base64"],
    ["a control character", "a\x0bbcdefgh", "quoted-printable"],
    ["nothing", "", "7bit"],
  ])("of %s", (_name, content, encoding) => {
    expect(encodeText("text/plain", content).transferEncoding).toBe(encoding);
  });

  test("takes time in proportion to its length, whatever it looks like", () => {
    const hostile = [
      " ".repeat(2_000_000),
      "\r\n".repeat(1_000_000),
      "x".repeat(2_000_000),
      "=\n ".repeat(700_000),
      "é ".repeat(1_000_000),
    ];
    for (const content of hostile) expect(encodeText("text/html", content).body.length).toBeLessThan(content.length * 4);
  });
});

test("a long text is encoded as in one go, and other work has its turn meanwhile", async () => {
  for (const text of [
    `${"wörd ".repeat(60_000)}\n`.repeat(4),
    "é".repeat(400_000),
    `${"From here =\r\n".repeat(50_000)}end `,
    "plain\n".repeat(100_000),
    // The first cut falls on a line end, inside a surrogate pair, or after a lone surrogate.
    ...["\r\n", "👋", "\ud83d"].map((cut) => `${"x".repeat(256 * 1024 - 1)}${cut}${"y\r\n".repeat(100_000)}`),
  ]) {
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const long = await encodeLongText("text/html", text);
    counting = false;
    const short = encodeText("text/html", text);
    expect({ ...long, body: long.body.equals(short.body) }).toEqual({ ...short, body: true });
    expect(turns).toBeGreaterThan(1);
  }
});
