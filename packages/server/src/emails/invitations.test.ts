import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { IcalEvent } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import ICAL from "ical.js";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { describe, expect, test } from "vitest";
import { formatCalendar } from "../mail/calendar-lines.ts";
import { dkimSigner, toPublicKey } from "../mail/dkim.ts";
import { composeMime } from "../mail/mime.ts";
import { createWorld } from "../testing.ts";

const calendar = (method: string) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", `METHOD:${method}`, "BEGIN:VEVENT", "UID:1@acme.example", "END:VEVENT", "END:VCALENDAR", ""].join(
    "\n",
  );
const mail = { from: "hello@acme.example", to: "ada@example.com", subject: "Review", text: "Coming?", html: "<p>Coming?</p>" };
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** The content types and dispositions of a message, in their order. */
const listParts = (raw: string) =>
  [...raw.matchAll(/^Content-(?:Type|Disposition): ([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)/gim)].map(([, value = ""]) =>
    value.replaceAll(/\s+/g, " ").replace(/boundary=\S+/, "boundary"),
  );

const INVITATION = [
  "multipart/mixed; boundary",
  "multipart/alternative; boundary",
  "text/plain; charset=utf-8",
  "text/html; charset=utf-8",
  "text/calendar; charset=utf-8; method=REQUEST",
];

test("an invitation is the last alternative without a disposition, and a file", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.emails.send({ ...mail, icalEvent: { method: "REQUEST", content: calendar("REQUEST") } });
  const { id, attachments } = await world.inbox.waitFor({ to: mail.to });
  const raw = await sdk.inbox.raw(id);
  // Headers of the file: the disposition comes before the type.
  expect(listParts(raw)).toEqual([...INVITATION, 'attachment; filename="invite.ics"', 'application/ics; name="invite.ics"']);
  expect(raw.split(base64(calendar("REQUEST").replaceAll("\n", "\r\n")).slice(0, 60))).toHaveLength(3);
  expect(attachments.map(({ filename }) => filename)).toEqual(["invite.ics"]);
});

test("an attachment of the type text/calendar with a method is an invitation, whatever parameters it has", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const file = {
    filename: "termin.ics",
    content: base64(calendar("REQUEST")),
    contentType: "text/calendar; charset=utf-8; method=REQUEST",
  };
  const plain = { filename: "plan.ics", content: base64(calendar("PUBLISH")), contentType: "text/calendar" };
  await sdk.emails.send({ ...mail, attachments: [file, plain] });
  const { id } = await world.inbox.waitFor({ to: mail.to });
  expect(listParts(await sdk.inbox.raw(id))).toEqual([
    ...INVITATION,
    'attachment; filename="termin.ics"',
    'application/ics; name="termin.ics"',
    'attachment; filename="plan.ics"',
    'text/calendar; name="plan.ics"',
  ]);
});

test("batches and templates send invitations, and a method that the calendar does not have is refused", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const icalEvent = { method: "CANCEL" as const, content: calendar("CANCEL") };
  await sdk.emails.sendBatch({ emails: [{ ...mail, icalEvent }] });
  expect(await sdk.inbox.raw((await world.inbox.waitFor({ to: mail.to })).id)).toContain("text/calendar; charset=utf-8; method=CANCEL");
  await expect(sdk.emails.send({ ...mail, icalEvent: { method: "REQUEST", content: calendar("CANCEL") } })).rejects.toMatchObject({
    details: [{ path: "icalEvent.method", code: "mismatch" }],
  });
  await expect(sdk.emails.send({ ...mail, icalEvent: { content: "Hello" } })).rejects.toMatchObject({
    details: [{ path: "icalEvent.content", code: "invalid_format" }],
  });
  const odd = { filename: "a.bin", content: "aGk=" };
  for (const contentType of ['application/pdf; version="1.7"', "text/plain;format=flowed; delsp=yes"])
    await sdk.emails.send({ ...mail, attachments: [{ ...odd, contentType }] });
  for (const contentId of ["ii_abc=", "img%40x", "a/b", "{C7F3}"]) await sdk.emails.send({ ...mail, attachments: [{ ...odd, contentId }] });
});

