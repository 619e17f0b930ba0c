import { describe, expect, test } from "vitest";
import { type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import { circuitBreaker, normalizeReply } from "./circuit-breaker.ts";
import { sampleMail } from "./mailer.laws.ts";
import type { Receipt } from "./mailer.ts";
import { eightBitRefused } from "./smtp-reply.ts";

const MINUTE = 60_000;

function refusal(text: string, invalidRecipient = false): Receipt {
  const error = { message: text, smtpCode: 550, enhancedCode: null };
  return { outcome: "bounced", error, ...(invalidRecipient && { invalidRecipient: true }) };
}

/** A breaker before a mailer that answers by `script`, a clock that is set by hand, and what was logged. */
function setUp(script: Script) {
  const mailer = scriptedMailer(script);
  const time = { now: 1_000_000 };
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const breaker = circuitBreaker(mailer, { now: () => time.now, log: { info: note, warn: note, error: note } });
  const send = (to: string) => breaker.send(sampleMail({ envelopeTo: to }));
  const sendMany = async (count: number, domain: (n: number) => string = () => "example.com") => {
    const outcomes: string[] = [];
    for (let n = 0; n < count; n += 1) outcomes.push((await send(`user${n}@${domain(n)}`)).outcome);
    return outcomes;
  };
  return { mailer, breaker, time, lines, send, sendMany };
}

describe("The circuit breaker", () => {
  test("opens when ten recipients are refused with the same words, and defers the rest without asking", async () => {
    const { mailer, breaker, lines, sendMany } = setUp(({ envelopeTo }, n) =>
      refusal(`550 relay not permitted for <${envelopeTo}> id=Q${n}`),
    );
    const outcomes = await sendMany(200);
    expect(outcomes.filter((outcome) => outcome === "bounced")).toHaveLength(9);
    expect(mailer.sent).toHaveLength(10);
    expect(breaker.fault()).toMatch(/^Delivery is paused: the mail server refused 10 of the last 10 recipients with: 550 relay not/);
    expect(lines).toEqual([expect.stringContaining("refuses most recipients")]);
  });

  test("stays closed for other workspaces while the mail of one is refused, until that of another one is, too", async () => {
    let refusesAll = false;
    const { mailer, breaker, time } = setUp((mail) =>
      refusesAll || mail.origin?.workspaceId === "ws_bad" ? refusal("550 content refused") : { outcome: "sent", response: "250 ok" },
    );
    const sendFor = (workspaceId: string, n: number) =>
      breaker.send(sampleMail({ envelopeTo: `user${n}@example.com`, origin: { workspaceId, emailId: null } }));
    expect((await sendFor("ws_good", 0)).outcome).toBe("sent");
    for (let n = 0; n < 20; n += 1) await sendFor("ws_bad", n);
    const asked = mailer.sent.length;
    expect(await sendFor("ws_bad", 20)).toMatchObject({ outcome: "deferred", paused: true });
    expect(mailer.sent).toHaveLength(asked);
    expect((await sendFor("ws_good", 1)).outcome).toBe("sent");
    expect(breaker.fault()).toBeNull();
    // Mail of another workspace that is accepted says nothing of the first one.
    expect(await sendFor("ws_bad", 21)).toMatchObject({ outcome: "deferred", paused: true });
    refusesAll = true;
    for (let n = 0; n < 20; n += 1) await sendFor("ws_good", n);
    expect(breaker.fault()).toContain("Delivery is paused");
    expect(await sendFor("ws_new", 0)).toMatchObject({ outcome: "deferred", paused: true });
    time.now += MINUTE;
    refusesAll = false;
    expect((await sendFor("ws_good", 30)).outcome).toBe("sent");
    expect(breaker.fault()).toBeNull();
  });

  test("counts no message that the server was not asked to take, and opens for none", async () => {
    const { breaker, sendMany } = setUp((_mail, n) => (n < 20 ? eightBitRefused : { outcome: "sent", response: "250 ok" }));
    expect(await sendMany(20)).toEqual(Array.from({ length: 20 }, () => "bounced"));
    expect(breaker.fault()).toBeNull();
    expect(await sendMany(1)).toEqual(["sent"]);
  });

  test("stays open, and lets such a message bounce, when it is the one that is tried", async () => {
    const { breaker, time, sendMany } = setUp((_mail, n) => (n < 10 ? refusal("550 relay not permitted") : eightBitRefused));
    await sendMany(10);
    time.now += MINUTE;
    expect(await sendMany(1)).toEqual(["bounced"]);
    expect(breaker.fault()).not.toBeNull();
  });

  test("tries one message a minute, and closes when it is accepted", async () => {
    let repaired = false;
    const { mailer, breaker, time, send, sendMany } = setUp(() =>
      repaired ? { outcome: "sent", response: "250 ok" } : refusal("550 no relay"),
    );
    await sendMany(20);
    time.now += MINUTE;
    expect((await send("probe@example.com")).outcome).toBe("deferred");
    expect((await send("other@example.com")).outcome).toBe("deferred");
    expect(mailer.sent).toHaveLength(11);
    repaired = true;
    time.now += MINUTE;
    expect(await sendMany(3)).toEqual(["sent", "sent", "sent"]);
    expect(breaker.fault()).toBeNull();
  });

  test("tries again at once when the clock was set back", async () => {
    let repaired = false;
    const { breaker, time, send, sendMany } = setUp(() => (repaired ? { outcome: "sent", response: "250 ok" } : refusal("550 no relay")));
    await sendMany(20);
    repaired = true;
    time.now -= 60 * MINUTE;
    expect((await send("ada@example.com")).outcome).toBe("sent");
    expect(breaker.fault()).toBeNull();
  });

  test("names no recipient, in the log or to the recipients of other mail", async () => {
    const logged: unknown[] = [];
    const note = (...line: unknown[]): void => void logged.push(line);
    const mailer = scriptedMailer(({ envelopeTo }) => refusal(`554 5.7.1 <${envelopeTo}>: Relay access denied`));
    const breaker = circuitBreaker(mailer, { now: () => 0, log: { info: note, warn: note, error: note } });
    for (let n = 0; n < 10; n += 1) await breaker.send(sampleMail({ envelopeTo: `ada${n}@example.com` }));
    const later = await breaker.send(sampleMail({ envelopeTo: "bob@example.com" }));
    expect(logged).toHaveLength(1);
    const told = JSON.stringify([logged, breaker.fault(), later]);
    expect(told).toContain("554 5.7.1 <[address]>: Relay access denied");
    expect(told).not.toContain("example.com");
  });

  test("closes when the same words are no longer the answer, so that a dead mailbox bounces", async () => {
    let answer = refusal("550 no relay");
    const { breaker, time, send, sendMany } = setUp(() => answer);
    await sendMany(10);
    answer = refusal("550 5.1.1 no such user", true);
    time.now += MINUTE;
    expect((await send("gone@example.com")).outcome).toBe("bounced");
    expect(breaker.fault()).toBeNull();
  });

  test("stays open while the server cannot be reached", async () => {
    let answer = refusal("550 no relay");
    const { breaker, time, send, sendMany } = setUp(() => answer);
    await sendMany(10);
    answer = { outcome: "deferred", error: { message: "refused", smtpCode: null, enhancedCode: null } };
    time.now += MINUTE;
    expect((await send("ada@example.com")).outcome).toBe("deferred");
    expect(breaker.fault()).not.toBeNull();
  });

  test.each<[string, Script, (n: number) => string]>([
    ["many dead mailboxes at one domain", () => refusal("550 5.1.1 no such user", true), () => "example.com"],
    ["different words for each", (_mail, n) => refusal(`550 ${"abcdefghijklmnopqrstuvwxyz"[n % 26]} is why`), () => "example.com"],
    ["fewer than most", (_mail, n) => (n % 2 === 0 ? { outcome: "sent", response: "250" } : refusal("550 spam")), () => "example.com"],
  ])("stays closed for %s", async (_name, script, domain) => {
    const { mailer, breaker, sendMany } = setUp(script);
    await sendMany(40, domain);
    expect(breaker.fault()).toBeNull();
    expect(mailer.sent).toHaveLength(40);
  });

  test("opens for mailboxes of several domains that are all unknown in the same words: a relay that takes all for its own", async () => {
    const { breaker, sendMany } = setUp(() => refusal("550 User unknown in local recipient table", true));
    await sendMany(20, (n) => `domain${n}.example`);
    expect(breaker.fault()).not.toBeNull();
  });

  test("forgets refusals after five minutes, and one recipient refused again and again is one", async () => {
    const { breaker, time, send } = setUp(() => refusal("550 no relay"));
    for (let n = 0; n < 30; n += 1) await send("same@example.com");
    for (let n = 0; n < 8; n += 1) await send(`user${n}@example.com`);
    time.now += 5 * MINUTE;
    await send("late@example.com");
    expect(breaker.fault()).toBeNull();
  });

  test("compares replies without addresses, numbers and queue ids", () => {
    expect(normalizeReply("550 5.7.1 <ada@example.com>: Relay denied (4F2A-bc01)")).toBe(
      normalizeReply("550 5.7.1 <bob@x.test>: relay  denied (9C1B-00aa)"),
    );
    expect(normalizeReply("550 no relay")).not.toBe(normalizeReply("550 spam"));
  });
});
