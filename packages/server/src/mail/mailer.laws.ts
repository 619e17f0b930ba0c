import { parseMailbox, toDomain } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import PostalMime, { type Email } from "postal-mime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anyCharacter } from "../../test/any-character.ts";
import type { Mailer, OutgoingMail, Receipt } from "./mailer.ts";

/** A message as it arrived on the other side of a mailer. */
export interface ReceivedMail {
  from: string;
  to: string;
  raw: Uint8Array;
}

interface MailerHarness {
  mailer: Mailer;
  /** Runs the `record` of a receipt in a transaction, as the caller of a mailer does. */
  accept(receipt: Receipt): Promise<void>;
  /** Everything that arrived, oldest first. */
  received(): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

/** A plain message with some changes. */
export function sampleMail(changes: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    envelopeFrom: "hello@acme.example",
    envelopeTo: "ada@example.com",
    messageId: "<em_01jc3v2m9k8q4w6x0y5z7a1b2c@acme.example>",
    from: "Acme <hello@acme.example>",
    to: [parseMailbox("ada@example.com")],
    cc: [],
    replyTo: null,
    subject: "Hello",
    html: null,
    text: "It works.",
    headers: {},
    attachments: [],
    date: Date.UTC(2026, 0, 31, 9, 30),
    attempt: 1,
    ...changes,
  };
}

const everyByte = Uint8Array.from({ length: 1024 }, (_, i) => i % 256);

