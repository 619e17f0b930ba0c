// Mail is submitted by the programs and libraries that people use, to the built server.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import nodemailer from "nodemailer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { selfSigned } from "../packages/server/test/certificates.ts";
import { postfixMissing, startPostfix } from "../packages/server/test/postfix.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { freePort } from "./support/free-port.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { smtpSink } from "./support/smtp-sink.ts";

const run = promisify(execFile);
const SECONDS = 60;

let folder = "";
let server: ServerProcess;
let api: Api;
let ports: { readonly plain: number; readonly tls: number };
let sink: Awaited<ReturnType<typeof smtpSink>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-smtp-"));
  const { key, cert } = selfSigned(["localhost", "127.0.0.1"]);
  writeFileSync(join(folder, "mail.pem"), key + cert);
  writeFileSync(join(folder, "ca.pem"), cert);
  ports = { plain: await freePort(), tls: await freePort() };
  sink = await smtpSink(() => 0);
  const flags = ["--trust-sender", "acme.example", "--smtp-url", sink.url, "--smtp-tls", join(folder, "mail.pem")];
  const listen = ["--smtp-port", `${ports.plain}`, "--smtps-port", `${ports.tls}`];
  server = startServer({ data: join(folder, "data"), flags: [...flags, ...listen] });
  const ready = await server.ready();
  if (!ready?.apiKey) throw new Error(`The server did not start:\n${server.stderr()}`);
  expect(ready.smtpUrl).toBe(`smtp://127.0.0.1:${ports.plain}`);
  api = { url: ready.url, apiKey: ready.apiKey };
});

