import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentClient, Mailsvc } from "@mailsvc/sdk";
import type { Stage } from "../browser.ts";
import type { Market } from "../market.ts";
import { paint } from "./paint.ts";
import { AMARA, HANNAH, JONAS, MATEO, PEOPLE, PRIYA } from "./people.ts";

/** Objects that the pages show: ids from a fictional company, Acme, after a week with mailsvc. */
export type Acme = Awaited<ReturnType<typeof createAcme>>;

const BEGIN = "2027-01-04T08:00:00.000Z";
const HELLO = "Acme <hello@acme.example>";

// A mail program of a person: others count as machines.
const READER = {
  "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
};

const page = (title: string, text: string, link: string, label: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
  </head>
  <body style="margin: 0; padding: 32px; font-family: Arial, sans-serif; color: #1c1f26; background: #ffffff">
    <h1 style="font-size: 24px">${title}</h1>
    <p>${text}</p>
    <p><a href="https://acme.example/${link}" style="color: #3150c8">${label}</a></p>
    <p style="font-size: 13px; color: #5c6370">Acme Ltd, 1 Main Street</p>
  </body>
</html>
`;

/** Fills a server, whose clock stands still afterwards. */
export async function createAcme(stage: Stage, market: Market) {
  const { brand: sdk } = market;
  await sdk.clock.freeze({ at: BEGIN });
  const audience = await createAudience(sdk);
  const templates = await createTemplates(sdk);
  const webhooks = await createWebhooks(sdk);
  const series = await createSeries(sdk, templates, audience.newsletter);
  await sdk.clock.advance({ by: "1d" });
  const mail = await sendMail(stage, sdk);
  await sdk.clock.advance({ by: "1d" });
  const campaigns = await createCampaigns(sdk, audience, templates);
  const server = await createServerObjects(stage, sdk);
  await sdk.clock.advance({ by: "2h" });
  const agents = await createAgents(market);
  const content = await createContent(sdk, agents.agent, audience.newsletter);
  const contacts = await sdk.contacts.list({ limit: 100 });
  const amara = contacts.data.find(({ email }) => email === AMARA)?.id ?? "";
  const events = (await sdk.emails.get(mail.bounced)).events;
  const deliveries = (await sdk.webhooks.deliveries(webhooks.failing, { limit: 100 })).data;
  const suppression = await sdk.suppressions.get(MATEO);
  return {
    ...audience,
    ...templates,
    ...series,
    ...mail,
    ...campaigns,
    ...agents,
    ...content,
    ...server,
    webhook: webhooks.failing,
    delivery: deliveries.find(({ attempts }) => attempts > 1)?.id ?? "",
    amara,
    event: events.at(-1)?.id ?? "",
    suppression: suppression.id,
    close: () => webhooks.receiver.close(),
  };
}

async function createAudience(sdk: Mailsvc) {
  await sdk.contacts.import({ rows: PEOPLE });
  const newsletter = await sdk.lists.create({ name: "Newsletter", description: "Once a month" });
  await sdk.lists.add(newsletter.id, { contacts: PEOPLE.slice(0, 18).map(({ email }) => email) });
  const news = await sdk.lists.create({ name: "Product news", doubleOptIn: true, confirmationFrom: HELLO });
  await sdk.lists.add(news.id, { contacts: PEOPLE.slice(4, 11).map(({ email }) => email) });
  await sdk.lists.create({ name: "Partners", description: "Resellers and agencies", public: false });
  const vips = await sdk.segments.create({
    name: "Growing customers",
    description: "Large plans that are used",
    rules: {
      all: [
        { field: "customFields.plan", operator: "in", value: ["Team", "Business"] },
        { field: "customFields.seats", operator: "gte", value: 4 },
        { not: { field: "tags", operator: "contains", value: "trial" } },
      ],
    },
  });
  await sdk.segments.create({ name: "On trial", rules: { field: "tags", operator: "contains", value: "trial" } });
  await sdk.segments.create({ name: "Read something this month", rules: { field: "lastOpenedAt", operator: "withinLast", value: "30d" } });
  await sdk.suppressions.create({ email: "press@example.org", note: "Asked by phone" });
  await sdk.suppressions.create({ email: "former.customer@example.net", reason: "complaint" });
  const form = await sdk.forms.create({ name: "Letters from Acme", listId: newsletter.id, fields: ["firstName"], button: "Subscribe" });
  for (const [email, firstName] of [
    ["lena@example.com", "Lena"],
    ["omar@example.com", "Omar"],
  ] as const)
    await fetch(form.url, { method: "POST", body: new URLSearchParams({ email, firstName }), redirect: "manual" });
  return { newsletter: newsletter.id, segment: vips.id, form: form.id };
}

async function createTemplates(sdk: Mailsvc) {
  const footer = await sdk.templates.create({
    name: "Footer",
    slug: "footer",
    type: "partial",
    html: "<p>Acme Ltd, 1 Main Street</p>",
    publish: true,
  });
  const order = await sdk.templates.create({
    name: "Order shipped",
    slug: "order-shipped",
    description: "Sent when the parcel leaves the house",
    category: "orders",
    subject: "Your order {{ order.number }} is on its way",
    from: HELLO,
    html: page(
      "Your order is on its way",
      "Hello {{ name }}, the parcel with your order {{ order.number }} left our house today.",
      "track/{{ order.number }}",
      "Track your parcel",
    ),
    publish: true,
  });
  await sdk.templates.update(order.id, { subject: "Order {{ order.number }} is on its way", publish: true });
  const draft = {
    html: page("It has left our house", "Hello {{ name }}, order {{ order.number }} is with the carrier.", "track", "Track it"),
  };
  await sdk.templates.update(order.id, draft);
  const welcome = await sdk.templates.create({
    name: "Welcome",
    slug: "welcome",
    type: "marketing",
    subject: "Welcome, {{firstName}}",
    from: HELLO,
    html: page("Welcome to Acme", "Hello {{firstName}}, nice to have you here.", "start", "Begin here"),
    publish: true,
  });
  const tips = await sdk.templates.create({
    name: "Three tips",
    slug: "three-tips",
    type: "marketing",
    subject: "Three tips for {{firstName}}",
    from: HELLO,
    html: page("Three tips", "Invite your team, connect your shop, and send a first mail.", "tips", "Read more"),
    publish: true,
  });
  await sdk.templates.create({
    name: "Invoice",
    slug: "invoice",
    category: "billing",
    subject: "Your invoice",
    from: HELLO,
    html: "<p>Soon</p>",
  });
  return { footer: footer.id, template: order.id, welcome: welcome.id, tips: tips.id };
}

async function createWebhooks(sdk: Mailsvc) {
  const receiver = createServer((_, response) => response.writeHead(204).end());
  const url = await listen(receiver);
  await sdk.webhooks.create({ url: `${url}/mail-events`, description: "The shop", events: ["email.*"] });
  const failing = createServer((_, response) => response.writeHead(503, { "content-type": "text/plain" }).end("The warehouse is closed."));
  const webhook = await sdk.webhooks.create({
    url: `${await listen(failing)}/bounces`,
    description: "The warehouse",
    events: ["email.bounced", "email.complained"],
  });
  return { failing: webhook.id, receiver: { close: () => [receiver, failing].map((server) => server.close()) } };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function createSeries(sdk: Mailsvc, { welcome, tips }: { readonly welcome: string; readonly tips: string }, newsletter: string) {
  const { id } = await sdk.automations.create({
    name: "Welcome series",
    description: "For everybody who signs up",
    trigger: { type: "contact.created" },
    goal: { type: "tag.added", tag: "customer" },
    steps: [
      { id: "hello", type: "send_email", templateId: welcome },
      { id: "opened", type: "wait_for_event", event: { type: "event", name: "email.opened" }, timeout: "3d" },
      { id: "engaged", type: "add_tag", tag: "engaged" },
      { id: "large", type: "condition", rule: { field: "customFields.seats", operator: "gte", value: 5 } },
      { id: "tips", type: "send_email", templateId: tips },
      { id: "list", type: "add_to_list", listId: newsletter },
      { id: "stop", type: "exit", reason: "not interested" },
    ],
    connections: [
      { from: "trigger", to: "hello" },
      { from: "hello", to: "opened" },
      { from: "opened", to: "engaged", branch: "event" },
      { from: "opened", to: "large", branch: "timeout" },
      { from: "large", to: "tips", branch: "yes" },
      { from: "large", to: "stop", branch: "no" },
      { from: "engaged", to: "list" },
      { from: "tips", to: "list" },
    ],
  });
  await sdk.automations.activate(id);
  await sdk.automations.create({
    name: "Renewal reminder",
    trigger: { type: "date", field: "customFields.renewsOn", days: -14, time: "09:00" },
    steps: [{ id: "remind", type: "send_email", templateId: tips }],
    connections: [{ from: "trigger", to: "remind" }],
  });
  const rows = ["Nora Quinn", "Ravi Shah", "Lena Fischer", "Paul Okoye"].map((name, i) => {
    const [firstName = "", lastName = ""] = name.split(" ");
    return { email: `${name.toLowerCase().replace(" ", ".")}@example.com`, firstName, lastName, customFields: { seats: 2 + i * 2 } };
  });
  for (const row of rows) await sdk.contacts.create(row);
  await sdk.clock.advance({ by: "1h" });
  const nora = (await sdk.contacts.list({ search: "nora.quinn" })).data[0]?.id ?? "";
  await open(sdk, "nora.quinn@example.com");
  await sdk.clock.advance({ by: "2h" });
  return { automation: id, entered: nora };
}

/** Opens the newest mail to an address, and clicks its first link if asked. */
async function open(sdk: Mailsvc, to: string, click = false): Promise<void> {
  const [newest] = (await sdk.inbox.list({ to, limit: 1 })).data;
  if (!newest) throw new Error(`No mail to ${to} was captured.`);
  const { html } = await sdk.inbox.get(newest.id);
  const links = [...(html ?? "").matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url = ""]) => url.replaceAll("&amp;", "&"));
  const pixel = links.find((url) => url.includes("/t/o/"));
  const link = links.find((url) => url.includes("/t/c/"));
  if (pixel) await fetch(pixel, { headers: READER });
  if (click && link) await fetch(link, { redirect: "manual", headers: READER });
}

async function sendMail(stage: Stage, sdk: Mailsvc) {
  const order = (number: number, name: string) => ({
    from: HELLO,
    subject: `Your order ${number} is on its way`,
    html: page(
      "Your order is on its way",
      `Hello ${name}, your order ${number} left our house today.`,
      `track/${number}`,
      "Track your parcel",
    ),
    text: `Hello ${name}, your order ${number} left our house today.`,
  });
  const tracked = { ...order(1042, "Amara"), tags: { kind: "order" }, replyTo: "auto", tracking: { opens: true, clicks: true } };
  const files = [{ filename: "invoice-1042.pdf", content: Buffer.from("%PDF-1.4").toString("base64") }];
  const { id: email } = await sdk.emails.send({ ...tracked, to: `Amara Okafor <${AMARA}>`, attachments: files });
  const { id: bounced } = await sdk.emails.send({ ...order(1043, "Mateo"), to: MATEO });
  await sdk.clock.advance({ by: "10m" });
  await open(sdk, AMARA, true);
  for (const [to, subject] of [
    [HANNAH, "Confirm your address"],
    [PRIYA, "Your receipt"],
    [JONAS, "Reset your password"],
    ["billing@example.net", "Your invoice of January"],
    ["softbounced@simulator.mailsvc.test", "Your receipt"],
  ] as const) {
    await sdk.emails.send({
      from: HELLO,
      to,
      subject,
      html: page(subject, "Press the button below to go on.", "go", "Go on"),
      text: "Go on",
    });
    await sdk.clock.advance({ by: "7m" });
  }
  const [toMateo] = (await sdk.inbox.list({ to: MATEO, limit: 1 })).data;
  await sdk.inbox.report(toMateo?.id ?? "", { outcome: "bounced" });
  await sdk.inboundDomains.create({ domain: "in.acme.example" });
  const [toAmara] = (await sdk.inbox.list({ to: AMARA, limit: 1 })).data;
  const received = await sdk.inbox.reply(toAmara?.id ?? "", { text: "Can I still change the address of the delivery?" });
  await sdk.clock.advance({ by: "20m" });
  await sdk.received.reply(received.id, { text: "Of course. Where shall it go?" });
  await sdk.emails.send({
    from: HELLO,
    to: "Daniel Novak <daniel.novak@example.com>",
    subject: "How was it?",
    text: "How was it?",
    replyTo: "auto",
  });
  await sdk.clock.advance({ by: "10m" });
  const [toDaniel] = (await sdk.inbox.list({ to: "daniel.novak@example.com", limit: 1 })).data;
  await sdk.inbox.reply(toDaniel?.id ?? "", { text: "I am away until Monday.", automatic: true });
  const { data } = await stage.call<{ data: { id: string; subject: string }[] }>("GET", "/__dev/inbox?limit=100");
  const captured = data.find(({ subject }) => subject === "Your receipt")?.id ?? data[0]?.id ?? "";
  return { email, bounced, received: received.id, captured };
}

async function createCampaigns(
  sdk: Mailsvc,
  { newsletter, segment }: { readonly newsletter: string; readonly segment: string },
  { tips }: { readonly tips: string },
) {
  const news = {
    subjectLine: 'New in January, {{default firstName "reader"}}',
    fromEmail: "news@acme.example",
    fromName: "Acme",
    html: page(
      "New in January",
      'Hello {{default firstName "reader"}}, plans are easier to compare now, and your team can share templates.',
      "news",
      "See what is new",
    ),
  };
  const { id: sent } = await sdk.campaigns.create({ ...news, name: "January news", recipientType: "list", listId: newsletter });
  await sdk.campaigns.send(sent);
  await sdk.clock.advance({ by: "1h" });
  for (const [i, { email }] of PEOPLE.slice(0, 18).entries()) {
    if (email === MATEO || i % 3 === 2) continue;
    await open(sdk, email, i % 2 === 0);
    await sdk.clock.advance({ by: "25m" });
  }
  const draft = await sdk.campaigns.create({
    ...news,
    name: "Spring sale",
    subjectLine: 'Spring is here: 20 % off for {{default firstName "you"}}',
    recipientType: "groups",
    include: [newsletter, segment],
  });
  await sdk.campaigns.create({
    name: "February news",
    subjectLine: "News of February",
    fromEmail: "news@acme.example",
    templateId: tips,
    scheduledAt: new Date(Date.parse((await sdk.clock.show()).now) + 20 * 86_400_000).toISOString(),
  });
  await sdk.campaigns.create({ name: "Survey", subjectLine: "Two questions", fromEmail: "news@acme.example" });
  return { campaign: sent, draft: draft.id };
}

async function createAgents(market: Market) {
  const { brand } = market;
  await market.list("launch-writer", "Launch Writer");
  await market.list(
    "page-painter",
    "Page Painter",
    ["brand:read", "assets:write", "agent:consume_credits"],
    "Paints the pictures of a page.",
  );
  await market.list("list-keeper", "List Keeper", ["lists:read_metadata", "agent:wakeups"], "Watches how lists grow, and tells you.");
  const agent: AgentClient = await market.turnOn("launch-writer");
  await brand.credits.grant({ amount: 1000, description: "January" });
  const run = "spring-launch";
  await agent.runs.start({ runId: run, title: "Draft the spring launch", trigger: { type: "message" } });
  await agent.runs.log({
    runId: run,
    entries: [
      { message: "Read the brand" },
      { message: "The logo is small", level: "warn", data: { width: 40 } },
      { message: "Wrote three subjects and the first draft" },
    ],
    progress: { percent: 60, label: "Writing the page" },
  });
  await agent.credits.consume({ amount: 25, action: "draft-mail", runId: run, description: "400 words" }, { idempotencyKey: "draft-1" });
  await agent.messages.create({ text: "The first draft of the spring mail is ready. I used your colors and your voice." });
  await brand.messages.create(agent.activationId, { text: "Nice. Please mention the summer sale as well." });
  await agent.messages.create({
    type: "APPROVAL_REQUEST",
    text: "I would send it on Monday at nine.",
    approval: { title: "Use this subject?", preview: { kind: "text", text: "Spring is here: 20 % off for two days" } },
  });
  const delivery = (await market.builder.deliveries.list("launch-writer", {})).data[0]?.id ?? "";
  return { agent, activation: agent.activationId, run, listingDelivery: delivery };
}

/** The brand with its pictures, and the page of an agent with a file to sign up for. */
async function createContent(sdk: Mailsvc, agent: AgentClient, newsletter: string) {
  const upload = (fileName: string, alt: string, contentBase64: string, tags: string[]) =>
    sdk.assets.create({ fileName, alt, contentBase64, tags });
  const logo = await upload("logo.png", "Acme", paint(240, 80, [49, 80, 200], [255, 255, 255]), ["logo"]);
  const spring = await upload("spring.png", "Tulips before our shop", paint(600, 300, [252, 240, 217], [23, 105, 63]), ["spring", "shop"]);
  await upload("team.png", "Our team", paint(400, 400, [234, 238, 252], [171, 36, 25]), ["people"]);
  await sdk.brand.update({
    name: "Acme",
    website: "https://acme.example",
    logoAssetId: logo.id,
    timezone: "Europe/Zurich",
    colors: { primary: "#3150c8", accent: "#17693f", background: "#ffffff", text: "#1c1f26" },
    fonts: { heading: "Georgia", body: "Arial" },
    voice: {
      tone: ["calm", "plain"],
      description: "We write as a shopkeeper speaks: short, and to one person.",
      dos: ["Say what happens next"],
      donts: ["Promise dates", "Exclamation marks"],
    },
  });
  const magnet = await sdk.leadMagnets.create({
    fileName: "spring-guide.pdf",
    contentBase64: Buffer.from("%PDF-1.7\n%%EOF\n").toString("base64"),
    title: "The spring guide",
    description: "Twelve pages on plans, seats and teams",
  });
  const page = await agent.landingPages.create({
    title: "Spring guide",
    html: "<h1>Spring is near</h1><p>Get our guide of twelve pages.</p><form></form>",
    leadMagnetId: magnet.id,
    listId: newsletter,
    form: { fields: ["firstName"], button: "Send it to me", consentText: "I agree that Acme sends me the guide and its newsletter." },
    runId: "spring-launch",
  });
  await sdk.landingPages.publish(page.id);
  await agent.landingPages.create({ title: "Summer sale", html: "<h1>Summer sale</h1><p>Soon.</p>" });
  const { url } = await sdk.landingPages.get(page.id);
  for (const [i, firstName] of ["Ines", "Karim", "Sofia"].entries()) {
    await fetch(url, { headers: { ...READER, "x-forwarded-for": `198.51.100.${i + 1}` } });
    await fetch(url, {
      method: "POST",
      body: new URLSearchParams({ email: `${firstName.toLowerCase()}@example.com`, firstName }),
      redirect: "manual",
    });
  }
  return { landingPage: page.id, magnet: magnet.id, picture: spring.id };
}

async function createServerObjects(stage: Stage, sdk: Mailsvc) {
  const { operatorKey } = stage.server;
  const relay = { host: "127.0.0.1", port: 9, user: "acme", password: "x" };
  await stage.call("POST", "/api/v1/relays", { name: "eu-west", ...relay }, operatorKey);
  await stage.call("POST", "/api/v1/queue/hold", { domain: "blocked.example", reason: "Their postmaster was asked" }, operatorKey);
  await stage.call("POST", "/__dev/faults", { path: "/api/v1/send", code: "queue_failed", rate: 0.1 });
  await stage.call("POST", "/__dev/snapshot", { name: "before-the-campaign" });
  const { id: key } = await sdk.keys.create({ name: "Shop", permissions: ["transactional:send"] });
  await sdk.keys.update(key, { name: "Shop in production" });
  const { id: sender } = await sdk.senders.create({ domain: "shop.acme.example" });
  await stage.call("POST", "/api/v1/dashboard/links", { role: "viewer" });
  for (const [email, role, name] of [
    ["nora@acme.example", "owner", "Nora Keller"],
    ["tom@acme.example", "marketer", "Tom Ayodele"],
    ["help@acme.example", "support", "Help desk"],
  ] as const)
    await sdk.members.invite({ email, role, name });
  return { sender, key };
}
