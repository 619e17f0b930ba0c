import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgent, pdf } from "../../test/agent.ts";
import { magnet } from "../../test/files.ts";
import { talkSmtp } from "../../test/smtp-client.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";
import type { TestWorld } from "../testing.ts";
import { RunRecorder } from "./recording.ts";

// Given by a user: none has a form of ours.
const PASSWORDS = {
  relayPassword: "correct-horse-1",
  clientSecret: "correct-horse-2",
  refreshToken: "correct-horse-3",
  providerKey: "hook:correct-horse-4",
  queryToken: "correct-horse-5",
  argument: "correct-horse-6",
  basic: Buffer.from("user:correct-horse-7").toString("base64"),
};

let folder: string;
let server: RunningServer;
let sdk: Mailsvc;
/** All secrets of the run, by what they are. */
const secrets = new Map<string, string>(Object.entries(PASSWORDS));
/** The recording as text, with what is encoded in it decoded too. */
let recorded: string;
let reports: string;

const post = (path: string, body: unknown, key: string | null, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/json", ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-recorded-"));
  const recorder = new RunRecorder({
    version: "1",
    command: ["npm", "test", "--password", PASSWORDS.argument],
    now: () => performance.timeOrigin + performance.now(),
  });
  const flags = { port: "0", data: folder, "smtp-port": "0" };
  server = await serve(readConfig({ flags, env: {}, dev: true }), recorder.log(silentLog), { recorder });
  sdk = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey ?? "", fetch });
  await makeKeys();
  await makeConnections();
  await makeMail();
  await makeLinks();
  await server.app.deps.queue.idle();
  const ended = await recorder.end(1);
  await ended.write(join(folder, "run.gz"));
  const text = gunzipSync(readFileSync(join(folder, "run.gz"))).toString();
  recorded = [text, decodeBase64(text), text.replace(/=\\r\\n/g, "").replaceAll("=3D", "=")].join("\n");
  reports = JSON.stringify([ended.command, ended.summary()]);
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function makeKeys(): Promise<void> {
  secrets.set("owner key", server.apiKey ?? "").set("operator key", server.operatorKey ?? "");
  secrets.set("new key", (await sdk.keys.create({ name: "ci", permissions: ["transactional:send"] })).key);
  secrets.set("key of another workspace", (await (await post("/api/v1/workspaces", { name: "Other" }, server.operatorKey)).json()).apiKey);
  await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Basic ${PASSWORDS.basic}` } });
  const login = `AUTH PLAIN ${Buffer.from(`\0app\0${server.apiKey}`).toString("base64")}`;
  expect((await talkSmtp(Number(new URL(server.smtpUrl ?? "").port), ["EHLO app", login])).at(-1)).toMatch(/^235 /);
}

async function makeConnections(): Promise<void> {
  const url = `http://127.0.0.1:1/hook?shop=7&token=${PASSWORDS.queryToken}`;
  const webhook = await sdk.webhooks.create({ url, events: ["email.*"] });
  secrets.set("webhook secret", webhook.secret).set("rotated webhook secret", (await sdk.webhooks.rotateSecret(webhook.id)).secret);
  const relay = { name: "ses", host: "127.0.0.1", port: 1, user: "me", password: PASSWORDS.relayPassword };
  expect((await post("/api/v1/relays", relay, server.operatorKey)).status).toBe(201);
  const { clientSecret, refreshToken } = PASSWORDS;
  const oauth = { name: "office", host: "127.0.0.1", port: 1, user: "me", oauth: "google", clientId: "id", clientSecret, refreshToken };
  expect((await post("/api/v1/relays", oauth, server.operatorKey)).status).toBe(201);
  const connection = await sdk.providers.add({ provider: "postmark", key: PASSWORDS.providerKey });
  secrets.set("address for a provider", connection.url.split("/").at(-1) ?? "");
  await fetch(connection.url, { method: "POST", body: "{}" });
}

