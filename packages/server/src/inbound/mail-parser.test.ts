import { expect, onTestFinished, test } from "vitest";
import { postfixDsn } from "../../test/bounce-samples.ts";
import { hostileMails } from "../../test/hostile-mails.ts";
import { realTime } from "../lib/clock.ts";
import { MailParser, type ParserLimits } from "./mail-parser.ts";
import { type LoadProgram, MailNotRead } from "./mail-thread.ts";

const DSN = postfixDsn({ messageId: "<em_01jc3v2m9k8q4w6x0y5z7a1b2c@acme.test>", to: "ada@example.com" });
const BOUNCED = { outcome: { kind: "bounced", error: { enhancedCode: "5.1.1" } }, fault: null };

function open(limits: Partial<ParserLimits> = {}, program?: LoadProgram): MailParser {
  const parser = new MailParser(realTime, limits, program);
  onTestFinished(() => parser.close());
  return parser;
}

/** A thread that does as the first byte says: `l` loops, `m` takes memory, `x` exits, `t` throws, `g` leaves garbage; else it answers. */
const SCRIPTED: LoadProgram = async () => ({
  eval: true,
  source: `
    const { parentPort, threadId } = require("node:worker_threads");
    parentPort.on("message", ({ raw }) => {
      const order = String.fromCharCode(raw[0]);
      if (order === "l") for (;;);
      if (order === "m") for (const all = []; ; ) all.push("x".repeat(1000) + all.length);
      if (order === "x") process.exit(3);
      if (order === "t") throw new TypeError("secret words of a mail");
      const answer = { said: Buffer.from(raw).toString(), env: { ...process.env }, thread: threadId };
      parentPort.postMessage({ answer, heapUsed: order === "g" ? 50e6 : 5e6 });
    });`,
});
const order = (text: string): Buffer => Buffer.from(text);

test("the program of the thread runs from its source as well", async () => {
  const source = new URL("./mail-parser.worker.ts", import.meta.url);
  expect(await open({}, async () => ({ source, eval: false })).parse(DSN)).toMatchObject(BOUNCED);
});

test("a report is read on the parser's thread, and mails are read in their order", async () => {
  const parser = open();
  const done: number[] = [];
  const all = await Promise.all(Array.from({ length: 5 }, (_, i) => parser.parse(DSN).finally(() => done.push(i))));
  for (const mail of all) expect(mail).toMatchObject(BOUNCED);
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test("whatever a mail repeats, it is read within a second of processor time while the event loop goes on", async () => {
  const parser = open({ timeMs: 60_000 });
  await parser.parse(DSN);
  // Of this thread's own time: others may have the processor meanwhile.
  let last = process.threadCpuUsage();
  let longest = 0;
  const ticks = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  }, 5);
  onTestFinished(() => clearInterval(ticks));
  const took: Record<string, number> = {};
  for (const [name, make] of Object.entries(hostileMails)) {
    const raw = make();
    // Making the mail is work of this test.
    await new Promise(setImmediate);
    last = process.threadCpuUsage();
    const from = process.cpuUsage();
    const { outcome } = await parser.parse(raw);
    const { user, system } = process.cpuUsage(from);
    took[name] = (user + system) / 1000;
    if (outcome !== null && "error" in outcome) expect(outcome.error.message.length).toBeLessThanOrEqual(500);
  }
  expect(Object.entries(took).filter(([, ms]) => ms > 1000)).toEqual([]);
  // A quiet machine needs a tenth.
  expect(longest).toBeLessThan(2500);
  expect(await parser.parse(DSN)).toMatchObject(BOUNCED);
});

test("a mail beyond what may be read at all has a fault", async () => {
  const parser = open();
  const levels = hostileMails["levels of parts"]?.() ?? Buffer.alloc(0);
  expect((await parser.parse(levels)).fault).toMatch(/nesting/i);
  expect((await parser.parse(Buffer.from(`Subject: ${"x".repeat(70_000)}\r\n\r\n`))).fault).toMatch(/header/i);
});

test.each([
  ["loops", "l", /^Reading it took more than 2000 ms\.$/],
  ["takes all memory", "m", /^Reading it failed: it took too much memory\.$/],
  ["ends the thread", "x", /^The thread that read it ended\.$/],
  // The content of a mail stays out of the log.
  ["throws", "t", /^Reading it failed: TypeError$/],
])("a mail whose reading %s is refused with the reason, and the next one is read", async (_name, first, reason) => {
  const parser = open({ timeMs: first === "l" ? 2000 : 30_000 }, SCRIPTED);
  const [bad, next] = await Promise.allSettled([parser.parse(order(first)), parser.parse(order("good"))]);
  expect(bad).toMatchObject({ status: "rejected", reason: { name: "MailNotRead", message: expect.stringMatching(reason) } });
  expect(next).toMatchObject({ status: "fulfilled", value: { said: "good", env: {} } });
});

test("more mails than may wait are refused at once", async () => {
  const parser = open({ waiting: 2, timeMs: 2000 }, SCRIPTED);
  const mails = ["l", "a", "b"].map((text) => parser.parse(order(text)));
  await expect(parser.parse(order("c"))).rejects.toThrow("2 other mails wait to be read.");
  expect((await Promise.allSettled(mails)).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
});

test("a thread without work ends, and the next mail gets a new one", async () => {
  const parser = open({ idleMs: 1 }, SCRIPTED);
  const readThread = async (): Promise<number> => {
    // Longer than the thread may be idle.
    await realTime.sleep(20);
    return ((await parser.parse(order("a"))) as unknown as { thread: number }).thread;
  };
  const first = await readThread();
  await expect.poll(readThread).not.toBe(first);
});

test("a thread whose heap is full of garbage reads no other mail, also none that waits", async () => {
  const parser = open({}, SCRIPTED);
  const read = async (text: string): Promise<number> => ((await parser.parse(order(text))) as unknown as { thread: number }).thread;
  const [first, large, third] = await Promise.all(["a", "g", "b"].map(read));
  expect(large).toBe(first);
  expect(third).not.toBe(large);
  expect(await read("c")).toBe(third);
});

test("large mails that people write are read one after the other, however many came before", async () => {
  const parser = open({ timeMs: 50_000 });
  const text = "Some words that a person may write, line after line.\r\n".repeat(19_000);
  for (let i = 0; i < 8; i += 1) {
    const { result } = await parser.read(new Uint8Array(Buffer.from(`From: ada@example.com\r\nSubject: ${i}\r\n\r\n${text}`)));
    expect(result).toMatchObject({ mail: { subject: `${i}` } });
  }
});

test("closing refuses what is not read yet, also a mail that loops, and what comes later", async () => {
  const parser = open({}, SCRIPTED);
  const mails = ["l", "a"].map((text) => parser.parse(order(text)));
  const settled = Promise.allSettled(mails);
  await parser.close();
  for (const result of await settled) expect(result).toMatchObject({ status: "rejected", reason: expect.any(MailNotRead) });
  await expect(parser.parse(order("b"))).rejects.toThrow("The server is stopping.");
});
