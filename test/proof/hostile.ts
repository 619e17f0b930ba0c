import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import type { Email, SignUpForm } from "@mailsvc/sdk/contract";
import { createReturnPath } from "../../packages/server/src/inbound/inbound.ts";
import { makeMacs } from "../../packages/server/src/lib/macs.ts";
import { seededRandom } from "../../packages/server/src/lib/random.ts";
import { arf, exchangeDsn, gmailDsn, postfixDsn, qmailBounce, vacation } from "../../packages/server/test/bounce-samples.ts";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";
import { write } from "../../packages/server/test/receiving.ts";
import { deliverSmtp } from "../../packages/server/test/smtp-client.ts";
import { type Api, all, call, total, until } from "../support/api.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import type { Part } from "./part.ts";
import { type Choose, chooseBy, HOSTILE_TEXTS } from "./values.ts";

const CLIENTS = 16;
const MAX_FAILURES = 20;
const KEY = "1f".repeat(32);
const DOMAIN = "in.acme.test";
/** Mails of a step, and forms of one. */
const MAILS = 5000;
const FORMS = 2500;
/** Forms on the server: each takes fifty sign-ups a second. */
const PAGES = 40;

/** 50,000 mails from strangers. */
export const mails: Part = {
  name: "mails",
  title: "Mutated mail",
  meaning:
    "Bounces, complaints, automatic replies and answers of people, changed at random: bytes, lines, headers and parts. They come by SMTP for mail that was sent. Each must be answered for good, whatever was accepted must be readable, and the server must go on.",
  steps: (share) => Math.max(2, Math.round(10 * share)),
  run: async (step, { seed, share }) =>
    onServer(step, ["--inbound-domain", DOMAIN, "--inbound-smtp-port", "127.0.0.1:0"], async (api, server) => {
      const choose = chooseBy(seededRandom(seed).fraction);
      const port = (): number => Number(/accepting bounces.*?"port":(\d+)/.exec(server.stderr())?.[1]);
      await until(
        30,
        async () => port() > 0,
        async () => server.stderr(),
      );
      const to = Array.from({ length: 50 }, (_, i) => `p${i}@example.com`);
      const message = { from: "hello@acme.test", subject: "Hi", text: "How are you?", replyTo: "auto" };
      for (const one of to) await call(api, "POST", "/api/v1/send", { ...message, to: one });
      const sent = await all<Email & { messageId: string }>(api, "/api/v1/emails");
      const path = createReturnPath(makeMacs(Buffer.from(KEY, "hex")), DOMAIN, DOMAIN);
      const found = new Found(seed);
      await found.each(share < 1 ? Math.max(100, Math.round(MAILS * share)) : MAILS, async (n) => {
        const email = choose.one(sent);
        const recipient = choose.one([path.bounceAddress(email.id), path.replyAddress(email.id), path.complaintAddress()]) ?? "";
        const raw = mutate(choose, choose.one(SAMPLES)({ messageId: email.messageId, to: email.to }, n));
        const code = await deliverSmtp(port(), recipient, raw, choose.one(["", "p1@example.com"]));
        found.count(`${Math.floor(code / 100)}xx`);
        if (!(code >= 200 && code < 400) && !(code >= 500 && code < 600))
          found.fail(`the answer ${code} to ${recipient}:\n${raw.toString("latin1").slice(0, 2000)}`);
      });
      for (const { id } of await all<{ id: string }>(api, "/api/v1/received")) {
        found.count("received");
        for (const rest of ["", "/raw", "/attachments"]) await found.read(api, `/api/v1/received/${id}${rest}`);
      }
      for (const { id } of sent) for (const at of [`emails/${id}`, `events?email=${id}`]) await found.read(api, `/api/v1/${at}`);
      return found;
    }),
};