/** Messages that mail software is known to damage. */
export const NASTY_MAIL: readonly (readonly [string, Partial<OutgoingMail>])[] = [
  [
    "a subject and names in UTF-8",
    { subject: "Grüße aus Köln – naïve café", from: '"Müller, Jürgen" <hello@acme.example>', replyTo: "Zoë <zoe@acme.example>" },
  ],
  ["emoji, also in long subjects", { subject: "🎉👩‍👩‍👧‍👦🏳️‍🌈 ".repeat(40).trim(), text: "👍🏽".repeat(300) }],
  [
    "right-to-left text",
    {
      subject: "مرحبا بالعالم",
      from: "שלום עולם <hello@acme.example>",
      text: "مرحبا \u202Ehello\u202C עולם",
      html: "<p dir=rtl>مرحبا</p>",
    },
  ],
  ["a subject of 998 characters", { subject: `${"word ".repeat(199)}end` }],
  ["a subject of 998 characters without a blank", { subject: "x".repeat(998) }],
  ["a subject with blanks at the ends and in the middle", { subject: "  two  blanks  " }],
  ["a subject that looks encoded", { subject: "=?UTF-8?Q?not_encoded?=" }],
  ["a subject that looks like a header", { subject: "Bcc: eve@example.com" }],
  ["a name in quotes", { from: String.raw`"The \"Acme\" Co. \\ (Europe)" <hello@acme.example>` }],
  ["a name that looks like an address", { from: '"ceo@bank.example" <hello@acme.example>' }],
  ["a quoted local part", { from: '"hello, world"@acme.example', to: [parseMailbox('"ada lovelace"@example.com')] }],
  [
    "an IDN domain",
    { from: "hello@bücher.example", envelopeFrom: `hello@${toDomain("bücher.example")}`, to: [parseMailbox("Ada <ada@例え.example>")] },
  ],
  [
    "many recipients with names",
    {
      to: [
        ...Array.from({ length: 46 }, (_, i) => ({ name: `Person, ${i}`, address: `person${i}@${"long.".repeat(20)}example` })),
        { name: "", address: "bare@example.com" },
        { name: "Zoë 🎉", address: "zoe@example.com" },
      ],
      cc: [
        { name: String.raw`"Q" \ <x@y.example>,`, address: '"hello, world"@acme.example' },
        { name: "", address: "cc@example.com" },
      ],
    },
  ],
  ["no recipient by To", { to: [], cc: [{ name: "", address: "cc@example.com" }] }],
  ["lines of 10,000 characters", { text: `${"a".repeat(10_000)}\n${"é".repeat(10_000)}`, html: `<p>${"b".repeat(10_000)}</p>` }],
  ["lines that start with dots", { text: ".\n..\n...\n.hidden\n" }],
  ["a line with a single dot", { text: "before\r\n.\r\nafter\r\n\r\n.\r\n" }],
  ["a lone dot as the whole text", { text: "." }],
  ["CRLF, LF and CR in one text", { text: "crlf\r\nlf\ncr\rend\n\r\r\n", html: "<p>\r\n</p>\n\r<b>\r</b>" }],
  ["empty lines at the end", { text: "end\n\n\n\n" }],
  ["empty lines at the start", { text: "\n\n\nstart" }],
  ["blanks at the ends of lines", { text: "trailing  \ntab\t\n  leading\n \n" }],
  ["From at the start of a line", { text: "From here\nFrom there\n>From elsewhere\n" }],
  ["what looks like a MIME boundary", { text: "--\n----_NmP-0000-Part_1\n--=_\n-- \nsignature", html: "<p>--</p>" }],
  ["what looks like quoted-printable", { text: "a=3D=\nb =E9 = =\n", html: '<a href="https://x.example/?a=1&amp;b=20">=20</a>' }],
  ["characters no terminal likes", { text: "a\u0001b\u001b[31mc\u007fd\u0085e\u2028f\ufefeg\ufeff" }],
  ["html alone", { text: null, html: "<h1>Hi</h1>\n" }],
  ["text and html", { html: "<h1>Hi ü</h1>" }],
  [
    "text, html, an inline image and files",
    {
      html: '<img src="cid:logo@acme">',
      attachments: [
        { filename: "logo.png", contentType: "image/png", contentId: "logo@acme", content: everyByte },
        { filename: "Rechnung für März 🎉.pdf", contentType: "application/pdf", contentId: null, content: everyByte },
        {
          filename: `${"long name ".repeat(20)}.txt`,
          contentType: "text/plain; charset=utf-8",
          contentId: null,
          content: new TextEncoder().encode("é\r\n.\r\nlf\n"),
        },
        { filename: "quo\"te;semi=colon'.bin", contentType: "application/octet-stream", contentId: null, content: new Uint8Array(0) },
      ],
    },
  ],
  [
    "a mail as an attachment, with NUL bytes, bare CRs and lines of 5,000 bytes",
    {
      attachments: [
        {
          filename: "forwarded.eml",
          contentType: "application/octet-stream",
          contentId: null,
          content: new TextEncoder().encode(`Subject: x\r\n\r\n${"y".repeat(5000)}\0\r\n.\r\nbare\rbare\n`),
        },
      ],
    },
  ],
  ["an inline image without html", { attachments: [{ filename: "a.png", contentType: "image/png", contentId: "a", content: everyByte }] }],
  [
    "custom headers, many and long",
    {
      headers: {
        "X-CamelCASE-id": "As Given",
        "List-Unsubscribe": `<https://acme.example/u/${"t".repeat(400)}>, <mailto:u@acme.example>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        References: Array.from({ length: 30 }, (_, i) => `<${i}.message@acme.example>`).join(" "),
        "In-Reply-To": "<0.message@acme.example>",
        "X-Double": "two  blanks",
        "X-Json": '{"a":"b","c":[1,2,3]}',
        "X-Empty": "",
        ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`X-Many-${i}`, `value ${i} `.repeat(20).trim()])),
      },
    },
  ],
  [
    "custom headers in UTF-8 and without a place to fold",
    { headers: { "X-Name": "Grüße 🎉 ".repeat(30).trim(), "X-Token": "t".repeat(2000) } },
  ],
  [
    "ten megabytes",
    {
      attachments: [
        { filename: "big.bin", contentType: "application/octet-stream", contentId: null, content: new Uint8Array(10 << 20).fill(0x2e) },
      ],
    },
  ],
];

/** Expects that an independent parser reads exactly `mail` from a message. */
export async function expectSameMail(raw: Uint8Array, mail: OutgoingMail): Promise<void> {
  const parsed: Email = await PostalMime.parse(raw);
  expect(parsed.subject).toBe(mail.subject);
  expect(parsed.from).toMatchObject(mailbox(mail.from));
  expect(parsed.to ?? []).toMatchObject(mail.to.map(({ name, address }) => ({ name, address })));
  expect(parsed.cc ?? []).toMatchObject(mail.cc.map(({ name, address }) => ({ name, address })));
  expect(parsed.replyTo ?? []).toMatchObject(mail.replyTo === null ? [] : [mail.replyTo].flat().map(mailbox));
  expect(parsed.messageId).toBe(mail.messageId);
  expect(parsed.date).toBe(new Date(mail.date).toISOString());
  if (mail.text !== null) expect(bodies(mail.text)).toContain(lines(parsed.text ?? ""));
  if (mail.html !== null) expect(bodies(mail.html)).toContain(lines(parsed.html ?? ""));
  for (const [name, value] of Object.entries(mail.headers)) {
    const found = parsed.headers.filter((header) => header.originalKey === name);
    expect(found.map((header) => decodedWords(header.value))).toEqual([value.trim()]);
  }
  expect(parsed.attachments).toHaveLength(mail.attachments.length);
  for (const file of mail.attachments) {
    const got = parsed.attachments.find((a) => a.filename === file.filename);
    expect(got, file.filename).toBeDefined();
    if (got === undefined) continue;
    expect(got.mimeType).toBe(file.contentType.split(";")[0]);
    expect(got.contentId ?? null).toBe(file.contentId === null ? null : `<${file.contentId}>`);
    expect(Buffer.compare(bytesOf(got.content), Buffer.from(file.content))).toBe(0);
  }
}

/** Expects only CRLF line ends, and no line longer than a server must accept (RFC 5322 2.1.1). */
export function expectWireForm(raw: Uint8Array): void {
  const text = Buffer.from(raw).toString("latin1");
  expect(/(?<!\r)\n|\r(?!\n)/.test(text), "a bare CR or LF").toBe(false);
  const longest = text.split("\r\n").reduce((max, line) => Math.max(max, line.length), 0);
  expect(longest).toBeLessThanOrEqual(998);
}

// Text that a caller may send: well-formed Unicode without NUL, which mail cannot contain.
const bodyText = fc.string({ unit: anyCharacter, maxLength: 400 }).filter((s) => s.isWellFormed() && !s.includes("\0"));
const headerText = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 200 })
  .filter((s) => s.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(s) && s.trim() !== "");

/** The suite that every mailer passes. Each test gets its own harness. */
export function mailerLaws(name: string, makeHarness: () => Promise<MailerHarness>): void {
  describe(`${name} keeps the laws of mailers`, () => {
    let harness: MailerHarness;
    beforeEach(async () => {
      harness = await makeHarness();
    });
    afterEach(() => harness.close());

    const deliver = async (mail: OutgoingMail): Promise<Receipt> => {
      const receipt = await harness.mailer.send(mail);
      expect(["sent", "delivered"], JSON.stringify(receipt)).toContain(receipt.outcome);
      await harness.accept(receipt);
      return receipt;
    };

    const deliverOne = async (mail: OutgoingMail): Promise<ReceivedMail> => {
      await deliver(mail);
      const last = (await harness.received()).at(-1);
      if (last === undefined) throw new Error("Nothing arrived.");
      return last;
    };

    test.each(NASTY_MAIL)("delivers %s unchanged", async (_, changes) => {
      const mail = sampleMail(changes);
      const got = await deliverOne(mail);
      expect([mailbox(got.from), mailbox(got.to)]).toEqual([mailbox(mail.envelopeFrom), mailbox(mail.envelopeTo)]);
      expectWireForm(got.raw);
      await expectSameMail(got.raw, mail);
    });

    test("delivers any text, subject and name unchanged", async () => {
      // Parsers treat a body of blanks as no body.
      const body = bodyText.filter((text) => /\S/.test(text));
      const any = fc.record({ subject: headerText, text: body, html: body, header: headerText });
      await fc.assert(
        fc.asyncProperty(any, async ({ subject, text, html, header }) => {
          const mail = sampleMail({ subject, text, html, headers: { "X-Any": header.replaceAll("=?", "=") } });
          const got = await deliverOne(mail);
          expectWireForm(got.raw);
          await expectSameMail(got.raw, mail);
        }),
        { numRuns: 60 },
      );
    });

    test("adds no header that was not asked for", async () => {
      const got = await deliverOne(sampleMail({ html: "<p>", headers: { "X-Mine": "1" } }));
      const parsed = await PostalMime.parse(got.raw);
      const known = ["from", "to", "subject", "date", "message-id", "x-mine", "mime-version", "content-type", "received"];
      expect(parsed.headers.map((header) => header.key).filter((key) => !known.includes(key))).toEqual([]);
    });

    test("delivers the same bytes at every attempt", async () => {
      const mail = sampleMail({
        html: "<p>ü</p>",
        attachments: [{ filename: "a.bin", contentType: "application/pdf", contentId: null, content: everyByte }],
      });
      const first = await deliverOne(mail);
      const second = await deliverOne({ ...mail, attempt: 2 });
      // Receivers add their own Received lines on top.
      const own = (raw: Uint8Array): string =>
        Buffer.from(raw)
          .toString("latin1")
          .replace(/^(?:Received:.*\r\n(?:[ \t].*\r\n)*)+/, "");
      expect(own(second.raw)).toBe(own(first.raw));
    });

    test("takes many messages at once and mixes none up", async () => {
      const mails = Array.from({ length: 40 }, (_, i) =>
        sampleMail({
          envelopeTo: `user${i}@example.com`,
          to: [{ name: "", address: `user${i}@example.com` }],
          messageId: `<${i}@acme.example>`,
          text: `for ${i}\n`.repeat(i * 40 + 1),
        }),
      );
      await Promise.all(mails.map(deliver));
      const received = await harness.received();
      expect(received).toHaveLength(mails.length);
      for (const mail of mails) {
        const got = received.find((r) => r.to === mail.envelopeTo);
        if (got === undefined) throw new Error(`${mail.envelopeTo} got nothing.`);
        await expectSameMail(got.raw, mail);
      }
    });

    test("refuses a header that would become two, and sends nothing", async () => {
      const forged = [
        sampleMail({ subject: "a\r\nBcc: eve@example.com" }),
        sampleMail({ headers: { "X-A": "1\nBcc: eve@example.com" } }),
        sampleMail({ headers: { "X-A: 1\r\nBcc": "eve@example.com" } }),
      ];
      for (const mail of forged) await expect(harness.mailer.send(mail)).rejects.toThrow(TypeError);
      expect(await harness.received()).toEqual([]);
    });

    test("says that it is ready", async () => {
      expect(await harness.mailer.check()).toBeNull();
    });

    test("closes, also twice", async () => {
      await deliver(sampleMail());
      await harness.mailer.close();
      await harness.mailer.close();
      expect(await harness.received()).toHaveLength(1);
    });
  });
}

function lines(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\n");
}

// A reader may count the line end at the end of a message or part as text.
function bodies(text: string): string[] {
  return [lines(text), `${lines(text)}\n`];
}

function decodedWords(value: string): string {
  return value.replace(/\?=\s+=\?/g, "?==?").replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, data: string) => {
    const bytes =
      kind.toUpperCase() === "B"
        ? Buffer.from(data, "base64")
        : Buffer.from(
            data.replaceAll("_", " ").replace(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            "latin1",
          );
    // Bytes until all words are joined: a character must not be split over two words, which this would show.
    return bytes.toString("utf8");
  });
}

function mailbox(text: string): { name: string; address: string } {
  const [, name = "", address = text] = /^(.*?)\s*<(.*)>$/.exec(text) ?? [];
  const at = address.lastIndexOf("@");
  const unquoted = name.startsWith('"') ? name.slice(1, -1).replace(/\\(.)/g, "$1") : name;
  return { name: unquoted, address: `${address.slice(0, at)}@${toDomain(address.slice(at + 1))}` };
}

function bytesOf(content: ArrayBuffer | Uint8Array | string): Buffer {
  return typeof content === "string"
    ? Buffer.from(content)
    : content instanceof Uint8Array
      ? Buffer.from(content)
      : Buffer.from(new Uint8Array(content));
}
