import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ACME_IP, acme, signedMail } from "../../../test/authenticated-mail.ts";
import { realTime } from "../../lib/clock.ts";
import type { DomainRecords } from "../../lib/domain-records.ts";
import { type LoadProgram, MailNotRead } from "../mail-thread.ts";
import { type AuthenticatorLimits, MailAuthenticator } from "./mail-authenticator.ts";

const PEER = { ip: ACME_IP, helo: "mx.acme.example", envelopeFrom: "hello@acme.example" };

function open(dns: DomainRecords, limits: Partial<AuthenticatorLimits> = {}, program?: LoadProgram): MailAuthenticator {
  const authenticator = new MailAuthenticator(dns, realTime, limits, program);
  onTestFinished(() => authenticator.close());
  return authenticator;
}

const bytes = async (mail: Promise<Buffer>): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await mail);

const PASSED = { spf: "pass", dkim: "pass", dmarc: "pass", signers: ["acme.example"], policy: "reject", reason: null };

test("a mail comes back with what was found out, and many are under way at once", async () => {
  const authenticator = open(acme());
  const raw = await bytes(signedMail());
  const copy = Buffer.from(raw);
  const all = await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(new Uint8Array(raw), PEER)));
  for (const { raw: back, authentication } of all) {
    expect(authentication).toEqual(PASSED);
    expect(copy.equals(back)).toBe(true);
  }
});

test("name servers that never answer hold a mail for the time of its lookups, and no other mail", async () => {
  const silent: DomainRecords = { ...acme(), txt: (name) => (name.endsWith("slow.example") ? new Promise(() => {}) : acme().txt(name)) };
  const authenticator = open(silent, { dnsMs: 1000 });
  const order: string[] = [];
  const slow = authenticator
    .authenticate(await bytes(signedMail("slow.example", { from: "x@slow.example" })), { ...PEER, envelopeFrom: "x@slow.example" })
    .finally(() => order.push("slow"));
  const other = await authenticator.authenticate(await bytes(signedMail()), PEER).finally(() => order.push("other"));
  expect(other.authentication).toEqual(PASSED);
  const { authentication } = await slow;
  expect(authentication).toMatchObject({ spf: "temperror", dkim: "temperror", dmarc: "temperror", signers: [] });
  expect(authentication.reason).toMatch(/^No name server answered for \S+slow\.example \(ETIMEOUT\)\.$/);
  expect(order).toEqual(["other", "slow"]);
});

test("a mail asks the DNS for at most sixty names", async () => {
  let asked = 0;
  const answer = async <T>(records: T[]): Promise<T[]> => {
    asked += 1;
    return records;
  };
  // Ten times ten mail servers, as many as SPF allows.
  const spf = `v=spf1 ${Array.from({ length: 10 }, (_, i) => `mx:m${i}.acme.example`).join(" ")} -all`;
  const records: DomainRecords = {
    txt: (name) => answer(name.startsWith("_") ? [] : [spf]),
    mx: () => answer(Array.from({ length: 10 }, (_, i) => ({ priority: i, exchange: `h${asked}-${i}.acme.example` }))),
    addresses: () => answer(["93.184.216.1"]),
    names: () => answer([]),
  };
  const { authentication } = await open(records).authenticate(await bytes(signedMail(null)), PEER);
  expect(authentication).toMatchObject({ spf: "temperror", reason: expect.stringContaining("(ETOOMANY)") });
  expect(asked).toBe(60);
});

/** A thread that answers a mail by its first byte: `l` loops, `x` exits; with any other one the mail waits. */
const SCRIPTED: LoadProgram = async () => ({
  eval: true,
  source: `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", ({ raw }) => {
      const order = String.fromCharCode(raw[0]);
      if (order === "l") for (;;);
      if (order === "x") process.exit(3);
    });`,
});

test("a thread that hangs, or ends, is replaced, and its mails are to be sent again", async () => {
  const authenticator = open(acme(), { dnsMs: 200, hashMs: 100 }, SCRIPTED);
  const letter = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  for (const order of ["l", "x", "l"]) {
    const waits = authenticator.authenticate(letter("w"), PEER);
    const lost = await Promise.allSettled([waits, authenticator.authenticate(letter(order), PEER)]);
    for (const one of lost) expect(one).toMatchObject({ status: "rejected", reason: expect.any(MailNotRead) });
  }
});

test("a flood of large mails is checked in turns: each one's time begins with its turn, and what waits outlives the thread", async () => {
  const authenticator = open(acme(), { bytes: 100, waiting: 3, dnsMs: 300, hashMs: 1200 }, SCRIPTED);
  const letter = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text.padEnd(60));
  const refused: number[] = [];
  const from = performance.now();
  const flood = ["w", "x", "w"].map((order) =>
    authenticator.authenticate(letter(order), PEER).catch((error: MailNotRead) => {
      refused.push(performance.now() - from);
      return error.message;
    }),
  );
  const more = ["w", "w"].map((order) => authenticator.authenticate(letter(order), PEER).catch((error: MailNotRead) => error.message));
  // The first has the thread, three wait, and the fifth is one too many.
  expect(await more[1]).toBe("3 other mails wait to be checked.");
  expect(await Promise.all(flood)).toEqual([
    "Checking its signatures took more than 1500 ms.",
    "The thread that checked its signatures ended.",
    "Checking its signatures took more than 1500 ms.",
  ]);
  // The third one's time began when the second had ended the thread, which a busy machine tells a little late.
  expect((refused[2] ?? 0) - (refused[1] ?? 0)).toBeGreaterThanOrEqual(1000);
});

test("the thread ends without work, starts again with the next mail, and a closed authenticator takes none", async () => {
  const authenticator = open(acme(), { idleMs: 1 });
  for (let i = 0; i < 3; i += 1) {
    expect((await authenticator.authenticate(await bytes(signedMail()), PEER)).authentication.dmarc).toBe("pass");
    await wait(20);
  }
  await authenticator.close();
  await expect(authenticator.authenticate(await bytes(signedMail()), PEER)).rejects.toThrow("The server is stopping.");
});

test("a mail is hashed away from the event loop: its own work is a fraction of it", async () => {
  const authenticator = open(acme());
  const mail = await signedMail();
  const end = mail.indexOf("\r\n\r\n") + 4;
  const signature = /^DKIM-Signature:[\s\S]*?\r\n(?=\S)/.exec(mail.toString("latin1"))?.[0] ?? "";
  const signatures = Array.from({ length: 200 }, (_, i) => signature.replace("v=1;", `v=1; x${i}=y;`)).join("");
  const bodies = [Buffer.alloc(20e6, "\n"), Buffer.alloc(20e6, "x".repeat(70)), Buffer.alloc(2e6, " x \r\n")];
  // The first mail starts the thread.
  await authenticator.authenticate(new Uint8Array(mail), PEER);
  for (const body of bodies) {
    const raw = new Uint8Array(Buffer.concat([Buffer.from(signatures), mail.subarray(0, end), body]));
    const [own, all] = [process.threadCpuUsage(), process.cpuUsage()];
    expect((await authenticator.authenticate(raw, PEER)).authentication.dkim).toBe("fail");
    const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system;
    // Processor time, because a busy machine stretches all other time. Hashing takes 0.3 to 1 s of it, of which this thread has a
    // hundredth.
    expect(sum(process.threadCpuUsage(own)) / sum(process.cpuUsage(all))).toBeLessThan(0.5);
  }
});
