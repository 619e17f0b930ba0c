import { Mailsvc } from "@mailsvc/sdk";
import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import { onTestFinished } from "vitest";
import { scriptedPeer } from "../../packages/server/test/smtp-peer.ts";
import { type ExampleServer, type Ids, idOf, nothing, type Objects } from "./example-server.ts";

const ADA = "ada@example.com";
const FROM = "Acme <hello@acme.example>";
const DAY_MS = 86_400_000;

/** The objects that the examples of sending name, and those of the server itself. */
export const SENDING: Objects = {
  emails: async ({ world }) => {
    const scheduledAt = new Date(world.clock.now() + DAY_MS);
    const { id } = await world.sdk.emails.send({ from: FROM, to: ADA, subject: "Later", text: "Later", scheduledAt });
    return { [idOf("em")]: id };
  },
  "emails.requeue": async ({ world }) => {
    const { id } = await world.sdk.emails.send({ from: FROM, to: "delayed@simulator.mailsvc.test", subject: "Welcome", text: "Hello" });
    await world.settle();
    return { [idOf("em")]: id, [ADA]: "delayed@simulator.mailsvc.test" };
  },
  mailStates: async ({ world }) => {
    const { id } = await world.sdk.emails.send({ from: FROM, to: ADA, subject: "Hello", text: "Hello" });
    await world.settle();
    return { [idOf("em")]: id };
  },
  members: async ({ world }) => {
    await world.sdk.members.invite({ email: "ada@acme.example", role: "marketer", name: "Ada" });
    return {};
  },
  "members.invite": nothing,
  "emails.sendBatch": template,
  "emails.sendTemplate": template,
  templates: template,
  "templates.create": nothing,
  "templates.unarchive": async (server) => {
    const ids = await template(server);
    await server.world.sdk.templates.archive(ids[idOf("tpl")] as string);
    return ids;
  },
  senders: sender,
  "senders.create": nothing,
  "senders.update": async (server) => {
    await relay(server);
    return sender(server);
  },
  relays: relay,
  "relays.add": nothing,
  // It is connected to, so it must be here.
  "relays.test": async (server) => {
    const peer = await scriptedPeer({});
    onTestFinished(() => peer.close());
    await operatorOf(server).relays.add({ name: "ses", host: "127.0.0.1", port: peer.port });
    return {};
  },
  suppressions: async ({ world }) => {
    for (const email of [ADA, "grace@example.com"]) await world.sdk.suppressions.create({ email });
    return {};
  },
  "suppressions.create": nothing,
  "suppressions.import": nothing,
  providers: async ({ world }) => {
    const { id } = await world.sdk.providers.add({ provider: "ses", key: "arn:aws:sns:eu-west-1:123456789012:others" });
    return { [idOf("prv")]: id };
  },
  contacts: contact,
  "contacts.create": nothing,
  "contacts.getImport": async ({ world }) => {
    await world.sdk.contacts.startImport({ tag: "import:2026-11-28-1" });
    return {};
  },
  "contacts.undoImport": async ({ world }) => {
    await world.sdk.contacts.startImport({ tag: "import:2026-11-28-1" });
    return {};
  },
  people: contact,
  forms: async (server) => {
    const { id: list } = await server.world.sdk.lists.create({ name: "News" });
    const form = await server.world.sdk.forms.create({ name: "Newsletter", listId: list, fields: ["firstName"] });
    await server.world.fetch(form.url, { method: "POST", body: new URLSearchParams({ email: "ada@example.com" }) });
    return { list_01jc3v2m9k8q4w6x0y5z7a1b2c: list, [idOf("lp")]: form.id };
  },
  lists: async (server) => {
    const ids = await contact(server);
    const list = await server.world.sdk.lists.create({ name: "News", doubleOptIn: true, confirmationFrom: FROM });
    await server.world.sdk.lists.add(list.id, { contacts: [ADA] });
    const mail = await server.world.inbox.waitFor({ to: ADA });
    return { ...ids, [idOf("list")]: list.id, [tokenOf(contract.lists.confirm)]: tokenIn(mail.text) };
  },
  segments: segment,
  campaigns: campaign,
  "campaigns.create": async (server) => {
    const [news, others] = await Promise.all(["News", "Others"].map((name) => server.world.sdk.lists.create({ name })));
    const lists = { [idOf("list")]: news?.id ?? "", list_01jc3v2m9k8q4w6x0y5z7a1b2d: others?.id ?? "" };
    return { ...(await template(server)), ...(await segment(server)), ...lists };
  },
  "campaigns.pause": sending,
  "campaigns.cancel": sending,
  "campaigns.resume": async (server) => {
    const ids = await sending(server);
    await server.world.sdk.campaigns.pause(ids[idOf("cmp")] as string);
    return ids;
  },
  "campaigns.resend": async ({ world }) => {
    await world.sdk.contacts.create({ email: ADA });
    const { id } = await world.campaign({ name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", html: "<p>Hello</p>" });
    return { [idOf("cmp")]: id };
  },
  "campaigns.winner": async ({ world }) => {
    await world.sdk.contacts.import({ rows: Array.from({ length: 20 }, (_, i) => ({ email: `p${i}@example.com` })) });
    const { id } = await world.sdk.campaigns.create({
      name: "Test",
      fromEmail: "news@acme.example",
      html: "<p>Hello</p>",
      subjectLine: "Hello",
      abTest: { variants: [{}, { subjectLine: "Hi" }], winner: "manual" },
    });
    await world.sdk.campaigns.send(id);
    await world.settle();
    return { [idOf("cmp")]: id };
  },
  automations: automation,
  "automations.pause": activeAutomation,
  "automations.unarchive": async (server) => {
    const ids = await automation(server);
    await server.world.sdk.automations.archive(ids[idOf("aut")] as string);
    return ids;
  },
  "events.get": async (server) => {
    await contact(server);
    const [event] = (await server.world.sdk.events.list()).data;
    return { evt_0000000001a: event?.id ?? "" };
  },
  "events.track": contact,
  "events.trackBatch": contact,
  webhooks: webhook,
  "webhooks.create": nothing,
  "webhooks.resume": async (server) => {
    const ids = await webhook(server);
    await server.world.sdk.webhooks.pause(ids[idOf("whk")] as string);
    return ids;
  },
  "world.restore": async ({ world }) => {
    await world.sdk.world.snapshot({ name: "before" });
    return {};
  },
  audit: async ({ world }) => {
    const { id } = await world.sdk.lists.create({ name: "News" });
    await world.sdk.lists.update(id, { name: "Newsletter" });
    return {};
  },
  keys: async ({ world }) => ({ [idOf("key")]: (await world.sdk.keys.create({ name: "x", permissions: ["transactional:send"] })).id }),
  workspaces: async ({ world }) => ({ [idOf("ws")]: (await world.createWorkspace("Other")).workspaceId }),
  "inbox.clear": nothing,
  inbox: async ({ world }) => {
    await world.sdk.emails.send({ from: FROM, to: ADA, subject: "Welcome", text: "Hello", html: "<p>Hello</p>" });
    const { id } = await world.inbox.waitFor({ to: ADA });
    return { [idOf("mail")]: id };
  },
  "inbox.reply": answerable,
  received,
  inboundDomains: async ({ world }) => ({ [idOf("ind")]: (await world.sdk.inboundDomains.create({ domain: "in.acme.example" })).id }),
  "received.passOn": async (server) => {
    const { world } = server;
    await server.agent();
    await world.sdk.emails.send({ from: FROM, to: ADA, subject: "Welcome", text: "How are you?", replyTo: "auto" });
    return { [idOf("rcv")]: (await world.reply(ADA, { text: "Fine, thank you." })).id };
  },
  "inboundDomains.create": nothing,
  "testInbox.clear": nothing,
  testInbox: async ({ world }) => {
    const { key } = await world.sdk.keys.create({ name: "staging", permissions: ["transactional:send", "transactional:read"], test: true });
    const client = new Mailsvc({ apiKey: key, baseUrl: world.url, fetch: world.fetch });
    await client.emails.send({ from: FROM, to: ADA, subject: "Welcome", text: "Hello" });
    const { id } = await client.testInbox.wait({ to: ADA });
    return { [idOf("mail")]: id };
  },
  explanations: async ({ world }) => {
    const { id } = await world.sdk.emails.send({ from: FROM, to: "bounced@simulator.mailsvc.test", subject: "Welcome", text: "Hello" });
    await world.settle();
    return { [idOf("em")]: id };
  },
};

/** A captured mail that may be answered. */
async function answerable({ world }: ExampleServer): Promise<Ids> {
  await world.sdk.emails.send({ from: FROM, to: ADA, subject: "Welcome", text: "Did you find us?", replyTo: "auto" });
  const { id } = await world.inbox.waitFor({ to: ADA });
  return { [idOf("mail")]: id };
}

/** A reply to it, with a file. */
async function received(server: ExampleServer): Promise<Ids> {
  const ids = await answerable(server);
  const file = { filename: "map.txt", content: Buffer.from("Here").toString("base64") };
  const { id } = await server.world.sdk.inbox.reply(ids[idOf("mail")] as string, { text: "Yes, thank you.", attachments: [file] });
  return { [idOf("rcv")]: id };
}

async function template({ world }: ExampleServer): Promise<Ids> {
  const content = { name: "CrashPoint shipped", from: FROM, subject: "On its way", html: "<p>Hi {{ name }}</p>" };
  const { id } = await world.sdk.templates.create({ ...content, slug: "order-shipped", publish: true });
  await world.sdk.templates.update(id, { subject: "Nearly there", publish: true });
  await world.sdk.templates.update(id, { subject: "There" });
  return { [idOf("tpl")]: id };
}

function operatorOf({ world }: ExampleServer): Mailsvc {
  return new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
}

async function relay(server: ExampleServer): Promise<Ids> {
  const login = { user: "AKIAEXAMPLE", password: "correct-horse" };
  await operatorOf(server).relays.add({ name: "ses", host: "email-smtp.eu-west-1.amazonaws.com", ...login, ratePerSecond: 14 });
  return {};
}

async function sender({ world }: ExampleServer): Promise<Ids> {
  const { id } = await world.sdk.senders.create({ email: "ada@other.com" });
  // In dev mode a sender is verified at once, without the mail that would show this.
  const { db } = world.app.deps;
  const [row] = await db.read.select().from(db.read.t.senders).where(eq(db.read.t.senders.id, id));
  return { [idOf("snd")]: id, [tokenOf(contract.senders.confirm)]: row?.token ?? "" };
}

async function contact({ world }: ExampleServer): Promise<Ids> {
  const { id } = await world.sdk.contacts.create({ email: ADA, firstName: "Ada" });
  return { [idOf("con")]: id };
}

async function campaign({ world }: ExampleServer): Promise<Ids> {
  await world.sdk.contacts.create({ email: ADA, firstName: "Ada" });
  const draft = { name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", html: "<p>Hello</p>" };
  return { [idOf("cmp")]: (await world.sdk.campaigns.create(draft)).id };
}

async function segment({ world }: ExampleServer): Promise<Ids> {
  const { id } = await world.sdk.segments.create({ name: "All", rules: { field: "tags", operator: "contains", value: "vip" } });
  return { [idOf("seg")]: id };
}

/** A campaign that has more mail than it may send at once. */
async function sending({ world }: ExampleServer): Promise<Ids> {
  await world.sdk.contacts.import({ rows: Array.from({ length: 20 }, (_, i) => ({ email: `p${i}@example.com` })) });
  const draft = { name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", html: "<p>Hello</p>" };
  const { id } = await world.sdk.campaigns.create({ ...draft, throttle: { perSecond: 1 } });
  await world.sdk.campaigns.send(id);
  return { [idOf("cmp")]: id };
}

async function automation(server: ExampleServer): Promise<Ids> {
  const ids = { ...(await contact(server)), ...(await template(server)) };
  const { id } = await server.world.sdk.automations.create({
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [{ id: "wait", type: "delay", for: "3d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  return { ...ids, [idOf("aut")]: id };
}

async function activeAutomation(server: ExampleServer): Promise<Ids> {
  const ids = await automation(server);
  await server.world.sdk.automations.activate(ids[idOf("aut")] as string);
  return ids;
}

async function webhook({ world, hooks }: ExampleServer): Promise<Ids> {
  const { id } = await world.sdk.webhooks.create({ url: hooks.url });
  await world.sdk.contacts.create({ email: ADA });
  await world.settle();
  const [delivery] = (await world.sdk.webhooks.deliveries(id)).data;
  return { [idOf("whk")]: id, whd_0000000001ay5z7a1b2c0q4w6x: delivery?.id ?? "" };
}

/** The token that the example of an endpoint names. */
const tokenOf = ({ examples: [example] = [] }: Endpoint): string => String(example?.params?.["token"]);

const tokenIn = (text: string | null): string => /\/confirm\/(\S+)/.exec(text ?? "")?.[1] ?? "";
