import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

const send = async (w: TestWorld, name: string): Promise<string> => {
  const to = `${name}@simulator.mailsvc.test`;
  return ((await w.sdk.emails.send({ from: "Acme <hello@acme.test>", to, subject: "Hello", text: "It works." })) as { id: string }).id;
};

test.each([
  ["delivered", "1m", ["email.queued", "email.sent", "email.delivered"], "delivered"],
  ["opened", "1m", ["email.queued", "email.sent", "email.delivered", "email.opened"], "delivered"],
  ["clicked+campaign-7", "1m", ["email.queued", "email.sent", "email.delivered", "email.opened", "email.clicked"], "delivered"],
  ["complained", "1m", ["email.queued", "email.sent", "email.delivered", "email.complained"], "complained"],
  ["delayed", "2m", ["email.queued", "email.deferred", "email.sent", "email.delivered"], "delivered"],
  ["timeout", "2m", ["email.queued", "email.deferred", "email.sent", "email.delivered"], "delivered"],
  ["bounced", "1m", ["email.queued", "email.bounced"], "bounced"],
  ["nobody-in-particular", "1m", ["email.queued", "email.bounced"], "bounced"],
  ["softbounced", "7d", ["email.queued", ...Array<string>(9).fill("email.deferred"), "email.failed"], "failed"],
])("a simulated recipient plays its part: %s", async (name, by, expected, status) => {
  await using w = await createWorld();
  const id = await send(w, name);
  await w.clock.advance(by);
  const email = await w.sdk.emails.get(id);
  expect(email.events.map(({ type }) => type)).toEqual(expected);
  expect(email.status).toBe(status);
});

test("a simulated click is one of the first link, in the event and in the statistics of a campaign", async () => {
  await using w = await createWorld();
  await w.sdk.contacts.create({ email: "clicked@simulator.mailsvc.test", firstName: "Ada" });
  const { id } = await w.sdk.campaigns.create({
    name: "Launch",
    subjectLine: "Hello",
    fromEmail: "news@acme.example",
    html: '<a href="{{unsubscribeUrl}}">Unsubscribe</a> <a href="https://acme.example/{{firstName}}">Look</a> <a href="https://acme.example/2">2</a>',
    utm: { source: "news" },
  });
  await w.sdk.campaigns.send(id);
  await w.clock.advance("1m");
  const url = "https://acme.example/Ada?utm_source=news";
  const [recipient] = await w.sdk.campaigns.recipients(id).toArray();
  const { events } = await w.sdk.emails.get(recipient?.emailId ?? "");
  expect(events.at(-1)).toMatchObject({ type: "email.clicked", data: { simulated: true, url } });
  expect((await w.sdk.campaigns.stats(id)).links).toEqual([{ url, clicks: 1, uniqueClicks: 1, machineClicks: 0 }]);
  expect((await w.sdk.campaigns.verify(id)).differences).toEqual([]);
});

test("reactions of simulated recipients come on time and are marked as simulated", async () => {
  await using w = await createWorld();
  const id = await send(w, "clicked");
  await w.clock.advance("1m");
  const { events } = await w.sdk.emails.get(id);
  expect(events.slice(3)).toMatchObject([
    { type: "email.opened", at: "2026-01-01T00:00:02.000Z", data: { simulated: true } },
    { type: "email.clicked", at: "2026-01-01T00:00:04.000Z", data: { simulated: true } },
  ]);
});
