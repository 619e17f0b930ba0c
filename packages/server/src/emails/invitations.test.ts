import { expect, test } from "vitest";
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
  expect(attachments.map(({ filename }) => filename)).toContain("invite.ics");
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
  await expect(sdk.emails.send({ ...mail, icalEvent: { content: calendar("CANCEL") } })).rejects.toMatchObject({
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
