import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEventPayload } from "resend";
import { Webhook } from "svix";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResendServer, startResend } from "../../../test/resend-server.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: ResendServer;
let receiver: Server;
let url: string;
const received: Received[] = [];

beforeAll(async () => {
  server = await startResend();
  receiver = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    received.push({ headers: req.headers, body: Buffer.concat(chunks).toString() });
    res.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  receiver.close();
  await server.close();
});

const hello = { from: "Acme <hello@acme.com>", subject: "Hello", html: "<p>It works.</p>", tags: [{ name: "kind", value: "welcome" }] };
const headersOf = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

test("a webhook that is registered here gets Resend's events, which Svix's package verifies", async () => {
  const { webhooks, emails, contacts, segments, templates, broadcasts } = server.resend;
  const created = await webhooks.create({
    endpoint: url,
    events: [
      ...(["email.delivered", "email.bounced", "email.scheduled", "contact.created", "contact.updated"] as const),
      ...(["contact.deleted", "suppression.added", "domain.created"] as const),
    ],
  });
  const { id, signing_secret: secret } = created.data ?? { id: "", signing_secret: "" };
  expect(secret).toMatch(/^whsec_/);
  expect((await webhooks.get(id)).data).toMatchObject({ endpoint: url, status: "enabled", signing_secret: secret });
  const sent = await emails.send({ ...hello, to: "ada@example.com" });
  await emails.send({ ...hello, to: "bounced@resend.dev" });
  const grace = await contacts.create({ email: "grace@example.com", firstName: "Grace" });
  const list = await segments.create({ name: "Readers" });
  const segmentId = list.data?.id ?? "";
  await contacts.segments.add({ email: "grace@example.com", segmentId });
  await contacts.update({ email: "grace@example.com", lastName: "Hopper" });
  const made = await templates.create({ name: "Welcome", alias: "welcome", from: hello.from, subject: "Welcome", html: "<p>Hi</p>" });
  await templates.publish("welcome");
  await emails.send({ to: "kay@example.com", template: { id: "welcome" } });
  const cast = await broadcasts.create({ segmentId, from: hello.from, subject: "News", text: "News" });
  await broadcasts.send(cast.data?.id ?? "");
  await server.settle();
  const deleted = await contacts.create({ email: "gone@example.com" });
  await contacts.remove({ email: "gone@example.com" });
  await server.settle();

  const events = received.map((one) => {
    expect(() => new Webhook(secret).verify(one.body, headersOf(one))).not.toThrow();
    expect(one.headers["svix-id"]).toMatch(/^evt_/);
    return JSON.parse(one.body) as WebhookEventPayload;
  });
  const find = <T extends WebhookEventPayload["type"]>(type: T) =>
    events.filter((event): event is Extract<WebhookEventPayload, { type: T }> => event.type === type);
  const delivered = find("email.delivered");
  const findTo = (to: string) => delivered.find(({ data }) => data.to.includes(to));
  expect(findTo("ada@example.com")).toMatchObject({
    created_at: expect.stringMatching(/Z$/),
    data: {
      ...{ email_id: sent.data?.id, message_id: expect.stringMatching(/^<em_\w+@acme.com>$/), created_at: expect.stringMatching(/Z$/) },
      ...{ from: hello.from, to: ["ada@example.com"], subject: "Hello", tags: { kind: "welcome" } },
    },
  });
  expect(findTo("ada@example.com")?.data).not.toHaveProperty("template_id");
  expect(findTo("kay@example.com")?.data.template_id).toBe(made.data?.id);
  expect(findTo("grace@example.com")?.data.broadcast_id).toBe(cast.data?.id);
  const [updated] = find("contact.updated");
  expect(updated?.data).toMatchObject({ id: grace.data?.id, audience_id: segmentId, segment_ids: [segmentId], last_name: "Hopper" });
  expect(find("contact.deleted")).toMatchObject([{ data: { id: deleted.data?.id } }]);
  expect(find("email.bounced")).toMatchObject([{ data: { to: ["bounced@resend.dev"], bounce: { type: "Permanent" } } }]);
  expect(find("contact.created")[0]).toMatchObject({ data: { email: "grace@example.com", first_name: "Grace", unsubscribed: false } });
  expect(find("suppression.added")).toMatchObject([{ data: { email: "bounced@resend.dev", origin: "bounce" } }]);
  // Both mails were sent at once, so none was scheduled; and nothing was asked for that they are sent.
  expect(events.map(({ type }) => type).filter((type) => type === "email.scheduled" || type === "email.sent")).toEqual([]);

  const [first] = received as [Received];
  const forged = { ...headersOf(first), "svix-signature": "v1,AAAA", "webhook-signature": "v1,AAAA" };
  expect(() => new Webhook(secret).verify(first.body, forged)).toThrow();
});

test("webhooks are listed, changed, paused and deleted", async () => {
  const { webhooks } = server.resend;
  const { data } = await webhooks.create({ endpoint: url, events: ["email.sent"] });
  const id = data?.id ?? "";
  expect((await webhooks.list()).data?.data).toContainEqual(expect.objectContaining({ id, events: ["email.sent"], status: "enabled" }));
  expect((await webhooks.update(id, { events: ["contact.updated"], status: "disabled" })).error).toBeNull();
  expect((await webhooks.get(id)).data).toMatchObject({ events: ["contact.updated"], status: "disabled" });
  expect((await webhooks.remove(id)).data).toMatchObject({ id, deleted: true });
  const unknown = await webhooks.create({ endpoint: url, events: ["email.unknown" as "email.sent"] });
  expect(unknown.error).toMatchObject({ statusCode: 422, message: expect.stringContaining("email.unknown") });
});
