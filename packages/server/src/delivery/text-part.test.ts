import { expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { createWorld } from "../testing.ts";

const html = '<h1>News</h1><p><a href="https://acme.example/sale">Sale</a></p>';
const mail = { from: "a@acme.test", to: "ada@example.com", subject: "Hi", html };

test("a mail with HTML only gets a text part, with the real addresses of tracked links", async () => {
  const mailer = acceptingMailer();
  await using world = await createWorld({ mailer });
  const contents = [{ tracking: { clicks: true } }, { text: "My own text" }, { html: '<img src="https://acme.example/a.png">' }];
  for (const content of contents) {
    await world.sdk.emails.send({ ...mail, ...content });
    // Two mails at once have no order.
    await world.settle();
  }
  expect(mailer.mails.map(({ text }) => text)).toEqual(["News\n\nSale (https://acme.example/sale)", "My own text", null]);
  expect(mailer.mails[0]?.html).not.toContain("https://acme.example/sale");
});

test("every attempt sends the same mail, with its links, headers and return path", async () => {
  const error = { message: "451 later", smtpCode: 451, enhancedCode: null };
  const mailer = acceptingMailer(({ attempt }) => (attempt < 3 ? { outcome: "deferred", error } : { outcome: "sent", response: "250 OK" }));
  await using world = await createWorld({ mailer, flags: { "inbound-domain": "in.acme.test" } });
  const { id } = await world.sdk.templates.create({
    name: "N",
    slug: "n",
    subject: "N",
    html: `${html}<a href="{{unsubscribeUrl}}">No</a>`,
  });
  await world.sdk.templates.publish(id);
  await world.sdk.templates.send("n", { from: mail.from, to: mail.to, tracking: { opens: true, clicks: true } });
  await world.clock.advance("1d");
  const [first, ...others] = mailer.mails.map(({ attempt: _, isStillWanted: _question, ...sent }) => sent);
  expect(others).toHaveLength(2);
  expect(first?.html).toMatch(/\/t\/c\/.*\/unsubscribe\/.*\/t\/o\//);
  for (const other of others) expect(other).toEqual(first);
});
