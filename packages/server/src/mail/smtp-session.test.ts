import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Script, type ScriptedPeer, type Step, scriptedPeer } from "../../test/smtp-peer.ts";
import { realTime } from "../lib/clock.ts";
import { sampleMail } from "./mailer.laws.ts";
import type { Mailer, OutgoingMail, Receipt } from "./mailer.ts";
import { composeMime } from "./mime.ts";
import { smtpMailer } from "./smtp.ts";
import { SmtpPool } from "./smtp-pool.ts";
import { parseSmtpUrl } from "./smtp-url.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

const MODES: readonly (readonly [mode: string, ehlo: string])[] = [
  ["step by step", "250 peer"],
  ["pipelined", "250-peer\r\n250 PIPELINING"],
];

const reply = (text: string): Step => ({ reply: text });

const open = async (...scripts: Script[]): Promise<{ peer: ScriptedPeer; mailer: Mailer }> => {
  const peer = await scriptedPeer(...scripts);
  const mailer = smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=1`, time: realTime });
  opened.push(peer, mailer);
  return { peer, mailer };
};

const greetings = (peer: ScriptedPeer): number => peer.commands.filter((command) => command.startsWith("EHLO")).length;
const afterLogin = (peer: ScriptedPeer): string[] => peer.commands.filter((command) => !command.startsWith("EHLO"));

describe.each(MODES)("A message phase, %s,", (_mode, ehlo) => {
  const EHLO = reply(ehlo);

  /** Sends one mail to a server with these replies, which hangs up after some bytes of its own or of the client's. */
  const sendAndCut = async (replies: readonly string[], limits: { said?: number; heard?: number }): Promise<Receipt> => {
    const peer = await listen((socket) => playUntil(socket, replies, limits));
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${portOf(peer)}?name=acme.example`, time: realTime });
    const receipt = await mailer.send(sampleMail());
    await mailer.close();
    await new Promise((closed) => peer.close(closed));
    return receipt;
  };

  const REPLIES = ["220 peer", ehlo, "250 2.1.0 ok", "250-2.1.5 yes\r\n250 2.1.5 ok", "354 go on", "250 2.0.0 queued"];
  const bytesOf = (replies: readonly string[]): number => replies.reduce((sum, text) => sum + text.length + 2, 0);

  test("defers a mail when the connection is cut after any byte of the replies until 354, and does not know from there on", async () => {
    for (let said = 0; said <= bytesOf(REPLIES); said += 1) {
      const outcome = said < bytesOf(REPLIES.slice(0, -1)) ? "deferred" : said < bytesOf(REPLIES) ? "unknown" : "sent";
      expect(await sendAndCut(REPLIES, { said }), `${said} bytes`).toMatchObject({ outcome });
    }
  });

  test("takes a refusal once its last byte is here, whatever the connection does then", async () => {
    const replies = [...REPLIES.slice(0, 3), "550-5.1.1 no such\r\n550 5.1.1 user", "554 5.5.1 nobody left", "250 reset"];
    for (let said = bytesOf(replies.slice(0, 3)); said <= bytesOf(replies); said += 1) {
      const receipt = said < bytesOf(replies.slice(0, 4)) ? { outcome: "deferred" } : { outcome: "bounced", invalidRecipient: true };
      expect(await sendAndCut(replies, { said }), `${said} bytes`).toMatchObject(receipt);
    }
  });

  test("defers a mail when the connection is cut after any byte of the commands, and does not know after one of the message", async () => {
    const commands = "EHLO acme.example\r\nMAIL FROM:<hello@acme.example>\r\nRCPT TO:<ada@example.com>\r\nDATA\r\n";
    for (let heard = 1; heard <= commands.length; heard += 1)
      expect(await sendAndCut(REPLIES, { heard }), `${heard} bytes`).toMatchObject({ outcome: "deferred" });
    const { length } = await composeMime(sampleMail());
    for (const more of [1, length / 2, length, length + 2])
      expect(await sendAndCut(REPLIES, { heard: commands.length + more }), `${more} bytes more`).toMatchObject({ outcome: "unknown" });
  });

  test("understands replies that come byte by byte", async () => {
    const peer = await listen((socket) => playUntil(socket, [...REPLIES, "221 bye"], {}, true));
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${portOf(peer)}`, time: realTime });
    opened.push(peer, mailer);
    expect(await mailer.send(sampleMail())).toEqual({ outcome: "sent", response: "250 2.0.0 queued" });
  });

  test.each<[string, Script]>([
    ["MAIL", { MAIL: [reply("550 5.7.1 no"), reply("250 ok")], RCPT: reply("250 ok") }],
    ["RCPT", { to: (to) => (to === "no@example.com" ? { RCPT: reply("550 5.7.1 no"), DATA: reply("554 5.5.1 nobody") } : {}) }],
    ["DATA", { to: (to) => (to === "no@example.com" ? { DATA: reply("550 5.7.1 no") } : {}) }],
    ["the final dot", { to: (to) => (to === "no@example.com" ? { dot: reply("550 5.7.1 no") } : {}) }],
  ])("is in step after a refusal of %s", async (place, script) => {
    // A server that refuses MAIL refuses what follows.
    const peer = await scriptedPeer({ EHLO, ...script, ...(place === "MAIL" && { to: () => ({ DATA: reply("554 5.5.1 nobody") }) }) });
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=1`, time: realTime });
    opened.push(peer, mailer);
    expect(await mailer.send(sampleMail({ envelopeTo: "no@example.com" }))).toMatchObject({
      outcome: "bounced",
      error: { message: "550 5.7.1 no" },
    });
    const second = await mailer.send(sampleMail());
    if (place === "MAIL") expect(second).toMatchObject({ outcome: "bounced", error: { message: "554 5.5.1 nobody" } });
    else expect(second).toMatchObject({ outcome: "sent" });
    expect(greetings(peer)).toBe(1);
  });

  const places = ["MAIL", "RCPT", "DATA", "dot"] as const;

  test.each(places)("ends the connection after 421 in place of the reply to %s, and sends the next mail on another one", async (place) => {
    const { peer, mailer } = await open({ EHLO, [place]: reply("421 4.3.2 shutting down") }, { EHLO });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred", unavailable: true, error: { smtpCode: 421 } });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect([greetings(peer), afterLogin(peer).includes("QUIT")]).toEqual([2, false]);
  });

  test.each(["MAIL", "RCPT", "DATA"] as const)("sends a mail again itself after 421 to %s on a connection that was kept", async (place) => {
    const kept =
      place === "MAIL"
        ? { MAIL: [reply("250 ok"), reply("421 bye")] }
        : { to: (to: string) => (to === "b@x.example" ? { [place]: reply("421 bye") } : {}) };
    const { peer, mailer } = await open({ EHLO, ...kept }, { EHLO });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(await mailer.send(sampleMail({ envelopeTo: "b@x.example" }))).toMatchObject({ outcome: "sent" });
    expect([peer.recipients, greetings(peer)]).toEqual([["ada@example.com", "b@x.example"], 2]);
  });

  test.each([
    ["MAIL", "what?"],
    ["MAIL", "354 go on"],
    ["RCPT", "what?"],
    ["RCPT", "25 ok"],
    ["RCPT", "2500 ok"],
    ["DATA", "250 2.0.0 queued"],
    ["DATA", "200 ok"],
  ] as const)("defers and starts afresh when %s is answered with %j", async (place, text) => {
    const { peer, mailer } = await open({ EHLO, [place]: reply(text) }, { EHLO });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "deferred", error: { message: expect.stringContaining(text) } });
    expect(peer.messages).toBe(0);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(greetings(peer)).toBe(2);
  });

  test.each(["what?", "354 go on", "100 soon"])("does not know about a mail whose final dot is answered with %j", async (text) => {
    const { peer, mailer } = await open({ EHLO, dot: reply(text) }, { EHLO });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "unknown" });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(greetings(peer)).toBe(2);
  });

  test.each(["250 2.0.0 queued", "550 5.7.1 no", "421 4.3.2 bye", "what?", "250 2.0.0 hal"])(
    "writes nothing of a message that is answered with %j together with 354",
    async (early) => {
      const { peer, mailer } = await open({ EHLO, DATA: { reply: `354 go on\r\n${early}` } }, { EHLO });
      const receipt = await mailer.send(sampleMail());
      expect(receipt).toMatchObject({ outcome: early.startsWith("55") ? "bounced" : "deferred" });
      expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
      expect([peer.messages, greetings(peer)]).toEqual([1, 2]);
    },
  );

  test("closes the connection of a message that is withdrawn after 354", async () => {
    const { peer, mailer } = await open({ EHLO });
    expect(await mailer.send(sampleMail({ isStillWanted: async () => false }))).toMatchObject({ outcome: "deferred" });
    expect(await mailer.send(sampleMail({ isStillWanted: () => Promise.reject(new Error("The database is gone.")) }))).toMatchObject({
      outcome: "deferred",
    });
    expect(await mailer.send(sampleMail({ isStillWanted: async () => true }))).toMatchObject({ outcome: "sent" });
    expect([peer.messages, greetings(peer)]).toEqual([1, 3]);
    expect(peer.commands.every((command) => /^(?:EHLO|MAIL|RCPT|DATA)/.test(command))).toBe(true);
  });

  test.each(["421 4.4.2 idle too long", "250 hello?", "hello"])(
    "notices %j after a mail, and sends the next one on another connection",
    async (text) => {
      const { peer, mailer } = await open({ EHLO, dot: { reply: `250 2.0.0 queued\r\n${text}` } }, { EHLO });
      expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent", response: "250 2.0.0 queued" });
      expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
      expect([peer.messages, greetings(peer)]).toEqual([2, 2]);
    },
  );

  test.each(["421 4.4.2 idle too long\r\n", "250 hello?\r\n", "h"])("closes an idle connection when %j arrives", async (text) => {
    const sockets: Socket[] = [];
    const peer = await listen((socket) => {
      sockets.push(socket);
      playUntil(socket, [...REPLIES, "221 bye"], {});
    });
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${portOf(peer)}?pool=1`, time: realTime });
    opened.push(peer, mailer);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    const closed = sockets.map((socket) => once(socket, "close"));
    sockets[0]?.write(text);
    await Promise.all(closed);
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(sockets).toHaveLength(2);
  });

  test("does not mind empty lines between replies", async () => {
    const { peer, mailer } = await open({ EHLO, MAIL: reply("250 ok\r\n"), dot: reply("250 2.0.0 queued\r\n") });
    for (let i = 0; i < 3; i += 1) expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect([peer.messages, greetings(peer)]).toEqual([3, 1]);
  });

  test("does not know about a mail whose final dot is answered without an end", async () => {
    const { mailer } = await open({ EHLO, dot: reply(`250-${"x".repeat(200_000)}`) });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "unknown" });
  });
});

describe("A message phase", () => {
  test("says everything before the message at once to a server with PIPELINING, and one command after the other to others", async () => {
    for (const [mode, ehlo] of MODES) {
      const heard: string[] = [];
      const peer = await listen((socket) => {
        playUntil(socket, ["220 peer", ehlo], {});
        socket.on("data", (bytes) => heard.push(bytes.toString()));
      });
      const mailer = smtpMailer({ url: `smtp://127.0.0.1:${portOf(peer)}`, time: realTime });
      opened.push(peer);
      const sent = mailer.send(sampleMail());
      while (heard.length < 2) await realTime.sleep(1);
      await mailer.close(0);
      expect(await sent).toMatchObject({ outcome: "deferred" });
      const mail = "MAIL FROM:<hello@acme.example>\r\n";
      expect(heard.slice(1)).toEqual([mode === "pipelined" ? `${mail}RCPT TO:<ada@example.com>\r\nDATA\r\n` : mail]);
    }
  });

  test.each<[string, string[], Partial<OutgoingMail>, string]>([
    ["nothing", [], {}, ""],
    ["nothing that is needed", ["8BITMIME", "SMTPUTF8"], {}, ""],
    ["a size", ["SIZE"], { message: Buffer.from("a: b\r\n\r\nhi\r\n") }, " SIZE=LENGTH"],
    ["a size with a limit", ["SIZE 1000"], { message: Buffer.from("a: b\r\n\r\nhi\r\n") }, " SIZE=LENGTH"],
    ["8-bit text", ["8BITMIME", "SMTPUTF8"], { message: Buffer.from("a: b\r\n\r\nü\r\n") }, " BODY=8BITMIME"],
    ["UTF-8 in headers", ["8BITMIME", "SMTPUTF8"], { message: Buffer.from("a: ü\r\n\r\nhi\r\n") }, " SMTPUTF8 BODY=8BITMIME"],
    ["UTF-8 in headers, to a server that cannot", ["8BITMIME"], { message: Buffer.from("a: ü\r\n\r\nhi\r\n") }, " BODY=8BITMIME"],
  ])("names in MAIL what a server needs to know: %s", async (_, offers, mail, parameters) => {
    const { peer, mailer } = await open({
      EHLO: reply(["peer", ...offers].map((line, i) => `250${i < offers.length ? "-" : " "}${line}`).join("\r\n")),
    });
    expect(await mailer.send(sampleMail(mail))).toMatchObject({ outcome: "sent" });
    const { length } = await composeMime(sampleMail(mail));
    expect(afterLogin(peer)[0]).toBe(`MAIL FROM:<hello@acme.example>${parameters.replace("LENGTH", `${length}`)}`);
  });

  test("goes on without any extension where the server knows only HELO", async () => {
    const { peer, mailer } = await open({ EHLO: reply("502 what?") });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(afterLogin(peer).slice(1, 3)).toEqual(["MAIL FROM:<hello@acme.example>", "RCPT TO:<ada@example.com>"]);
  });

  test("knows what a server announced before it refused to encrypt", async () => {
    const { peer, mailer } = await open({
      EHLO: reply("250-peer\r\n250-STARTTLS\r\n250-SIZE 5000\r\n250 8BITMIME"),
      STARTTLS: reply("454 not now"),
    });
    const mail = sampleMail({ message: Buffer.from("a: b\r\n\r\nü\r\n") });
    expect(await mailer.send(mail)).toMatchObject({ outcome: "sent" });
    expect(afterLogin(peer)[1]).toBe(`MAIL FROM:<hello@acme.example> BODY=8BITMIME SIZE=${(await composeMime(mail)).length}`);
  });

  test("ends an empty message when a server wants one for nobody, and keeps the connection", async () => {
    const { peer, mailer } = await open({
      EHLO: reply("250-peer\r\n250 PIPELINING"),
      to: (to) => (to === "no@example.com" ? { RCPT: reply("550 5.1.1 no"), dot: reply("554 5.5.1 nobody") } : {}),
    });
    expect(await mailer.send(sampleMail({ envelopeTo: "no@example.com" }))).toMatchObject({ outcome: "bounced", invalidRecipient: true });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect([peer.recipients, greetings(peer), afterLogin(peer)[3]]).toEqual([["no@example.com", "ada@example.com"], 1, "RSET"]);
  });

  test("closes the connection when a server wants a message from a sender that it refused", async () => {
    const { peer, mailer } = await open({ EHLO: reply("250-peer\r\n250 PIPELINING"), MAIL: reply("553 5.1.8 no") }, {});
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "bounced", error: { smtpCode: 553 } });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect([peer.recipients, greetings(peer)]).toEqual([["ada@example.com"], 2]);
  });

  test("does not blame the recipient for a sender that cannot stand in a command", async () => {
    const { peer, mailer } = await open({});
    const receipt = await mailer.send(sampleMail({ envelopeFrom: '"a>b"@acme.example' }));
    expect(receipt).toEqual({ outcome: "bounced", error: expect.objectContaining({ enhancedCode: "5.1.7" }) });
    expect(await mailer.send(sampleMail())).toMatchObject({ outcome: "sent" });
    expect(greetings(peer)).toBe(1);
  });

  test("writes dots and line ends of a large message as they must be, also where its pieces meet", async () => {
    const peer = await listen((socket) =>
      playUntil(socket, ["220 peer", "250 peer", "250 ok", "250 ok", "354 go on", "250 ok", "221 bye"], {}),
    );
    const port = portOf(peer);
    opened.push(peer);
    for (const [text, wire] of [
      ["\n.", "\r\n.."],
      ["\r\n.", "\r\n.."],
      ["\r.", "\r\n.."],
      ["x\n", "x\r\n"],
    ] as const)
      for (let shift = 0; shift < 4; shift += 1) {
        const head = `a: b\r\n\r\n${"x".repeat(64 * 1024 - 8 - shift)}`;
        const pool = new SmtpPool(parseSmtpUrl(`smtp://127.0.0.1:${port}`), realTime);
        expect(await pool.send({ from: "a@x.example", to: "b@x.example" }, Buffer.from(`${head}${text}end`))).toMatchObject({
          outcome: "sent",
        });
        await pool.close();
        expect(heardBy.get(peer)?.endsWith(`DATA\r\n${head}${wire}end\r\n.\r\nQUIT\r\n`)).toBe(true);
      }
  });
});

