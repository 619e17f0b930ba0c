// Makes the data of this version, which later versions must be able to open (test/upgrade.test.ts):
//
//   node scripts/upgrade-fixture.mjs NAME --database-url URL [--server FILE]
//
// It fills a server on SQLite and one on an empty Postgres database, and writes their data to test/fixtures/upgrades: NAME.db.zst,
// NAME.sql.zst, and NAME.json with what both must still know. It needs pg_dump in the version of that Postgres server. --server is the
// main.js of another checkout.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { constants, zstdCompressSync } from "node:zlib";

const root = fileURLToPath(new URL("../", import.meta.url));
const out = join(root, "test/fixtures/upgrades");
// Not a secret: it opens made-up data only.
const SECRET_KEY = Buffer.alloc(32, 7).toString("base64");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { server: { type: "string", default: join(root, "packages/server/dist/main.js") }, "database-url": { type: "string" } },
});
const [name] = positionals;
const databaseUrl = values["database-url"];
if (!name || !databaseUrl) throw new Error("Usage: node scripts/upgrade-fixture.mjs NAME --database-url URL [--server FILE]");

mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "mailsvc-fixture-"));
try {
  const sqlite = await fill(["--data", join(work, "data")]);
  const postgres = await fill(["--data", join(work, "unused"), "--database-url", databaseUrl]);
  const database = join(work, "whole.db");
  // One file, without a log next to it.
  execFileSync(process.execPath, [
    "-e",
    `const db = require(${JSON.stringify(join(root, "node_modules/better-sqlite3"))})(${JSON.stringify(join(work, "data/mailsvc.db"))});
     db.prepare("VACUUM INTO ?").run(${JSON.stringify(database)}); db.close();`,
  ]);
  const dump = execFileSync("pg_dump", ["--inserts", "--no-owner", "--no-privileges", "--no-comments", databaseUrl], { maxBuffer: 1e9 });
  const sql = dump.toString().replace(/^\\.*\n/gm, "");
  put(`${name}.db.zst`, compress(readFileSync(database)));
  put(`${name}.sql.zst`, compress(Buffer.from(sql)));
  put(`${name}.json`, `${JSON.stringify({ madeAt: new Date().toISOString(), secretKey: SECRET_KEY, sqlite, postgres }, null, 2)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function put(file, content) {
  writeFileSync(join(out, file), content);
  console.log(`test/fixtures/upgrades/${file}: ${Math.ceil(content.length / 1024)} KB`);
}

function compress(bytes) {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
}

/** Runs a server, gives it data, and returns what it knows in the end. */
async function fill(flags) {
  const ready = join(work, "ready.json");
  rmSync(ready, { force: true });
  const args = [values.server, "--dev", "--port", "0", "--ready-file", ready, "--secret-key", SECRET_KEY, ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error("The server did not start.");
    await sleep(50);
  }
  const { url, apiKey } = JSON.parse(readFileSync(ready, "utf8"));
  const known = await write({ url, apiKey });
  child.kill("SIGTERM");
  await ended;
  return { apiKey, ...known };
}

async function write({ url, apiKey }) {
  const ask = async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const post = (path, body = {}) => ask("POST", path, body);
  const from = "Acme <hello@acme.example>";
  for (let i = 0; i < 30; i += 1)
    await post("/contacts", { email: `person${i}@example.com`, firstName: `Person ${i}`, tags: i % 3 === 0 ? ["vip"] : [] });
  const list = await post("/lists", { name: "News" });
  await post("/segments", { name: "VIP", rules: { field: "tags", operator: "contains", value: "vip" } });
  await post("/suppressions", { email: "never@example.com", reason: "manual" });
  const template = await post("/templates", {
    name: "Welcome",
    slug: "welcome",
    subject: "Hello {{firstName}}",
    html: "<p>Hello {{firstName}}</p>",
  });
  const sent = [];
  for (const to of ["person1@example.com", "bounced@simulator.mailsvc.test", "clicked@simulator.mailsvc.test", "Zoë@example.com"])
    sent.push((await post("/send", { from, to, subject: `To ${to}`, html: "<p>Hello</p>", text: "Hello", tags: { kind: "fixture" } })).id);
  const later = new Date(Date.now() + 25 * 86_400_000).toISOString();
  sent.push((await post("/send", { from, to: "person2@example.com", subject: "Later", text: "Later", scheduledAt: later })).id);
  await post("/marketplace/listings", { slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/webhook", permissions: [] });
  await post(`/marketplace/payments/${(await post("/marketplace/listings/writer/checkout")).id}/confirm`);
  const activation = await post("/marketplace/activations", { agentSlug: "writer", acceptedPermissions: [] });
  for (let left = 100; left > 0; left -= 1) {
    const { data } = await ask("GET", "/emails?status=queued");
    if (data.length <= 1) break;
    await sleep(100);
  }
  const inFlight = await begin({ ask, post });
  const total = async (path) => (await ask("GET", path)).pagination.total;
  const emails = [];
  for (const id of sent) {
    const { status, to, subject, scheduledAt } = await ask("GET", `/emails/${id}`);
    emails.push({ id, status, to, subject, scheduledAt });
  }
  const totals = {};
  for (const path of ["/contacts", "/lists", "/segments", "/suppressions", "/templates", "/emails"]) totals[path] = await total(path);
  return { emails, totals, listId: list.id, templateId: template.id, activationId: activation.id, inFlight };
}

/** Begins what a later version must go on with: a campaign, an automation, and events for a webhook that does not answer. */
async function begin({ ask, post }) {
  const webhook = await post("/v1/webhooks", { url: "http://127.0.0.1:9/webhook", events: ["contact.created"] });
  const automation = await post("/automations", {
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [
      { id: "wait", type: "delay", for: "2d" },
      { id: "tag", type: "add_tag", tag: "welcomed" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "tag" },
    ],
  });
  await post(`/automations/${automation.id}/activate`);
  const contact = await post("/contacts", { email: "late@example.com" });
  // A mail each 100 seconds.
  const content = { name: "Launch", subjectLine: "Hello {{firstName}}", html: "<p>Hello</p>", fromEmail: "hello@acme.example" };
  const campaign = await post("/campaigns", { ...content, throttle: { perSecond: 0.01 } });
  await post(`/campaigns/${campaign.id}/send`);
  const met = {
    "a mail of the campaign": async () => (await ask("GET", `/campaigns/${campaign.id}/stats`)).recipients.delivered > 0,
    "a waiting entry": async () => (await ask("GET", `/automations/${automation.id}/entries?status=ACTIVE`)).pagination.total > 0,
    "a failed delivery": async () => (await ask("GET", `/v1/webhooks/${webhook.id}/deliveries`)).data[0]?.attempts > 0,
  };
  for (const [what, holds] of Object.entries(met))
    for (let left = 100; !(await holds()); left -= 1) {
      if (left === 0) throw new Error(`There was not ${what}.`);
      await sleep(100);
    }
  const { recipients } = await ask("GET", `/campaigns/${campaign.id}/stats`);
  const events = (await ask("GET", "/v1/events?limit=100")).data.map(({ id }) => id);
  const ids = { webhookId: webhook.id, automationId: automation.id, contactId: contact.id, campaignId: campaign.id };
  return { ...ids, recipients: recipients.total, events };
}

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
