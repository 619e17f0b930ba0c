import { expect, test } from "vitest";
import type { OutgoingMail } from "./mailer.ts";
import { composeMime } from "./mime.ts";
import { createMimeCache } from "./mime-cache.ts";

const mail: OutgoingMail = {
  envelopeFrom: "a@acme.test",
  envelopeTo: "ada@example.com",
  messageId: "<1@acme.test>",
  from: "a@acme.test",
  to: "ada@example.com",
  replyTo: null,
  subject: "Hello",
  html: "<p>Grüße</p>",
  text: "Grüße",
  headers: {},
  attachments: [],
  date: 0,
  attempt: 1,
};
const other = { ...mail, messageId: "<2@acme.test>", to: "bob@example.com", subject: "Hi" };

test("a mail has the same bytes with a cache as without one, whatever was composed before", async () => {
  const cache = createMimeCache();
  const mails = [mail, other, { ...other, text: "Else" }, { ...other, html: null }, { ...mail, html: null, text: null }, mail];
  for (const one of mails) expect(await composeMime(one, undefined, cache)).toEqual(await composeMime(one));
});

test("the content of a later mail is the one that was encoded for the first", async () => {
  const cache = createMimeCache();
  await composeMime(mail, undefined, cache);
  const first = cache.get(mail);
  await composeMime(other, undefined, cache);
  expect(first).toBeDefined();
  expect(cache.get(other)).toBe(first);
  expect(cache.get({ ...mail, text: "Else" })).toBeUndefined();
  cache.clear();
  expect(cache.get(mail)).toBeUndefined();
});

test("a personal mail has the same bytes, and its content is not kept", async () => {
  const cache = createMimeCache();
  const personal = { ...mail, personal: true };
  for (const _ of "12") expect(await composeMime(personal, undefined, cache)).toEqual(await composeMime(mail));
  expect(cache.get(mail)).toBeUndefined();
});

test("what was used least recently is dropped once 8 MB are full, and a very large content is not kept", () => {
  const cache = createMimeCache();
  const encode = (size: number) => {
    const whole = { contentType: "text/html", body: Buffer.alloc(size) };
    return { parts: [whole], whole, boundary: "b" };
  };
  const content = encode(400_000);
  const texts = (n: number) => ({ text: null, html: `content ${n}` });
  cache.set(texts(0), content);
  for (let n = 1; n <= 30; n += 1) {
    expect(cache.get(texts(0))).toBe(content);
    cache.set(texts(n), content);
  }
  expect(cache.get(texts(1))).toBeUndefined();
  expect(cache.get(texts(30))).toBe(content);
  cache.set(texts(31), encode(1_000_000));
  expect(cache.get(texts(31))).toBeUndefined();
});
