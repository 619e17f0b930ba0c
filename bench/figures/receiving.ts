import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deliverSmtp } from "../../packages/server/test/smtp-client.ts";
import { freePort } from "../../test/support/free-port.ts";
import { call, type MailsvcContender, mailsvc } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";

const PROBE = pathToFileURL(join(import.meta.dirname, "../load/stretches.ts"));
const DOMAIN = "in.bench.test";
const TO = `reader@${DOMAIN}`;
// The compilers are done by then.
const WARMUP = 300;
const MAILS = 100;
const ROUNDS = 3;
const SIZE = 100_000;
const PARTS = 50;
const PART_BYTES = 200_000;

/** Mail that is received over SMTP and stored with its files. */
export const receiving: Bench = {
  name: "receiving",
  meaning:
    "Processor time of the server, all threads, for a mail of 100 kB that comes over SMTP, is parsed, checked and stored: text, HTML in quoted-printable, or a file in base64. " +
    `longest: the longest turn of the event loop, in processor time, while a mail of ${(PARTS * PART_BYTES) / 1e6} MB with ${PARTS} parts is received.`,
  run: async () => {
    const figures: Figure[] = [];
    for (const [name, build] of Object.entries(MAIL)) {
      const rounds: number[] = [];
      for (let i = 0; i < ROUNDS; i += 1) rounds.push(await measureCpu(build));
      figures.push({
        name: `receiving.${name}`,
        value: median(rounds),
        unit: "ms/mail",
        against: null,
        ratio: null,
        goal: { op: "<=", than: 5 },
        rounds,
      });
    }
    const longest = await measureLongest();
    return [
      ...figures,
      { name: "receiving.longest", value: longest, unit: "ms", against: null, ratio: null, goal: { op: "<=", than: 50 } },
    ];
  },
};

const wrap = (text: string): string => text.replace(/.{76}/g, "$&\r\n");

// Without an address in From, the server looks for no DMARC record: the figure must not depend on name servers.
const head = (i: number, ...lines: string[]): string =>
  ["From: Ada", `To: ${TO}`, `Subject: Mail ${i}`, `Message-ID: <${i}@bench.example>`, "MIME-Version: 1.0", ...lines, "", ""].join("\r\n");

/** Mails of about 100 kB, by name. */
const MAIL: Readonly<Record<string, (i: number) => string>> = {
  text: (i) =>
    head(i, "Content-Type: text/plain; charset=utf-8") +
    "A line of a mail that somebody wrote, as long as lines are in most.\r\n".repeat(SIZE / 70),
  html: (i) =>
    head(i, "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: quoted-printable") +
    '<p style=3D"margin:0;padding:0">Gr=C3=BC=C3=9Fe aus M=C3=BCnchen an alle, die=\r\n das lesen</p>\r\n'.repeat(SIZE / 90),
  file: (i) => withFiles(i, 1, (SIZE * 3) / 4),
};

function withFiles(i: number, count: number, bytes: number): string {
  const content = wrap(Buffer.alloc(bytes, i + 1).toString("base64"));
  const part = `--b\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n${content}\r\n`;
  return `${head(i, "Content-Type: multipart/mixed; boundary=b")}--b\r\nContent-Type: text/plain\r\n\r\nThe files.\r\n${part.repeat(count)}--b--\r\n`;
}

async function start(before: readonly string[] = []): Promise<{ server: MailsvcContender; port: number }> {
  const port = await freePort();
  const server = await mailsvc({ flags: ["--inbound-domain", "bounces.bench.test", "--inbound-smtp-port", String(port)], before });
  await call(server, "POST", "/api/v1/inbound-domains", { domain: DOMAIN });
  return { server, port };
}

async function receive(port: number, raw: string): Promise<void> {
  const code = await deliverSmtp(port, TO, Buffer.from(raw));
  if (code !== 250) throw new Error(`A mail was answered with ${code}.`);
}

/** Processor time of a mail, ms. */
async function measureCpu(build: (i: number) => string): Promise<number> {
  const { server, port } = await start();
  try {
    for (let i = 0; i < WARMUP; i += 1) await receive(port, build(i));
    const before = cpuOf([server.pid]);
    for (let i = 0; i < MAILS; i += 1) await receive(port, build(WARMUP + i));
    return (cpuOf([server.pid]) - before) / 1000 / MAILS;
  } finally {
    await server.stop();
  }
}

/** The longest turn while the large mail is received, ms. */
async function measureLongest(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const file = join(folder, "stretches.json");
  const { server, port } = await start(["env", `STRETCHES_FILE=${file}`, `NODE_OPTIONS=--import=${PROBE}`]);
  try {
    // Code that runs for the first time is compiled then.
    for (let i = 0; i < 5; i += 1) await receive(port, withFiles(i, 3, PART_BYTES));
    process.kill(server.pid, "SIGUSR2");
    await receive(port, withFiles(9, PARTS, PART_BYTES));
  } finally {
    await server.stop();
  }
  const longest = Math.max(0, ...(JSON.parse(readFileSync(file, "utf8")) as number[]));
  rmSync(folder, { recursive: true });
  return longest;
}