test("a mail that a server took is sent or in doubt, and no other one is sent, whatever it answers and whenever it hangs up", async () => {
  const answer = fc.oneof(
    { weight: 6, arbitrary: fc.constant("yes") },
    {
      weight: 4,
      arbitrary: fc.constantFrom("450 4.2.0 later", "550-5.1.1 no\r\n550 5.1.1 user", "421 4.3.2 bye", "what?", "hang up", "half"),
    },
  );
  const run = fc.record({
    answers: fc.array(answer, { minLength: 40, maxLength: 40 }),
    pieces: fc.integer({ min: 1, max: 12 }),
    ehlo: fc.constantFrom(...MODES),
  });
  await fc.assert(
    fc.asyncProperty(run, async ({ answers, pieces, ehlo: [, ehlo] }) => {
      const taken: string[] = [];
      const peer = await listen((socket) => answerFrom(socket, ehlo, answers, pieces, taken));
      const mailer = smtpMailer({ url: `smtp://127.0.0.1:${portOf(peer)}?pool=1`, time: realTime });
      for (const envelopeTo of ["a@x.example", "b@x.example", "c@x.example", "d@x.example"]) {
        const { outcome } = await mailer.send(sampleMail({ envelopeTo }));
        const times = taken.filter((to) => to === envelopeTo).length;
        if (outcome === "unknown") expect(times).toBeLessThanOrEqual(1);
        else expect([outcome, times]).toEqual([outcome, outcome === "sent" ? 1 : 0]);
      }
      await mailer.close(0);
      await new Promise((closed) => peer.close(closed));
    }),
    { numRuns: 100 },
  );
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

const heardBy = new WeakMap<Server, string>();

async function listen(play: (socket: Socket) => void): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    heardBy.set(server, "");
    socket.on("error", () => {});
    socket.on("data", (bytes) => heardBy.set(server, (heardBy.get(server) ?? "") + bytes.toString("latin1")));
    play(socket);
  });
  const { close } = server;
  server.close = (closed) => {
    for (const socket of sockets) socket.destroy();
    return close.call(server, closed);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Answers commands and the message with the replies, until a number of bytes is said or heard; then it hangs up. */
function playUntil(
  socket: Socket,
  replies: readonly string[],
  { said = Infinity, heard = Infinity }: { said?: number; heard?: number },
  slowly = false,
): void {
  const left = [...replies];
  let [mayStillSay, mayStillHear] = [said, heard];
  let pending = "";
  let inData = false;
  let speaking = Promise.resolve();
  const say = (): void => {
    const next = left.shift();
    if (next === undefined) return;
    if (next.startsWith("354")) inData = true;
    const text = `${next}\r\n`.slice(0, mayStillSay);
    mayStillSay -= text.length;
    if (slowly)
      for (const byte of text)
        speaking = speaking.then(async () => {
          socket.write(byte);
          await realTime.sleep(1);
        });
    else if (socket.writable) socket.write(text);
    if (mayStillSay === 0) socket.end();
  };
  say();
  socket.on("data", (bytes) => {
    mayStillHear -= bytes.length;
    if (mayStillHear <= 0) return socket.resetAndDestroy();
    pending += bytes.toString("latin1");
    for (;;) {
      const mark = inData ? "\r\n.\r\n" : "\r\n";
      const end = pending.indexOf(mark);
      if (end === -1) return;
      pending = pending.slice(end + mark.length);
      inData = false;
      say();
    }
  });
}

/** Answers each command as `answers` say, a few bytes at a time, and adds to `taken` for whom it took a message. */
function answerFrom(socket: Socket, ehlo: string, answers: string[], pieces: number, taken: string[]): void {
  let pending = "";
  let to = "";
  let inData = false;
  let said = Promise.resolve();
  const say = (text: string): void => {
    for (let at = 0; at < text.length; at += pieces)
      said = said.then(async () => {
        if (socket.writable) socket.write(text.slice(at, at + pieces));
        await new Promise(setImmediate);
      });
  };
  const end = (): void => {
    said = said.then(() => void socket.end());
  };
  const reply = (verb: string): void => {
    const answer = verb === "QUIT" ? "yes" : (answers.shift() ?? "yes");
    const isTaken = inData;
    inData = false;
    // A server may hang up before it has told that it took a message.
    if (isTaken && (answer === "yes" || answer === "hang up" || answer === "half")) taken.push(to);
    if (answer === "half") say("25");
    else if (answer === "yes") say(verb === "DATA" ? "354 go on\r\n" : verb === "RCPT" ? "250-2.1.5 yes\r\n250 ok\r\n" : "250 ok\r\n");
    else if (answer !== "hang up") say(`${answer}\r\n`);
    if (answer === "half" || answer === "hang up" || answer.startsWith("421") || verb === "QUIT") end();
    inData = verb === "DATA" && answer === "yes";
    if (verb === "RCPT" && answer !== "yes") to = "nobody";
  };
  say("220 peer\r\n");
  socket.on("data", (bytes) => {
    pending += bytes.toString("latin1");
    for (;;) {
      // The message may be empty.
      const until = inData ? `\r\n${pending}`.indexOf("\r\n.\r\n") : pending.indexOf("\r\n");
      if (until === -1) return;
      const line = pending.slice(0, until);
      pending = pending.slice(until + (inData ? 3 : 2));
      const verb = inData ? "." : line.slice(0, 4);
      if (verb === "EHLO") say(`${ehlo}\r\n`);
      else {
        if (verb === "RCPT") to = line.slice(line.indexOf("<") + 1, line.indexOf(">"));
        reply(verb);
      }
    }
  });
}
