import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
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
  const { webhooks, emails, contacts } = server.resend;
  const created = await webhooks.create({
    endpoint: url,
    events: ["email.delivered", "email.bounced", "email.scheduled", "contact.created", "suppression.added", "domain.created"],
  });
  const { id, signing_secret: secret } = created.data ?? { id: "", signing_secret: "" };
  expect(secret).toMatch(/^whsec_/);
  expect((await webhooks.get(id)).data).toMatchObject({ endpoint: url, status: "enabled", signing_secret: secret });
  const sent = await emails.send({ ...hello, to: "ada@example.com" });
  await emails.send({ ...hello, to: "bounced@resend.dev" });
  await contacts.create({ email: "grace@example.com", firstName: "Grace" });
  await server.settle();

  const events = received.map((one) => {
    expect(() => new Webhook(secret).verify(one.body, headersOf(one))).not.toThrow();
    expect(one.headers["svix-id"]).toMatch(/^evt_/);
    return JSON.parse(one.body) as { type: string; created_at: string; data: object };
  });
  const find = (type: string) => events.filter((event) => event.type === type);
  expect(find("email.delivered")).toMatchObject([
    {
      created_at: expect.stringMatching(/Z$/),
      data: { email_id: sent.data?.id, from: hello.from, to: ["ada@example.com"], subject: "Hello", tags: { kind: "welcome" } },
    },
  ]);
  expect(find("email.bounced")).toMatchObject([{ data: { to: ["bounced@resend.dev"], bounce: { type: "Permanent" } } }]);
  expect(find("contact.created")).toMatchObject([{ data: { email: "grace@example.com", first_name: "Grace", unsubscribed: false } }]);
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