afterAll(async () => {
  await server?.kill("SIGTERM");
  await sink?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The mails that were sent with a subject, once there are so many. */
async function sentWith(subject: string, count = 1): Promise<{ status: string; recipients: { email: string; kind: string }[] }[]> {
  const path = `/api/v1/emails?subject=${encodeURIComponent(subject)}`;
  const list = async () =>
    (await all<{ status: string; recipients: { email: string; kind: string }[] }>(api, path)).filter(({ status }) => status === "sent");
  await until(
    SECONDS,
    async () => (await list()).length >= count,
    async () => `${(await list()).length} of ${count} mails "${subject}"; ${server.stderr().slice(-1000)}`,
  );
  return list();
}

const PYTHON = `
import smtplib, ssl, sys
from email.message import EmailMessage
port, secure, method, key, ca, subject = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
mail = EmailMessage()
mail["From"], mail["To"], mail["Subject"] = "Acme <hello@acme.example>", "Ada <ada@example.com>, bob@example.com", subject
mail["Bcc"] = "carol@example.com"
mail.set_content("Hi")
mail.add_alternative("<p>Hi</p>", subtype="html")
mail.add_attachment(b"bytes", maintype="application", subtype="octet-stream", filename="a.bin")
server = smtplib.SMTP_SSL("localhost", int(port), context=context) if secure == "tls" else smtplib.SMTP("localhost", int(port))
if secure == "starttls": server.starttls(context=context)
server.ehlo()
server.user, server.password = "app", key
server.auth(method, getattr(server, "auth_" + method.lower()))
server.send_message(mail)
server.send_message(mail)
server.quit()
`;

describe("Python's smtplib, as Django uses it", () => {
  test.each([
    ["plain", "PLAIN"],
    ["starttls", "LOGIN"],
    ["tls", "PLAIN"],
  ])("sends twice on one connection: %s, AUTH %s", async (secure, method) => {
    const subject = `Python ${secure}`;
    const port = secure === "tls" ? ports.tls : ports.plain;
    await run("python3", ["-c", PYTHON, `${port}`, secure, method, api.apiKey, join(folder, "ca.pem"), subject]);
    const [mail] = await sentWith(subject, 2);
    expect(mail?.recipients.map(({ email, kind }) => [email, kind])).toEqual([
      ["ada@example.com", "to"],
      ["bob@example.com", "to"],
      ["carol@example.com", "bcc"],
    ]);
  });
});

describe("swaks", () => {
  const swaks = (subject: string, ...options: string[]) => {
    const mail = ["--from", "hello@acme.example", "--to", "ada@example.com", "--h-Subject", subject];
    return run("swaks", ["--server", "127.0.0.1", ...mail, ...options]);
  };
  const login = (method: string): string[] => ["--auth", method, "--auth-user", "app", "--auth-password", api.apiKey];

  test.each(["PLAIN", "LOGIN"])("sends with AUTH %s over STARTTLS", async (method) => {
    const { stdout } = await swaks(`swaks ${method}`, "--port", `${ports.plain}`, "--tls", ...login(method));
    expect(stdout).toMatch(/<~ {2}250 2\.0\.0 queued as em_\w+/);
    await sentWith(`swaks ${method}`);
  });

  test("sends over TLS from the first byte, and in a pipeline", async () => {
    await swaks("swaks TLS", "--port", `${ports.tls}`, "--tls-on-connect", "--pipeline", ...login("PLAIN"));
    await sentWith("swaks TLS");
  });

  test("is told why it may not send", async () => {
    await expect(swaks("swaks", "--port", `${ports.plain}`)).rejects.toMatchObject({
      stdout: expect.stringContaining("530 5.7.0 Log in first"),
    });
    await expect(swaks("swaks", "--port", `${ports.plain}`, ...login("CRAM-MD5"))).rejects.toThrow();
    await expect(swaks("swaks", "--port", `${ports.plain}`, ...login("PLAIN"), "--h-From", "me@other.example")).rejects.toMatchObject({
      stdout: expect.stringContaining("550 5.7.1 Neither me@other.example nor the domain other.example is a verified sender"),
    });
  });
});

test("openssl s_client talks over STARTTLS, and is offered AUTH there", async () => {
  const args = ["s_client", "-quiet", "-starttls", "smtp", "-crlf", "-verify_return_error", "-CAfile", join(folder, "ca.pem")];
  const child = spawn("openssl", [...args, "-connect", `127.0.0.1:${ports.plain}`, "-servername", "localhost"]);
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stdin.write("EHLO openssl\nQUIT\n");
  await once(child.stdout, "close");
  expect(text).toContain("250-AUTH PLAIN LOGIN");
  expect(text).not.toContain("STARTTLS");
});

const missing = postfixMissing();
test.skipIf(missing !== null)(
  `Postfix hands its mail over with a login${missing === null ? "" : ` (${missing})`}`,
  { timeout: 180_000 },
  async () => {
    const postfix = await startPostfix({
      relayhost: `[127.0.0.1]:${ports.plain}`,
      virtual_mailbox_domains: "",
      mynetworks: "127.0.0.0/8",
      smtpd_relay_restrictions: "permit_mynetworks, reject_unauth_destination",
      smtpd_recipient_restrictions: "permit_mynetworks, reject_unauth_destination",
      smtp_sasl_auth_enable: "yes",
      smtp_sasl_password_maps: `static:app:${api.apiKey}`,
      smtp_sasl_security_options: "noanonymous",
      smtp_tls_security_level: "encrypt",
    });
    const transport = nodemailer.createTransport({
      host: "127.0.0.1",
      port: postfix.port,
      ignoreTLS: true,
      connectionTimeout: 20_000,
      greetingTimeout: 20_000,
    });
    try {
      const mail = { from: "hello@acme.example", to: ["ada@example.com", "bob@example.com"], bcc: "carol@example.com" };
      await transport.sendMail({ ...mail, subject: "By Postfix", text: "Hi" });
      const [sent] = await sentWith("By Postfix");
      expect(sent?.recipients.map(({ email, kind }) => [email, kind]).sort()).toEqual([
        ["ada@example.com", "to"],
        ["bob@example.com", "to"],
        ["carol@example.com", "bcc"],
      ]);
    } finally {
      transport.close();
      await postfix.stop();
    }
  },
);

test("fifty hostile sessions do not keep others waiting, and end", async () => {
  const open = Array.from({ length: 50 }, (_, i) => {
    const socket = connect(ports.plain, "127.0.0.1");
    // The server may close it while this side writes.
    socket.on("error", () => {});
    const closed = new Promise((done) => socket.once("close", done));
    // Silent, half open, floods of commands, a line without end, garbage where TLS is expected.
    const kind = i % 5;
    if (kind === 1) socket.end("EHLO half\r\n");
    else if (kind === 2) socket.write("EHLO a\r\n".repeat(20_000));
    else if (kind === 3) socket.write("x".repeat(4_000_000));
    else if (kind === 4) socket.write(`EHLO a\r\nSTARTTLS\r\n${"\0".repeat(10_000)}`);
    socket.resume();
    // The others have a minute to log in.
    return { closed: kind === 1 || kind === 3 ? closed : null, socket };
  });
  await Promise.all(open.map(({ closed }) => closed));
  for (let i = 0; i < 20; i += 1) {
    const answer = await fetch(`${api.url}/healthz`, { signal: AbortSignal.timeout(10_000) });
    expect(answer.status).toBe(200);
  }
  const transport = nodemailer.createTransport({
    host: "127.0.0.1",
    port: ports.plain,
    ignoreTLS: true,
    auth: { user: "a", pass: api.apiKey },
  });
  await transport.sendMail({ from: "hello@acme.example", to: "ada@example.com", subject: "Among enemies", text: "Hi" });
  transport.close();
  await sentWith("Among enemies");
  for (const { socket } of open) socket.destroy();
  expect(await total(api, "/api/v1/emails?status=failed")).toBe(0);
  expect(await call(api, "GET", "/api/v1/me")).toBeDefined();
});
