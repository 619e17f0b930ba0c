import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { postfixDsn } from "../../test/bounce-samples.ts";
import { selfSigned } from "../../test/certificates.ts";
import { deliverSmtp, talkSmtp } from "../../test/smtp-client.ts";
import { silentLog } from "../lib/log.ts";
import { renew } from "../mail/smtp-listener.ts";
import { openTlsFiles } from "../mail/tls-files.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { serveInboundSmtp } from "./smtp-server.ts";

const TO = "ada@example.com";

/** A mail that was sent, and what a bounce of it is made of. */
async function sendMail(): Promise<{ world: TestWorld; id: string; returnPath: string; raw: Buffer } & AsyncDisposable> {
  const mailer = acceptingMailer();
  const world = await createWorld({ flags: { "inbound-domain": "in.acme.test" }, mailer });
  const { id } = (await world.sdk.emails.send({ from: "a@acme.test", to: TO, subject: "Hi", text: "Hi" })) as { id: string };
  await world.settle();
  const { envelopeFrom = "", messageId = "" } = mailer.mails[0] ?? {};
  const raw = Buffer.from(postfixDsn({ messageId, to: TO }));
  return { world, id, returnPath: envelopeFrom, raw, [Symbol.asyncDispose]: () => world.dispose() };
}

function writePem(...texts: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return texts.map((text, i) => {
    const file = join(folder, `${i}.pem`);
    writeFileSync(file, text);
    return file;
  });
}

/** Reads until a line has this code and is the last of its reply. */
async function reply(socket: Socket, code: number): Promise<string> {
  let text = "";
  while (!new RegExp(`^${code} .*\\r\\n`, "m").test(text)) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) await Promise.race([once(socket, "readable"), once(socket, "close")]);
    else text += chunk.toString("latin1");
    if (socket.destroyed) throw new Error(`The connection ended after: ${text}`);
  }
  return text;
}

test("STARTTLS is offered with the operator's certificate, and a bounce over it counts", async () => {
  await using s = await sendMail();
  const { key, cert } = selfSigned(["mx.acme.test"]);
  // In any order, in several files.
  const tls = openTlsFiles(writePem(cert, key));
  const server = await serveInboundSmtp(s.world.app.deps, { host: "127.0.0.1", port: 0, tls });
  const plain = connect(server.port, "127.0.0.1");
  await reply(plain, 220);
  plain.write("EHLO mx.example.com\r\n");
  expect(await reply(plain, 250)).toContain("STARTTLS");
  plain.write("STARTTLS\r\n");
  await reply(plain, 220);
  const secure = connectTls({ socket: plain, ca: cert, servername: "mx.acme.test" });
  await once(secure, "secureConnect");
  for (const [line, code] of [
    ["EHLO mx.example.com", 250],
    ["MAIL FROM:<>", 250],
    [`RCPT TO:<${s.returnPath}>`, 250],
    ["DATA", 354],
    [`${s.raw.toString("latin1").replace(/^\./gm, "..")}\r\n.`, 250],
  ] as const) {
    secure.write(`${line}\r\n`, "latin1");
    await reply(secure, code);
  }
  secure.destroy();
  expect((await s.world.sdk.emails.get(s.id)).status).toBe("bounced");
  await server.close();
});

test("a certificate that cannot be used is named, and a renewed one is taken up", () => {
  const [one, two] = [selfSigned(["one.acme.test"]), selfSigned(["two.acme.test"])];
  const [file = ""] = writePem(one.key + one.cert);
  const files = openTlsFiles([file]);
  const used: string[] = [];
  const look = (): void => renew({ log: silentLog }, files, "mail", ({ cert }) => used.push(cert.trim()));
  look();
  writeFileSync(file, two.key + one.cert);
  look();
  expect(used).toEqual([]);
  writeFileSync(file, two.key + two.cert);
  look();
  look();
  expect(used).toEqual([two.cert.trim()]);
  expect(files.current.cert).toBe(two.cert.trim());
  expect(() => openTlsFiles(writePem(one.key, two.cert))).toThrow(/cannot be used: .*mismatch/);
  expect(() => openTlsFiles(writePem(one.cert))).toThrow(/must hold one private key and its certificates, and have 0 and 1\./);
  expect(() => openTlsFiles(["/nowhere/key.pem"])).toThrow("cannot read /nowhere/key.pem (ENOENT).");
});

test("one peer gets twenty connections, and they end", async () => {
  await using s = await sendMail();
  const server = await serveInboundSmtp(s.world.app.deps, { host: "127.0.0.1", port: 0 });
  const open = Array.from({ length: 20 }, () => connect(server.port, "127.0.0.1"));
  await Promise.all(open.map((socket) => reply(socket, 220)));
  expect(await talkSmtp(server.port, [])).toEqual([expect.stringMatching(/^421 .*Too many connections/)]);
  open.pop()?.destroy();
  await expect.poll(() => deliverSmtp(server.port, s.returnPath, s.raw), { timeout: 10_000 }).toBe(250);
  for (const socket of open) socket.destroy();
  await server.close();
});

