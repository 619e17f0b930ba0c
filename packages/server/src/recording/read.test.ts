import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { MailParser } from "../inbound/inbound.ts";
import { realTime } from "../lib/clock.ts";
import type { LineOf } from "./lines.ts";
import { recordingPages, renderRecording } from "./pages.ts";
import { readRecording } from "./read.ts";

const HEAD: LineOf<"recording"> = {
  kind: "recording",
  version: 1,
  mailsvc: "0.1.0",
  node: "v24",
  platform: "linux",
  command: ["npm", "<script>alert(1)</script>"],
  startedAt: "2030-01-01T00:00:00.000Z",
};

const MAIL: LineOf<"mail"> = {
  kind: "mail",
  round: 0,
  id: "mail_1",
  workspaceId: null,
  emailId: null,
  to: "ada@example.com",
  from: '"><img src=x onerror=alert(1)>',
  subject: "</pre><script>alert(2)</script>",
  receivedAt: "2030-01-01T00:00:00.000Z",
  size: 1,
  raw: "Content-Type: text/html\r\n\r\n<script>alert(3)</script><form action=/x>",
};

function save(bytes: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-recording-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "run.ndjson.gz");
  writeFileSync(file, bytes);
  return file;
}

const pack = (...lines: unknown[]): Buffer =>
  gzipSync(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

test("lines that are damaged or unknown are counted and left out", async () => {
  const file = save(pack(HEAD, MAIL, "{", { kind: "later" }, { ...MAIL, size: "many" }));
  expect(await readRecording(file)).toEqual({ lines: [HEAD, MAIL], damaged: 3 });
});

test("a file that ends too early is shown as far as it goes", async () => {
  const noise = Array.from({ length: 3000 }, (_, i) => ({ ...MAIL, id: `mail_${i}`, raw: Math.sin(i).toString(36).repeat(3) }));
  const whole = pack(HEAD, ...noise);
  const { lines, damaged } = await readRecording(save(whole.subarray(0, whole.length / 2)));
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.length).toBeLessThan(3001);
  expect(damaged).toBeGreaterThan(0);
});

test.each([
  ["is not compressed", Buffer.from("plain text"), "not compressed with gzip"],
  ["is empty", Buffer.alloc(0), "not a recording"],
  ["is something else", gzipSync("{}\n"), "not a recording"],
  ["begins with another line", pack(MAIL, HEAD), "not a recording"],
  ["is of a later version", pack({ ...HEAD, version: 2 }), "version 2"],
])("a file that %s is refused with the reason", async (_what, bytes, reason) => {
  await expect(readRecording(save(bytes))).rejects.toThrow(reason);
});

test("a small file that unpacks to far more than a recording is refused", async () => {
  const bomb = gzipSync(Buffer.alloc(130 * 1024 * 1024, "a"));
  expect(bomb.length).toBeLessThan(1024 * 1024);
  await expect(readRecording(save(bomb))).rejects.toThrow("more than 128 MB");
});

test("texts of a recording stay texts on the page, and the page runs nothing", async () => {
  const recording = await readRecording(save(pack(HEAD, MAIL)));
  const html = renderRecording(recording);
  expect(html).not.toMatch(/<script|<img|onerror=alert\(1\)>/i);
  expect(html).toContain("&lt;script&gt;");
  const parser = new MailParser(realTime);
  onTestFinished(() => parser.close());
  const [page, mail] = await Promise.all(
    recordingPages(recording, parser)
      .slice(0, 2)
      .map(({ serve }) => serve({ position: "0" }, new URLSearchParams())),
  );
  expect(page?.headers).toContainEqual(["content-security-policy", expect.stringMatching(/^default-src 'none'; style-src 'sha256-/)]);
  expect(mail?.headers).toContainEqual(["content-security-policy", expect.stringMatching(/^sandbox allow-popups .*default-src 'none'/)]);
});
