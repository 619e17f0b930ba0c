import { expect, test } from "vitest";
import type { TestInbox } from "./mail.ts";
import { toTestMail } from "./mail.ts";
import { toHaveSent } from "./to-have-sent.ts";

const captured = (fields: object) => ({
  id: "mail_1",
  emailId: "em_1",
  workspaceId: "ws_1",
  to: "ada@example.com",
  from: "Acme <hi@acme.test>",
  subject: "Your code",
  size: 100,
  receivedAt: "2030-01-31T08:00:00.000Z",
  headers: [],
  html: "<p>Code <b>AB-12</b></p>",
  text: null,
  links: [],
  codes: [],
  attachments: [],
  icalEvent: null,
  truncated: false,
  ...fields,
});

const inboxOf = (...mails: ReturnType<typeof captured>[]): TestInbox => ({
  all: async ({ to } = {}) => mails.filter((mail) => to === undefined || mail.to === to),
  get: async (id) => toTestMail(mails.find((mail) => mail.id === id) ?? captured({})),
  waitFor: async () => toTestMail(captured({})),
});

test("a mail matches by its recipient and by parts or patterns of its texts", async () => {
  const inbox = inboxOf(captured({}));
  expect((await toHaveSent({ inbox }, { to: "ada@example.com", subject: /^Your/, html: "AB-12" })).pass).toBe(true);
  expect((await toHaveSent({ inbox }, { from: "acme.test" })).pass).toBe(true);
  const missing = await toHaveSent({ inbox }, { to: "ada@example.com", subject: "Welcome" });
  expect(missing.pass).toBe(false);
  expect(missing.message()).toBe(
    'No mail with to: "ada@example.com", subject: "Welcome" was sent. These were sent:\n  to ada@example.com: Your code',
  );
  expect((await toHaveSent({ inbox: inboxOf() }, { to: "ada@example.com" })).message()).toContain("No mail was sent at all.");
});

test("a code is the first number, or what a pattern finds in the text of a mail", () => {
  const mail = toTestMail(captured({ codes: ["471123"] }));
  expect(mail.code()).toBe("471123");
  expect(mail.code(/\b[A-Z]{2}-(\d+)/g)).toBe("12");
  expect(() => mail.code(/[A-Z]{9}/)).toThrow('The mail "Your code" to ada@example.com has nothing that matches /[A-Z]{9}/.');
  expect(() => toTestMail(captured({})).code()).toThrow("has no number of 4 to 8 digits");
});