async function makeMail(): Promise<void> {
  const list = await sdk.lists.create({ name: "News", doubleOptIn: true, confirmationFrom: "news@acme.example" });
  const open = await sdk.lists.create({ name: "Open" });
  const ada = await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.lists.add(list.id, { contacts: [ada.id] });
  await sdk.lists.add(open.id, { contacts: [ada.id] });
  await sdk.senders.create({ email: "shop@acme.example" });
  const campaign = await sdk.campaigns.create({
    ...{ name: "Spring", subjectLine: "Hello", fromEmail: "news@acme.example", recipientType: "list", listId: open.id },
    html: '<a href="https://acme.example/launch">Look</a> <a href="{{viewInBrowserUrl}}">Browser</a> <a href="{{unsubscribeUrl}}">Leave</a>',
  });
  await sdk.campaigns.send(campaign.id);
  await sdk.emails.send({ from: "me@acme.example", to: "bob@example.com", replyTo: "auto", subject: "Hi", text: `Key ${server.apiKey}` });
  await server.app.deps.queue.idle();
  for (const { id } of (await sdk.inbox.list({ limit: 100 })).data) {
    const { html, text, headers } = await sdk.inbox.get(id);
    const all = `${html ?? ""} ${text ?? ""} ${headers.map(({ value }) => value).join(" ")}`.replaceAll("&amp;", "&");
    for (const [link, kind = "", token = ""] of all.matchAll(/http:\/\/127\.0\.0\.1:\d+\/([a-z/]+)\/([A-Za-z0-9_.~-]{16,})/g)) {
      secrets.set(`link ${kind}`, token);
      await fetch(link, { redirect: "manual" });
    }
    for (const [, signature = ""] of all.matchAll(/(?:bounce|reply|[bcu])[-+][0-9a-z]{26}-([0-9a-f]{20})@/g))
      secrets.set("signed address", signature);
  }
}

async function makeLinks(): Promise<void> {
  const { url } = await sdk.dashboard.link({ role: "viewer" });
  const token = url.split("#")[1] ?? "";
  secrets.set("sign-in link", token);
  const signedIn = await post("/dashboard/sign-in", { token }, null, { origin: server.url });
  secrets.set("session", /=([A-Za-z0-9_-]{43});/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1] ?? "");
  const file = { filename: "a.txt", content: Buffer.from("Hello").toString("base64") };
  const mail = { from: "me@acme.example", to: "bob@example.com", subject: "File", text: "x", attachments: [file] };
  const { id } = await (await post("/resend/emails", mail, "re_123456789")).json();
  const headers = { authorization: "Bearer re_123456789" };
  const { data } = await (await fetch(`${server.url}/resend/emails/${id}/attachments`, { headers })).json();
  const [{ download_url }] = data;
  secrets.set("link of an attachment", download_url.split(".").at(-1));
  expect((await fetch(download_url)).status).toBe(200);
  const builder = new Mailsvc({ baseUrl: server.url, apiKey: server.profiles?.builder.apiKey ?? "", fetch });
  const settle = async () => server.app.deps.queue.idle();
  const world = { sdk, builder: { sdk: builder }, app: server.app, url: server.url, fetch, settle };
  // The part of a world that an agent needs.
  const agent = await createTestAgent(world as unknown as TestWorld);
  secrets.set("agent key", agent.key);
  const { body: given } = await agent.call("POST", "/lead-magnets", magnet("t.pdf", pdf("title")));
  secrets.set("link of a file", given.downloadUrl.split("/").at(-1));
  await fetch(given.downloadUrl);
  const { body: page } = await agent.call("POST", "/landing-pages", {
    ...{ title: "Page", html: "<p>x</p><form></form>", status: "PUBLISHED", leadMagnetId: given.id },
  });
  secrets.set("preview link", page.previewUrl.split("preview=")[1]);
  await fetch(page.previewUrl);
  const thanks = await fetch(page.url, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "email=eve@example.com",
  });
  secrets.set("link after a form", thanks.headers.get("location")?.split("file=")[1] ?? "");
}

function decodeBase64(text: string): string {
  return text
    .replaceAll("\\r\\n", "")
    .replace(/(?:[A-Za-z0-9+/]{4}){6,}={0,2}/g, (found) => Buffer.from(found, "base64").toString("latin1"));
}

test("the run has every kind of secret", () => {
  const kinds = [...secrets.keys()];
  expect(kinds).toEqual(
    expect.arrayContaining([
      ...["owner key", "operator key", "new key", "agent key", "webhook secret", "session", "sign-in link", "signed address"],
      ...["link unsubscribe", "link view", "link t/c", "link t/o", "link lists/confirm", "link of an attachment", "preview link"],
    ]),
  );
  for (const [kind, secret] of secrets) expect(secret, kind).toMatch(/^.{12,}$/);
});

test("no secret of a run is in its recording or its reports", () => {
  expect(recorded.length).toBeGreaterThan(10_000);
  for (const [kind, secret] of secrets) {
    expect(recorded.includes(secret), `${kind}: ${secret} in ${around(recorded, secret)}`).toBe(false);
    expect(reports.includes(secret), `${kind} in the reports`).toBe(false);
  }
});

test("what helps to understand the run is there", () => {
  for (const text of ["shop=7", "ada@example.com", "https://acme.example/launch", "/resend/files/[removed]", "preview=[removed]"])
    expect(recorded).toContain(text);
});

function around(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return text.slice(Math.max(0, at - 200), at + secret.length + 50);
}