test("nodemailer's words are taken: the method in small letters or absent, and the name of the file", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const method = "request" as "REQUEST";
  await sdk.emails.send({ ...mail, icalEvent: { method, content: calendar("REQUEST"), filename: "treffen ü.ics" } });
  await sdk.emails.send({ ...mail, to: "bob@example.com", icalEvent: { content: calendar("REPLY") } });
  expect(await world.inbox.waitFor({ to: mail.to })).toMatchObject({
    icalEvent: { method: "REQUEST" },
    attachments: [{ filename: "treffen ü.ics", contentType: "application/ics" }],
  });
  expect((await world.inbox.waitFor({ to: "bob@example.com" })).icalEvent?.method).toBe("REPLY");
});

/** A calendar whose lines are too long, in letters of four bytes and with bare line feeds, as programs write it. */
const LONG = `\uFEFF${calendar("REQUEST")
  .replace(
    "UID:1@acme.example",
    `UID:1@acme.example\nSUMMARY:Besprechung über 日本語\\, ${"😀".repeat(60)}\nDESCRIPTION:${"a b".repeat(400)}`,
  )
  .replace(
    "END:VEVENT",
    'ATTENDEE;CN="Lövelace: Ada";RSVP=TRUE:mailto:ada@example.com\nLOCATION:Saal 1\\nunten\nDTSTART;TZID=Europe/Berlin:20300131T093000\nEND:VEVENT',
  )}\n  `;

test("long lines are folded between characters, and what the parsers of others read is what was sent", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.emails.send({ ...mail, icalEvent: { content: LONG } });
  const captured = await world.inbox.waitFor({ to: mail.to });
  expect(captured.icalEvent).toMatchObject({
    method: "REQUEST",
    summary: `Besprechung über 日本語, ${"😀".repeat(60)}`,
    start: "20300131T093000 Europe/Berlin",
    location: "Saal 1\nunten",
    attendees: ["ada@example.com"],
  });
  // The latin1 text of the answer holds the bytes.
  const raw = Buffer.from(await sdk.inbox.raw(captured.id), "latin1");
  const [read] = await readByPython([raw]);
  expect(read).toMatchObject({
    defects: [],
    types: ["multipart/mixed", "multipart/alternative", "text/plain", "text/html", "text/calendar", "application/ics"],
    method: "REQUEST",
    charset: "utf-8",
    disposition: null,
    file: "invite.ics",
    same: true,
    bareLineEnds: false,
  });
  const lines = String(read?.["calendar"]).split("\r\n");
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
  expect(lines.at(-1)).toBe("");
  expect(readEvent(String(read?.["calendar"]))).toMatchObject({
    method: "REQUEST",
    uid: "1@acme.example",
    summary: `Besprechung über 日本語, ${"😀".repeat(60)}`,
    description: "a b".repeat(400),
    location: "Saal 1\nunten",
    start: "2030-01-31T09:30:00 Europe/Berlin",
    attendees: [{ address: "mailto:ada@example.com", name: "Lövelace: Ada", rsvp: "TRUE" }],
  });
  const unfolded = String(read?.["calendar"]).replaceAll("\r\n ", "");
  expect(unfolded).toBe(`${LONG.slice(1).trim().replaceAll("\n", "\r\n")}\r\n`);
  expect(
    raw
      .toString("latin1")
      .split("\r\n")
      .every((line) => line.length <= 998 && /^[\x20-\x7e\t]*$/.test(line)),
  ).toBe(true);
});

/** The first event of a calendar as ical.js reads it, the parser of Thunderbird. It throws for a line that it cannot read. */
function readEvent(text: string) {
  const whole = new ICAL.Component(ICAL.parse(text));
  const [part] = whole.getAllSubcomponents("vevent");
  if (part === undefined) throw new Error("There is no event.");
  const { uid, summary, description, location, sequence, startDate, attendees } = new ICAL.Event(part);
  return {
    method: whole.getFirstPropertyValue("method"),
    ...{ uid, summary, description, location, sequence },
    start: startDate === null ? null : `${startDate} ${part.getFirstProperty("dtstart")?.getParameter("tzid")}`,
    attendees: attendees.map((one) => ({
      address: one.getFirstValue(),
      name: one.getParameter("cn"),
      rsvp: one.getParameter("rsvp"),
    })),
  };
}

