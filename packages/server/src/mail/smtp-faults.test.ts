import { afterEach, describe, expect, test, vi } from "vitest";
import { type Script, type ScriptedPeer, type Step, scriptedPeer } from "../../test/smtp-peer.ts";
import { realTime } from "../lib/clock.ts";
import { sampleMail } from "./mailer.laws.ts";
import type { Mailer, OutgoingMail } from "./mailer.ts";
import { smtpMailer } from "./smtp.ts";

const PIPELINING: Step = { reply: "250-peer\r\n250-PIPELINING\r\n250 8BITMIME" };
const reply = (text: string): Step => ({ reply: text });
const hangUp: Step = { hangUp: "" };
const silence: Step = { silence: true };

// Too big for the buffers on the way: most of it is still here when the connection goes.
const big: Partial<OutgoingMail> = {
  attachments: [{ filename: "big.bin", contentType: "application/octet-stream", contentId: null, content: new Uint8Array(12 << 20) }],
};

describe("What the SMTP mailer makes of a peer's behaviour", () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((thing) => thing.close()));
  });

  const open = async (options: string, ...scripts: Script[]): Promise<{ peer: ScriptedPeer; mailer: Mailer }> => {
    const peer = await scriptedPeer(...scripts);
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=1&${options}`, time: realTime });
    opened.push(peer, mailer);
    return { peer, mailer };
  };

  const refusals: [keyof Script, string, { outcome: string; smtpCode: number; enhancedCode: string | null; invalid?: true }][] = [
    ["MAIL", "450 4.7.1 try later", { outcome: "deferred", smtpCode: 450, enhancedCode: "4.7.1" }],
    ["MAIL", "553 5.1.8 bad sender", { outcome: "bounced", smtpCode: 553, enhancedCode: "5.1.8" }],
    ["MAIL", "530 5.7.0 log in first", { outcome: "deferred", smtpCode: 530, enhancedCode: "5.7.0" }],
    ["RCPT", "452 4.2.2 mailbox full", { outcome: "deferred", smtpCode: 452, enhancedCode: "4.2.2" }],
    ["RCPT", "550 5.1.1 no such user", { outcome: "bounced", smtpCode: 550, enhancedCode: "5.1.1", invalid: true }],
    ["RCPT", "550 no such user", { outcome: "bounced", smtpCode: 550, enhancedCode: null, invalid: true }],
    ["RCPT", "550-5.1.1 no such user\r\n550 5.1.1 really", { outcome: "bounced", smtpCode: 550, enhancedCode: "5.1.1", invalid: true }],
    ["RCPT", "550 relay not permitted", { outcome: "bounced", smtpCode: 550, enhancedCode: null }],
    ["RCPT", "421 4.3.2 shutting down", { outcome: "deferred", smtpCode: 421, enhancedCode: "4.3.2" }],
    ["DATA", "451 4.3.0 not now", { outcome: "deferred", smtpCode: 451, enhancedCode: "4.3.0" }],
    ["MAIL", "550 no such user", { outcome: "bounced", smtpCode: 550, enhancedCode: null }],
    ["dot", "550 5.1.1 no such user", { outcome: "bounced", smtpCode: 550, enhancedCode: "5.1.1" }],
    ["DATA", "554 5.5.1 no valid recipients", { outcome: "bounced", smtpCode: 554, enhancedCode: "5.5.1" }],
    ["DATA", "503 5.5.1 out of sequence", { outcome: "deferred", smtpCode: 503, enhancedCode: "5.5.1" }],
    ["dot", "451 4.3.1 disk full", { outcome: "deferred", smtpCode: 451, enhancedCode: "4.3.1" }],
    ["dot", "554 5.7.1 looks like spam", { outcome: "bounced", smtpCode: 554, enhancedCode: "5.7.1" }],
    ["dot", "421 4.3.2 shutting down", { outcome: "deferred", smtpCode: 421, enhancedCode: "4.3.2" }],
  ];
  for (const pipelining of [false, true]) {
    test.each(refusals)(
      `${pipelining ? "pipelined" : "step by step"}: %s answered with "%s"`,
      async (step, text, { outcome, invalid, ...codes }) => {
        const { mailer } = await open("", { ...(pipelining ? { EHLO: PIPELINING } : {}), [step]: reply(text) });
        const receipt = await mailer.send(sampleMail());
        expect(receipt).toMatchObject({ outcome, error: codes });
        expect("invalidRecipient" in receipt && receipt.invalidRecipient).toBe(invalid ?? false);
      },
    );
  }

  test("asks whether a message is still wanted before its first byte, and sends none of it if not", async () => {
    const { peer, mailer } = await open("", {});
    const asked: string[][] = [];
    const ask = (answer: boolean) => async () => {
      asked.push([...peer.commands]);
      return answer;
    };
    expect(await mailer.send({ ...sampleMail(), isStillWanted: ask(false) })).toMatchObject({ outcome: "deferred" });
    expect(peer.messages).toBe(0);
    expect(await mailer.send({ ...sampleMail(), isStillWanted: ask(true) })).toMatchObject({ outcome: "sent" });
    expect(peer.messages).toBe(1);
    expect(asked.map((commands) => commands.at(-1))).toEqual(["DATA", "DATA"]);
  });

  test.each<[string, Script]>([
    ["5xx at the greeting", { greeting: reply("554 5.7.1 you are on a blocklist") }],
    ["4xx at the greeting", { greeting: reply("421 4.3.2 too many connections") }],
    ["5xx at EHLO and HELO", { EHLO: reply("550 5.7.1 go away"), HELO: reply("550 5.7.1 go away") }],
    ["nonsense at the greeting", { greeting: reply("HTTP/1.1 400 Bad Request") }],
    ["hanging up at the greeting", { greeting: hangUp }],
    ["hanging up at EHLO", { EHLO: hangUp }],
    ["hanging up at MAIL", { MAIL: hangUp }],
    ["hanging up at RCPT", { RCPT: hangUp }],
    ["hanging up at RCPT with half an answer", { RCPT: { hangUp: "550 5.1.1 no" } }],
    ["hanging up at DATA", { DATA: hangUp }],
    ["nonsense at RCPT", { RCPT: reply("what?") }],
  ])("defers on %s", async (_, script) => {
    const { peer, mailer } = await open("", script);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred" });
    expect(peer.messages).toBe(0);
  });

  test.each<[string, Script]>([
    ["at the greeting", { greeting: silence }],
    ["at EHLO", { EHLO: silence }],
    ["at RCPT", { RCPT: silence }],
    ["at DATA", { DATA: silence }],
  ])("defers when the peer falls silent %s", async (_, script) => {
    const { mailer } = await open("greeting=1&timeout=1", script);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred", error: { smtpCode: null } });
  });

  test("defers when nobody listens, and says so", async () => {
    const { peer, mailer } = await open("", {});
    await peer.close();
    expect(await mailer.send(sampleMail())).toMatchObject({
      outcome: "deferred",
      error: { message: expect.stringContaining("ECONNREFUSED") },
    });
    expect(await mailer.check()).toContain("ECONNREFUSED");
  });

  test.each<[string, Step]>([
    ["hangs up", hangUp],
    ["falls silent", silence],
    ["hangs up in the middle of its answer", { hangUp: "250 2.0.0 queu" }],
    ["hangs up in the middle of a refusal", { hangUp: "554 5.7.1 sp" }],
  ])("does not know when the peer %s after the final dot", async (_, dot) => {
    const { peer, mailer } = await open("timeout=1", { dot });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "unknown" });
    expect(peer.messages).toBe(1);
  });

  test("writes a small message and its final dot in one piece, and takes any number of pieces for a large one", async () => {
    const { peer, mailer } = await open("", {});
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect([peer.messages, peer.pieces]).toEqual([1, 1]);
    expect(await mailer.send(sampleMail({ text: "x".repeat(300_000) }))).toMatchObject({ outcome: "sent" });
    expect([peer.messages, peer.pieces]).toEqual([2, 1]);
  });

  test("defers when the connection is lost while the message is being written", async () => {
    const { peer, mailer } = await open("", { during: hangUp });
    expect(await mailer.send(sampleMail(big))).toMatchObject({ outcome: "deferred" });
    expect(peer.messages).toBe(0);
  });

  test("takes a refusal while the message is being written, and starts afresh for the next", async () => {
    const { peer, mailer } = await open("", { during: [reply("552 5.3.4 too big"), silence] }, {});
    expect(await mailer.send(sampleMail(big))).toMatchObject({ outcome: "bounced", error: { smtpCode: 552 } });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(peer.messages).toBe(1);
  });

  test("writes nothing of a message that was refused after 354 and before its first byte, and starts afresh for the next", async () => {
    const late = reply("354 go on\r\n452 4.3.1 disk full");
    const { peer, mailer } = await open("", { DATA: late }, {});
    const asked = Promise.withResolvers<void>();
    const wanted = Promise.withResolvers<boolean>();
    const isStillWanted = () => {
      asked.resolve();
      return wanted.promise;
    };
    const sent = mailer.send({ ...sampleMail(), isStillWanted });
    await asked.promise;
    expect(await sent).toMatchObject({ outcome: "deferred", error: { smtpCode: 452 } });
    const next = mailer.send(sampleMail());
    wanted.resolve(true);
    expect(await next).toMatchObject({ outcome: "sent" });
    expect([peer.messages, greetings(peer)]).toEqual([1, 2]);
    expect(peer.commands.filter((command) => !/^(?:EHLO|MAIL|RCPT|DATA)/.test(command))).toEqual([]);
  });

  test("does not take a 250 that comes before the message is complete", async () => {
    const { mailer } = await open("", { during: reply("250 2.0.0 queued") });
    expect(await mailer.send(sampleMail(big))).toMatchObject({
      outcome: "deferred",
      error: { message: expect.stringContaining("before the message was complete") },
    });
  });

  const greetings = (peer: ScriptedPeer): number => peer.commands.filter((command) => command.startsWith("EHLO")).length;

  test("sends a message again by itself only when a kept connection was dead before a byte of it left", async () => {
    const ok = reply("250 2.1.0 ok");
    for (const goodbye of [hangUp, reply("421 4.4.2 idle too long")]) {
      const kept = await open("", { MAIL: [ok, goodbye] }, {});
      expect([await kept.mailer.send(sampleMail()), await kept.mailer.send(sampleMail())]).toMatchObject([
        { outcome: "sent" },
        { outcome: "sent" },
      ]);
      expect([kept.peer.messages, greetings(kept.peer)]).toEqual([2, 2]);
    }
    const fresh = await open("", { MAIL: hangUp }, {});
    expect(await fresh.mailer.send(sampleMail())).toMatchObject({ outcome: "deferred" });
    expect(greetings(fresh.peer)).toBe(1);
    const after = await open("", { dot: hangUp }, {});
    expect(await after.mailer.send(sampleMail())).toMatchObject({ outcome: "unknown" });
    expect([after.peer.messages, greetings(after.peer)]).toEqual([1, 1]);
  });

  test("opens a new connection when resetting the old one fails", async () => {
    const { peer, mailer } = await open("", { RCPT: reply("550 5.1.1 no"), RSET: reply("500 what?") }, {});
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "bounced" });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(greetings(peer)).toBe(2);
  });

  test("keeps one connection through many refusals, and leaves no listeners behind", async () => {
    const warned = vi.fn();
    process.on("warning", warned);
    const { peer, mailer } = await open("", { RCPT: reply("550 5.1.1 no") });
    for (let i = 0; i < 15; i += 1) expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "bounced" });
    await new Promise(setImmediate);
    process.off("warning", warned);
    expect(greetings(peer)).toBe(1);
    expect(warned).not.toHaveBeenCalled();
  });

  // Waits of minutes, in milliseconds.
  const hurried: typeof realTime = { ...realTime, after: (ms, fire) => realTime.after(ms / 1000, fire) };

  test.each<[string, Script, string]>([
    ["before it", { RCPT: silence }, "deferred"],
    ["after it", { dot: silence }, "unknown"],
  ])(
    "gives a message ten minutes, whatever keeps the connection busy, and knows whether the dot was out: %s",
    async (_, script, outcome) => {
      const peer = await scriptedPeer(script);
      const mailer = smtpMailer({ url: `smtp://127.0.0.1:${peer.port}`, time: hurried });
      opened.push(peer, mailer);
      expect(await mailer.send(sampleMail())).toMatchObject({ outcome, error: { message: expect.stringContaining("600 s") } });
    },
  );

  test("cuts what does not end within ten seconds of closing, and says what is known about it", async () => {
    const peer = await scriptedPeer({ dot: silence });
    const mailer = smtpMailer({
      url: `smtp://127.0.0.1:${peer.port}?pool=1`,
      time: { ...hurried, after: (ms, fire) => (ms === 10_000 ? hurried : realTime).after(ms, fire) },
    });
    opened.push(peer);
    const sends = [mailer.send(sampleMail()), mailer.send(sampleMail())];
    while (peer.messages === 0) await realTime.sleep(5);
    await mailer.close();
    expect(await Promise.all(sends)).toMatchObject([{ outcome: "unknown" }, { outcome: "deferred" }]);
    expect(peer.messages).toBe(1);
  });

  test("cuts what is under way at once if it is closed without any grace", async () => {
    const peer = await scriptedPeer({ dot: silence });
    const grace = vi.fn();
    const after: typeof realTime.after = (ms, fire) => {
      grace(ms);
      return realTime.after(ms, fire);
    };
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=1`, time: { ...realTime, after } });
    opened.push(peer);
    const sent = mailer.send(sampleMail());
    while (peer.messages === 0) await realTime.sleep(5);
    grace.mockClear();
    await mailer.close(0);
    expect(await sent).toMatchObject({ outcome: "unknown" });
    expect(grace.mock.calls[0]).toEqual([0]);
  });

  test("sends no password after STARTTLS was offered and refused", async () => {
    const { peer, mailer } = await open("", {});
    const login = smtpMailer({ url: `smtp://u:p@127.0.0.1:${peer.port}`, time: realTime });
    const offer = await scriptedPeer({ EHLO: reply("250-peer\r\n250-STARTTLS\r\n250 AUTH PLAIN") });
    const stripped = smtpMailer({ url: `smtp://u:p@127.0.0.1:${offer.port}`, time: realTime });
    opened.push(login, offer, stripped);
    expect(await stripped.send(sampleMail())).toMatchObject({ outcome: "deferred" });
    expect(offer.commands.some((command) => command.startsWith("AUTH"))).toBe(false);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
  });

  test("makes a peer's words harmless and short", async () => {
    const { mailer } = await open("", { RCPT: reply(`550 5.1.1 \u001b[31mred\u0007 \u009b ${"x".repeat(5000)}`) });
    const receipt = await mailer.send(sampleMail());
    if (!("error" in receipt)) throw new Error("It was not refused.");
    expect(receipt.error.message).toMatch(/^550 5\.1\.1 \[31mred x+$/);
    expect(receipt.error.message).toHaveLength(500);
  });

  test("gives up on an answer without an end", async () => {
    const { mailer } = await open("", { RCPT: { reply: `550-${"x".repeat(2 << 20)}` } });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred" });
  });
});