/** 20,000 forms from strangers. */
export const forms: Part = {
  name: "forms",
  title: "Hostile forms",
  meaning:
    "Sign-up forms with hostile values, fields that are not there, fields twice, other encodings and broken bodies. None may be answered by 5xx or not at all, no value may come back as HTML, nobody may be mailed but who was entered, and each person once.",
  steps: (share) => Math.max(2, Math.round(8 * share)),
  run: async (step, { seed, share }) =>
    onServer(step, ["--trust-proxy", "127.0.0.1"], async (api) => {
      const choose = chooseBy(seededRandom(seed).fraction);
      const list = await call<{ id: string }>(api, "POST", "/api/v1/lists", { name: "Newsletter" });
      const fields = ["firstName", "lastName", "phone"];
      const pages: SignUpForm[] = [];
      for (let i = 0; i < PAGES; i += 1) {
        const form = { name: `Form ${i}`, listId: list.id, fields: fields.filter((_, n) => i & (1 << n)), consentCheckbox: i % 5 === 0 };
        pages.push(
          await call(api, "POST", "/api/v1/forms", { ...form, ...(i % 7 === 0 && { redirectUrl: "https://acme.example/thanks" }) }),
        );
      }
      const found = new Found(seed);
      const entered = new Set<string>();
      await found.each(share < 1 ? Math.max(100, Math.round(FORMS * share)) : FORMS, async (n) => {
        const email = `p${n}@people.example`;
        const { body, type } = fillIn(choose, email, entered);
        const url = new URL(new URL(choose.one(pages).url).pathname, api.url);
        const headers = { "content-type": type, "x-forwarded-for": `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
        const response = await fetch(url, { method: "POST", body: new Uint8Array(body), headers, redirect: "manual" });
        const text = await response.text();
        const said = `${response.status} to ${type} ${body.toString("latin1").slice(0, 500)}`;
        found.count(`${Math.floor(response.status / 100)}xx`);
        if (response.status >= 500) found.fail(said);
        if (text.includes(MARK)) found.fail(`HTML of a stranger in the answer ${said}`);
        const location = response.headers.get("location");
        if (
          location !== null &&
          new URL(location, api.url).origin !== new URL(api.url).origin &&
          location !== "https://acme.example/thanks"
        )
          found.fail(`a way to ${location} in the answer ${said}`);
      });
      // A job writes the mail that asks.
      const members = await total(api, `/api/v1/lists/${list.id}/contacts`);
      const countMail = () => total(api, "/api/v1/emails");
      await until(
        120,
        async () => (await countMail()) >= members,
        async () => `${await countMail()} mails to ${members} people`,
      );
      const asked = Map.groupBy(await all<{ to: string }>(api, "/api/v1/emails"), ({ to }) => to);
      for (const [to, mailed] of asked) {
        found.count("mailed");
        if (!entered.has(plain(to))) found.fail(`${to} was mailed and never entered`);
        if (mailed.length > 1) found.fail(`${to} was mailed ${mailed.length} times`);
      }
      for (const { id } of pages) await found.read(api, `/api/v1/forms/${id}/submissions`);
      return found;
    }),
};

/** Counts and failures of a step. */
class Found {
  readonly counts: Record<string, number> = {};
  readonly failures: string[] = [];
  readonly rows = [];
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  fail(why: string): void {
    this.count("unexpected");
    if (this.failures.length < MAX_FAILURES) this.failures.push(`seed ${this.#seed}: ${why}`);
  }

  /** Does something so many times, by some clients side by side. */
  async each(times: number, work: (n: number) => Promise<void>): Promise<void> {
    let n = 0;
    const client = async (): Promise<void> => {
      while (n < times) {
        const at = n++;
        this.count("tried");
        await work(at).catch((error) => this.fail(`no answer: ${error}`));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  /** Reads what must be there. */
  async read({ url, apiKey }: Api, path: string): Promise<void> {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
    await response.arrayBuffer();
    if (response.status !== 200) this.fail(`${path}: ${response.status}`);
  }
}

/** Runs a server, on each database by turns, which must be sound afterwards. */
async function onServer(step: number, flags: readonly string[], run: (api: Api, server: ServerProcess) => Promise<Found>): Promise<Found> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-proof-"));
  const database = step % 2 === 0 ? null : await startPostgres();
  const limits = ["--rate-limit", "send=1000000,write=1000000,read=1000000"];
  const store = database === null ? [] : ["--database-url", database.url];
  const server = startServer({ data: join(folder, "data"), flags: ["--dev", "--secret-key", KEY, ...limits, ...flags, ...store] });
  try {
    const ready = await server.ready();
    if (!ready?.apiKey) throw new Error(`The server did not start:\n${server.stderr()}`);
    const found = await run({ url: ready.url, apiKey: ready.apiKey }, server);
    const health = await fetch(`${ready.url}/healthz`).then(({ status }) => status, String);
    if (health !== 200) found.fail(`/healthz answered ${health} afterwards.`);
    const ended = await server.kill("SIGTERM");
    if (ended.code !== 0) found.fail(`The server ended with ${JSON.stringify(ended)}: ${server.stderr().slice(-1000)}`);
    return found;
  } finally {
    await server.kill("SIGKILL");
    await database?.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An address as it is compared: in small letters, with its domain in ASCII. */
function plain(address: string): string {
  const [, name = "", domain = ""] = /^(.*)@(.*)$/s.exec(address.trim().toLowerCase()) ?? [];
  return `${name}@${domainToASCII(domain)}`;
}

type Sample = (bounced: { readonly messageId: string; readonly to: string }, n: number) => Buffer;

const SAMPLES: readonly Sample[] = [
  (bounced) => postfixDsn(bounced),
  (bounced) => exchangeDsn(bounced),
  (bounced) => gmailDsn(bounced),
  (bounced) => qmailBounce(bounced),
  (bounced) => arf(bounced),
  () => vacation(),
  ({ messageId }, n) => write(`Thank you, number ${n}.`, { "In-Reply-To": messageId, "Message-ID": `<${n}@example.com>` }),
  ({ messageId }, n) =>
    Buffer.from(
      `From: p1@example.com\r\nSubject: =?utf-8?Q?R=C3=A9?= ${n}\r\nIn-Reply-To: ${messageId}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Yes=2C please</p>\r\n--b\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Disposition: attachment; filename="a.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQK\r\n--b--\r\n`,
    ),
];

/** Changes a mail in some places. */
function mutate(choose: Choose, raw: Buffer): Buffer {
  let bytes = raw;
  for (let changes = choose.integer(0, 6); changes > 0; changes -= 1) {
    const at = choose.integer(0, bytes.length);
    const end = Math.min(bytes.length, at + choose.integer(1, choose.one([1, 40, 2000])));
    const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    const put = choose.one<() => readonly Uint8Array[]>([
      () => [],
      () => [cut, cut],
      () => [Buffer.from(Uint8Array.from(cut, () => choose.integer(0, 255)))],
      () => [Buffer.from(cut.toString("latin1").toUpperCase(), "latin1")],
      () => [Buffer.from(choose.one(HOSTILE_TEXTS)), cut],
      () => [
        Buffer.from(choose.one(["\r\n", "\n", "\r", "\r\n\r\n", "\r\n.", "--b\r\n", "=?x?y?z?=", '"', "<", ">", ";", "=", "\t"])),
        cut,
      ],
      () => [
        Buffer.from(`\r\n${choose.one(["From", "To", "Subject", "Content-Type", "In-Reply-To", "X"])}: ${choose.one(HOSTILE_TEXTS)}\r\n`),
        cut,
      ],
    ])();
    bytes = Buffer.concat([before, ...put, after]);
  }
  return bytes;
}

/** HTML that no page may contain as it is. */
const MARK = '<img src=x onerror="stranger()">';

/** A form as a stranger may fill it in. Notes who may be mailed for it. */
function fillIn(choose: Choose, email: string, entered: Set<string>): { body: Buffer; type: string } {
  const value = (): string => choose.one([...HOSTILE_TEXTS, MARK, "Ada", `${MARK}${choose.one(HOSTILE_TEXTS)}`]).slice(0, 12_000);
  const names = ["firstName", "lastName", "phone", "consent", "language", "redirect", "listId", "status", "__proto__", "email"];
  const form = new URLSearchParams();
  const to = choose.chance(0.6)
    ? email
    : choose.one([...HOSTILE_TEXTS, MARK, `${email}\r\nBcc: victim@example.org`, `${email},victim@example.org`]);
  form.append("email", to);
  for (const name of names) if (choose.chance(0.3)) form.append(name, name === "consent" ? choose.one(["yes", value()]) : value());
  for (const one of form.getAll("email")) entered.add(plain(one));
  const text = form.toString();
  const [body, type] = choose.one<() => readonly [Buffer, string]>([
    () => [Buffer.from(text), "application/x-www-form-urlencoded"],
    () => [Buffer.from(text), "application/x-www-form-urlencoded; charset=utf-8"],
    () => [Buffer.from(text.slice(0, choose.integer(0, text.length))), "application/x-www-form-urlencoded"],
    () => [mutate(choose, Buffer.from(text)), "application/x-www-form-urlencoded"],
    () => [Buffer.from(JSON.stringify(Object.fromEntries(form))), "application/json"],
    () => [Buffer.from(`--x\r\nContent-Disposition: form-data; name="email"\r\n\r\n${to}\r\n--x--\r\n`), "multipart/form-data; boundary=x"],
  ])();
  // The body as it was sent counts: it may be cut or changed.
  for (const one of new URLSearchParams(body.toString()).getAll("email")) entered.add(plain(one));
  return { body, type };
}