/** A text as it stands in a calendar (RFC 5545, 3.3.11). */
const escapeText = (text: string): string => text.replaceAll(/[\\;,]/g, "\\$&").replaceAll("\n", "\\n");

test("any texts come out of the parser of a mail program as they went in, whatever line ends they were written with", () => {
  const unit = fc.oneof(fc.constantFrom(...'ab ,;:\\\n"=é日😀'), fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }));
  const text = fc
    .string({ unit, maxLength: 300 })
    .map((one) => one.replaceAll(/[\p{Cc}\u2028\u2029\uFEFF]/gu, (c) => (c === "\n" ? c : "")));
  fc.assert(
    fc.property(text, text, fc.constantFrom("\n", "\r\n", "\r"), (summary, location, end) => {
      const lines = ["BEGIN:VCALENDAR", "METHOD:PUBLISH", "BEGIN:VEVENT", "UID:1", `SUMMARY:${escapeText(summary)}`];
      const sent = formatCalendar([...lines, `LOCATION:${escapeText(location)}`, "END:VEVENT", "END:VCALENDAR"].join(end));
      expect(readEvent(sent)).toMatchObject({ method: "PUBLISH", uid: "1", summary, location });
    }),
  );
});

/** Messages as Python's email package reads them. A machine without Python fails the test. */
async function readByPython(messages: Buffer[]): Promise<Record<string, unknown>[]> {
  const program = `
import base64, email, json, sys
from email.policy import default
def read(raw):
    mail = email.message_from_bytes(base64.b64decode(raw), policy=default)
    parts = list(mail.walk())
    calendar = next(p for p in parts if p.get_content_type() == "text/calendar")
    file = next(p for p in parts if p.get_content_type() == "application/ics")
    bytes = calendar.get_payload(decode=True)
    text = bytes.decode(calendar.get_content_charset())
    return dict(defects=[str(d) for p in parts for d in p.defects], types=[p.get_content_type() for p in parts],
        method=calendar.get_param("method"), charset=calendar.get_content_charset(), disposition=calendar.get("content-disposition"),
        file=file.get_filename(), same=file.get_payload(decode=True) == bytes, calendar=text,
        bareLineEnds="\\n" in text.replace("\\r\\n", "") or "\\r" in text.replace("\\r\\n", ""))
print(json.dumps([read(raw) for raw in json.load(sys.stdin)]))`;
  const child = execFile("python3", ["-c", program], { timeout: 120_000, maxBuffer: 2 ** 24 });
  child.stdin?.end(JSON.stringify(messages.map((one) => one.toString("base64"))));
  const [text] = await Promise.all([readAll(child.stdout as Readable), once(child, "close")]);
  return JSON.parse(text) as Record<string, unknown>[];
}

test("a signed invitation verifies, and a mail with text alone has two alternatives", async () => {
  const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const sign = dkimSigner([{ domain: "acme.example", selector: "a", privateKey, workspaces: null }]);
  const content = Buffer.from(calendar("REQUEST"));
  const message = await composeMime(
    {
      ...{ from: mail.from, to: [mail.to], cc: [], replyTo: null, subject: "Größe", text: "Kommst du?", html: null, headers: {} },
      ...{ messageId: "<1@acme.example>", date: new Date() },
      attachments: [{ filename: "invite.ics", contentType: 'text/calendar; METHOD="REQUEST"', contentId: null, content }],
    } as unknown as Parameters<typeof composeMime>[0],
    sign,
  );
  expect(listParts(message.toString("latin1")).slice(0, 4)).toEqual([
    "multipart/mixed; boundary",
    "multipart/alternative; boundary",
    "text/plain; charset=utf-8",
    'text/calendar; METHOD="REQUEST"; charset=utf-8',
  ]);
  const { results } = await dkimVerify(message, {
    resolver: async () => [[`v=DKIM1; k=rsa; p=${toPublicKey({ privateKey }).key}`]],
  });
  expect(results.map(({ status }) => status.result)).toEqual(["pass"]);
});