test("a peer that sends a byte now and then does not keep its connection", async () => {
  await using s = await sendMail();
  const server = await serveInboundSmtp(s.world.app.deps, { host: "127.0.0.1", port: 0, connectionMs: 3000 });
  const socket = connect(server.port, "127.0.0.1");
  // It may be reset while it writes.
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.on("close", resolve));
  await reply(socket, 220);
  const drip = setInterval(() => socket.write("N"), 50);
  await closed;
  clearInterval(drip);
  expect(await deliverSmtp(server.port, s.returnPath, s.raw)).toBe(250);
  await server.close();
});

test("who tries addresses, or sends a line without end, is cut off", async () => {
  await using s = await sendMail();
  const server = await serveInboundSmtp(s.world.app.deps, { host: "127.0.0.1", port: 0 });
  const tries = Array.from({ length: 40 }, (_, i) => `RCPT TO:<someone${i}@in.acme.test>`);
  const replies = await talkSmtp(server.port, ["EHLO x", "MAIL FROM:<>", ...tries]);
  expect(replies.filter((text) => text.startsWith("550"))).toHaveLength(20);
  expect(replies.filter((text) => text.startsWith("421"))).toHaveLength(1);
  expect(replies.length).toBeLessThan(30);
  expect((await talkSmtp(server.port, [`EHLO ${"x".repeat(100_000)}`])).at(-1)).toMatch(/^(?:421|$)/);
  await server.close();
});

/** The first line of a server for bytes that are sent in these pieces; empty when it closes the connection. */
async function greetingFor(port: number, pieces: Iterable<string>): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  for (const piece of pieces) await new Promise<void>((sent) => void socket.write(piece, () => sent()));
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
    if (text.includes("\n")) socket.destroy();
  });
  await once(socket, "close");
  return text;
}

test("a proxy that is listed says who connects, and everybody else is not believed", async () => {
  await using listed = await createWorld({ flags: { "inbound-domain": "in.acme.test", "proxy-protocol": "127.0.0.1" } });
  const server = await serveInboundSmtp(listed.app.deps, { host: "127.0.0.1", port: 0 });
  const header = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 25\r\n";
  expect(await greetingFor(server.port, [header])).toMatch(/^220 /);
  // One byte after the other.
  expect(await greetingFor(server.port, header)).toMatch(/^220 /);
  // A proxy without a header could be anybody.
  expect(await greetingFor(server.port, ["EHLO x\r\n"])).toBe("");
  expect(await greetingFor(server.port, [`PROXY ${"x".repeat(300)}\r\n`])).toBe("");
  await server.close();
  await using other = await createWorld({ flags: { "inbound-domain": "in.acme.test", "proxy-protocol": "10.0.0.0/8" } });
  const open = await serveInboundSmtp(other.app.deps, { host: "127.0.0.1", port: 0 });
  expect((await talkSmtp(open.port, [header.trim()])).at(-1)).toMatch(/^500 /);
  await open.close();
});

test("the peer that a proxy names is the one whose mail is judged", async () => {
  const flags = { "inbound-domain": "in.acme.test", "proxy-protocol": "127.0.0.1" };
  await using world = await createWorld({ flags });
  await world.sdk.inboundDomains.create({ domain: "desk.example" });
  const server = await serveInboundSmtp(world.app.deps, { host: "127.0.0.1", port: 0 });
  const envelope = "EHLO x\r\nMAIL FROM:<a@peer.example>\r\nRCPT TO:<b@desk.example>\r\nDATA\r\n";
  const deliver = async (header: string) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(header);
    await reply(socket, 220);
    socket.write(envelope);
    await reply(socket, 354);
    socket.write(`From: a@peer.example\r\nMessage-ID: <${header.length}@peer.example>\r\nSubject: ${header}\r\nHi\r\n.\r\n`);
    await reply(socket, 250);
    socket.destroy();
    return (await world.sdk.received.list()).data.find(({ subject }) => subject === header.trim())?.authentication?.spf;
  };
  expect(await deliver("PROXY TCP4 192.0.2.7 198.51.100.1 56324 25\r\n")).toBe("none");
  expect(world.app.deps.inboundPeers.counts).toEqual({ public: 0, private: 1 });
  expect(await deliver("PROXY TCP4 8.8.8.8 198.51.100.1 56325 25\r\n")).toBe("none");
  expect(world.app.deps.inboundPeers.counts).toEqual({ public: 1, private: 1 });
  // A peer of loopback is trusted unless a flag says otherwise.
  expect(await deliver("PROXY TCP4 127.0.0.9 127.0.0.1 56326 25\r\n")).toBeNull();
  await server.close();
});
