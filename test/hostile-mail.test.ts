import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { arf } from "../packages/server/test/bounce-samples.ts";
import { hostileMails } from "../packages/server/test/hostile-mails.ts";
import { deliverSmtp } from "../packages/server/test/smtp-client.ts";
import { until } from "./support/api.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

const MAILS = 64;
const SENDERS = 10;
const PROBE_EVERY_MS = 50;
const MB = 1024 * 1024;

const address = (server: ServerProcess): { port: number; to: string } => {
  const [, port = "", to = ""] = /accepting bounces.*?"port":(\d+).*?"complaintsTo":"([^"]+)"/.exec(server.stderr()) ?? [];
  return { port: Number(port), to };
};

const memoryOf = (server: ServerProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))?.[1]) * 1024;

/** Asks a server for its health at a fixed rate, until stopped; answers the longest time an answer took, ms. */
function probe(url: string): () => Promise<number> {
  let longest = 0;
  const open = new Set<Promise<void>>();
  const ask = async (): Promise<void> => {
    const from = performance.now();
    const { status } = await fetch(`${url}/healthz`);
    expect(status).toBe(200);
    longest = Math.max(longest, performance.now() - from);
  };
  const timer = setInterval(() => {
    const asked = ask();
    open.add(asked);
    void asked.finally(() => open.delete(asked));
  }, PROBE_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(open);
    return longest;
  };
}

test("hostile mails of a megabyte neither delay requests nor keep memory, and each is answered", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-hostile-"));
  const flags = ["--dev", "--inbound-domain", "in.acme.test", "--inbound-smtp-port", "127.0.0.1:0"];
  const server = startServer({ data: join(folder, "data"), flags });
  try {
    const ready = await server.ready();
    if (ready === null) throw new Error(server.stderr());
    await until(
      30,
      async () => address(server).port > 0,
      async () => server.stderr(),
    );
    const { port, to } = address(server);
    const deliverAll = async (queue: Buffer[]): Promise<number[]> => {
      const replies: number[] = [];
      const send = async (): Promise<void> => {
        for (let raw = queue.shift(); raw !== undefined; raw = queue.shift()) replies.push(await deliverSmtp(port, to, raw));
      };
      await Promise.all(Array.from({ length: SENDERS }, send));
      return replies;
    };
    const mails = Object.values(hostileMails).map((make) => make());
    const report = arf({ messageId: "<other@elsewhere>", to: "ada@example.com" });
    for (let i = 0; i < 20; i += 1) expect(await deliverSmtp(port, to, report)).toBe(250);
    // Ordinary mail leaves as much in the allocator, and other programs of this machine delay answers: this test is not about either.
    const stopOrdinary = probe(ready.url);
    await deliverAll(Array.from({ length: MAILS }, () => Buffer.concat([report, Buffer.alloc(MB, `${"x".repeat(76)}\r\n`)])));
    const ordinary = await stopOrdinary();
    const before = memoryOf(server);
    const stopProbe = probe(ready.url);
    const replies = await deliverAll(Array.from({ length: MAILS }, (_, i) => mails[i % mails.length] ?? report));
    const longest = await stopProbe();
    expect(replies.filter((code) => code !== 250 && code !== 554)).toEqual([]);
    expect(replies).toHaveLength(MAILS);
    // A mail that was refused has its reason in the log.
    expect(server.stderr().match(/"a mail to the inbound domain cannot be read".*?"reason":"\w/g) ?? []).toHaveLength(
      replies.filter((code) => code === 554).length,
    );
    console.log(
      `hostile mail: /healthz took ${longest.toFixed(0)} ms at most, ${ordinary.toFixed(0)} with ordinary mail, memory from ${(before / MB).toFixed(0)} MB`,
    );
    expect(longest).toBeLessThan(Math.max(250, 3 * ordinary));
    await expect.poll(() => (memoryOf(server) - before) / MB, { timeout: 60_000, interval: 1000 }).toBeLessThan(50);
    console.log(`hostile mail: memory ${(memoryOf(server) / MB).toFixed(0)} MB at the end`);
    expect(await deliverSmtp(port, to, report)).toBe(250);
  } finally {
    await server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