describe("a calendar is refused, and the error says why,", () => {
  const good = calendar("REQUEST");
  test.each([
    ["that is folded by the indentation of the program", good.replaceAll("\n", "\n  "), "does not start"],
    ["without an end", good.replace("END:VCALENDAR\n", ""), "END:VCALENDAR is missing"],
    ["whose parts end in the wrong order", good.replace("END:VEVENT\nEND:VCALENDAR", "END:VCALENDAR\nEND:VEVENT"), "VEVENT is open"],
    ["with another one behind it", good + good, "behind END:VCALENDAR"],
    ["with a header behind it", `${good}\nBcc: eve@example.com`, "behind END:VCALENDAR"],
    ["with a line that is no property", good.replace("UID:", "UID "), "Line 5"],
    ["with a control character", good.replace("UID:", "UID:\u0007"), "control character"],
    ["without an event", "BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR", "no event"],
    ["with two methods", good.replace("METHOD:REQUEST", "METHOD:REQUEST\nMETHOD:CANCEL"), "given twice"],
    ["without a method", good.replace("METHOD:REQUEST\n", ""), "no METHOD"],
    ["whose method is hidden in an event", good.replace("METHOD:REQUEST\n", "").replace("UID:1", "METHOD:REQUEST\nUID:1"), "no METHOD"],
    ["with a method that nobody knows", good.replace("REQUEST", "INVITE"), "none of REQUEST"],
    ["that is deeper than calendars are", `BEGIN:VCALENDAR\nMETHOD:ADD\n${"BEGIN:X\n".repeat(5000)}`, "deep"],
    ["that is larger than calendars are", good.replace("UID:", `X:${"ü".repeat(600_000)}\nUID:`), "1 MiB"],
    ["with more lines than calendars have", good.replace("UID:", `${"X:1\n".repeat(30_000)}UID:`), "20000 properties"],
  ])("%s", async (_what, content, why) => {
    const found = IcalEvent.safeParse({ content });
    expect(found.error?.issues.map(({ path, message }) => [path, message])).toEqual([[["content"], expect.stringContaining(why)]]);
  });

  test("and nothing but a known method and a harmless name comes into a header", async () => {
    await using world = await createWorld();
    for (const icalEvent of [
      { method: "REQUEST\r\nBcc: eve@example.com", content: good },
      { content: good.replace("METHOD:REQUEST", 'METHOD:REQUEST; x="') },
      { content: good, filename: "a\r\nBcc: eve@example.com" },
      { content: good, filename: "../../a.ics" },
      { content: good, method: "CANCEL" },
    ])
      await expect(world.sdk.emails.send({ ...mail, icalEvent: icalEvent as never })).rejects.toMatchObject({ code: "validation_error" });
    await world.sdk.emails.send({ ...mail, icalEvent: { content: good, filename: 'a"; x="b.ics' } });
    expect((await world.inbox.waitFor({ to: mail.to })).attachments.map(({ filename }) => filename)).toEqual(['a"; x="b.ics']);
  });
});

test("a template sends an invitation to each recipient, and scheduled mail has it too", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.templates.create({ name: "Review", slug: "review", subject: "Review", html: "<p>Coming, {{name}}?</p>", publish: true });
  const scheduledAt = new Date(world.clock.now() + 3_600_000).toISOString();
  const to = ["ada@example.com", "bob@example.com"];
  await sdk.templates.send("review", {
    to,
    from: mail.from,
    variables: { name: "you" },
    icalEvent: { content: calendar("REQUEST") },
    scheduledAt,
  });
  await world.clock.advance("2h");
  for (const one of to) expect((await world.inbox.waitFor({ to: one })).icalEvent?.method).toBe("REQUEST");
});
