import { afterAll, beforeAll } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { type Look, testLooks } from "./looks.ts";
import { waitUntil } from "./waiting.ts";

let stage: Stage;
let delivered = "";
let bounced = "";
let captured = "";
let webhook = "";
let delivery = "";
let event = "";
let sender = "";

const HTML = `<!doctype html><html><head><style>body{font-family:sans-serif;margin:0;padding:32px}h1{color:#234}
@media (prefers-color-scheme: dark){body{background:#111;color:#eee}h1{color:#9cf}}</style></head>
<body><h1>Your order is on its way</h1><p>Hello Ada, the parcel left our house today.</p>
<p><a href="https://acme.example/track">Follow it</a></p><img src="https://acme.example/a.png" alt=""></body></html>`;

beforeAll(async () => {
  stage = await createStage();
  const mail = {
    from: "Acme <hello@acme.example>",
    to: "ada@example.com",
    subject: "Your order is on its way",
    text: "Hello Ada",
    html: HTML,
  };
  const send = async (more: object): Promise<string> => (await stage.call<{ id: string }>("POST", "/api/v1/send", { ...mail, ...more })).id;
  for (let i = 0; i < 12; i += 1) await send({ to: `reader${i}@example.com`, subject: `Newsletter ${i + 1}` });
  webhook = (
    await stage.call<{ id: string }>("POST", "/api/v1/webhooks", {
      url: "http://127.0.0.1:9/hook",
      description: "The shop",
      events: ["email.*"],
    })
  ).id;
  sender = (await stage.call<{ id: string }>("POST", "/api/v1/senders", { domain: "shop.acme.example" })).id;
  const { operatorKey } = stage.server;
  await stage.call("POST", "/api/v1/members", { email: "grace@acme.example", role: "marketer", name: "Grace" });
  await stage.call("POST", "/api/v1/relays", { name: "ses", host: "127.0.0.1", port: 9, user: "acme", password: "x" }, operatorKey);
  await stage.call("POST", "/api/v1/queue/hold", { domain: "blocked.example", reason: "Their postmaster was asked" }, operatorKey);
  await stage.call("POST", "/__dev/faults", { path: "/api/v1/nothing", code: "queue_failed", rate: 0.5 });
  await stage.call("POST", "/__dev/snapshot", { name: "before" });
  bounced = await send({ to: "bounced@simulator.mailsvc.test", subject: "Nobody is there" });
  delivered = await send({ tags: { kind: "receipt" }, attachments: [{ filename: "receipt.txt", content: "aGk=" }] });
  for (let waiting = true; waiting; ) {
    const { id } = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&subject=${encodeURIComponent("Your order")}`);
    captured = id;
    waiting = (await stage.call<{ status: string }>("GET", `/api/v1/emails/${delivered}`)).status === "queued";
  }
  event = (await stage.call<{ events: { id: string }[] }>("GET", `/api/v1/emails/${bounced}`)).events[0]?.id ?? "";
  await waitUntil(async () => {
    const { data } = await stage.call<{ data: { id: string; attempts: number }[] }>(
      "GET",
      `/api/v1/webhooks/${webhook}/deliveries?limit=100`,
    );
    delivery = data.find(({ attempts }) => attempts > 0)?.id ?? "";
    return delivery !== "";
  });
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The pages of the navigation and those below them, and a text that is there once all is loaded. */
const pages = (): readonly Look[] => [
  ["overview", "/dashboard/overview", "By receiving domain"],
  ["activity", "/dashboard/activity", "Nobody is there"],
  ["email", `/dashboard/activity/${delivered}`, "Timeline"],
  ["email-bounced", `/dashboard/activity/${bounced}`, "Timeline"],
  ["inbox", "/dashboard/inbox", "Choose a mail to read it"],
  ["mail", `/dashboard/inbox/${captured}`, "What happened"],
  ["events", "/dashboard/events", "email.sent"],
  ["event", `/dashboard/events/${event}`, "Happened"],
  ["webhooks", "/dashboard/webhooks", "http://127.0.0.1:9/hook"],
  ["webhook", `/dashboard/webhooks/${webhook}`, "All attempts have failed"],
  ["webhook-delivery", `/dashboard/webhooks/${webhook}/${delivery}`, "Attempt 1"],
  ["keys", "/dashboard/keys", "everything"],
  ["senders", "/dashboard/senders", "shop.acme.example"],
  ["sender", `/dashboard/senders/${sender}`, "DNS of shop.acme.example"],
  ["queue", "/dashboard/queue", "Oldest due"],
  ["relays", "/dashboard/relays", "127.0.0.1:9"],
  ["relay", "/dashboard/relays/ses", "Settings"],
  ["workspaces", "/dashboard/workspaces", "Replies"],
  ["dev", "/dashboard/dev", "Snapshots"],
  ["people", "/dashboard/people", "Invited by"],
  ["sessions", "/dashboard/people?tab=sessions", "No open sessions"],
  ["mail-states", "/dashboard/mail-states", "bounced@simulator.mailsvc.test"],
  ["mail-state", `/dashboard/mail-states/${bounced}`, "What happened"],
];

testLooks({
  open: (...args) => stage.open(...args),
  pages,
});
