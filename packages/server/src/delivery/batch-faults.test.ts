import { afterEach, describe, expect, test } from "vitest";
import { sendAsBulk } from "../../test/bulk-mail.ts";
import { type Script, type ScriptedPeer, type Step, scriptedPeer } from "../../test/smtp-peer.ts";
import { realTime } from "../lib/clock.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/*
 * A mail server that fails in the middle of a batch, over real connections: the other mails leave, those it failed on are put off, and
 * come twice only where they are listed as in doubt.
 */

const POOL = 4;
const ADDRESSES = Array.from({ length: 24 }, (_, i) => `r${i}@example.com`);
// While three of four connections hang, the last one takes the rest.
const FAILING = ["r1@example.com", "r2@example.com", "r11@example.com"];

const ways: [string, (w: TestWorld) => Promise<string[]>][] = [
  [
    "single mails",
    async (w) =>
      ((await w.sdk.emails.send({ from: "hello@acme.test", subject: "Hello", text: "It works.", to: ADDRESSES })) as { ids: string[] }).ids,
  ],
  ["bulk mail", (w) => sendAsBulk(w, ADDRESSES)],
];

const closing: Step = { hangUp: "421 4.3.2 shutting down\r\n" };
/** Faults of the mail server. `inDoubt`: the server may have taken the mail. */
const faults: [string, Pick<Script, "RCPT" | "DATA" | "dot">, { inDoubt: boolean }][] = [
  ["hangs at RCPT", { RCPT: { silence: true } }, { inDoubt: false }],
  ["hangs after the final dot", { dot: { silence: true } }, { inDoubt: true }],
  ["resets the connection at DATA", { DATA: { reset: true } }, { inDoubt: false }],
  ["resets the connection after the final dot", { dot: { reset: true } }, { inDoubt: true }],
  ["closes with a 421 at RCPT", { RCPT: closing }, { inDoubt: false }],
  ["closes with a 421 at the final dot", { dot: closing }, { inDoubt: false }],
];

let peer: ScriptedPeer;
let world: TestWorld;
const open = async (script: Script): Promise<TestWorld> => {
  peer = await scriptedPeer(script);
  world = await createWorld({ mailer: smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=${POOL}`, time: realTime }) });
  return world;
};
afterEach(async () => {
  await peer.close();
  await world.dispose();
});

const count = async (status: "sent" | "deferred" | "sending"): Promise<number> =>
  (await world.sdk.emails.list({ status })).pagination.total;

const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await check())) await new Promise((turn) => setImmediate(turn));
};

/** Counts the whole messages to each address that the server may have taken. */
const arrivals = (): Map<string, number> => {
  const times = new Map<string, number>();
  for (const address of peer.recipients) times.set(address, (times.get(address) ?? 0) + 1);
  return times;
};

describe.each(ways)("a batch of %s", (_way, send) => {
  test.each(faults)("of which the mail server %s on some: the others leave, these come later", async (_fault, fault, { inDoubt }) => {
    let failing = true;
    const w = await open({ to: (address) => (failing && FAILING.includes(address) ? fault : {}) });
    const ids = await send(w);
    const others = ADDRESSES.length - FAILING.length;
    const hangs = Object.values(fault).some((step) => "silence" in step);
    if (hangs) {
      await until(async () => peer.silent === FAILING.length && (await count("sent")) === others);
      // Each holds its own slot only, and nothing is decided about it.
      expect([await count("sending"), await count("deferred")]).toEqual([FAILING.length, 0]);
      // A kept connection that is lost before the message is tried again on a new one.
      await until(async () => {
        peer.cutSilent();
        return (await count("sending")) === 0;
      });
    }
    await w.settle();
    expect([await count("sent"), await count("deferred")]).toEqual([others, FAILING.length]);
    for (const { to, ...email } of await Promise.all(ids.map((id) => w.sdk.emails.get(id))))
      expect([to, email]).toMatchObject(
        FAILING.includes(to) ? [to, { status: "deferred", attempts: 1, inDoubt }] : [to, { status: "sent", attempts: 1, inDoubt: false }],
      );

    failing = false;
    await w.clock.advance("5m");
    expect(await count("sent")).toBe(ADDRESSES.length);
    const doubted = (await w.sdk.emails.list({ inDoubt: true })).data.map(({ to }) => to);
    expect(doubted.toSorted()).toEqual(inDoubt ? FAILING.toSorted() : []);
    // A message that was refused with a 421 at its end was written out, and not taken.
    const twice = inDoubt || fault.dot !== undefined ? FAILING : [];
    expect([...arrivals()].toSorted()).toEqual(ADDRESSES.map((to) => [to, twice.includes(to) ? 2 : 1]).toSorted());
    expect((await w.sdk.jobs.list()).pagination.total).toBe(0);
  });

  test("whose mail server closes each connection after some mails, with a 421, leaves once", async () => {
    let recipients = 0;
    const w = await open({
      to: () => {
        recipients += 1;
        return recipients % 5 === 0 ? { RCPT: closing } : {};
      },
    });
    await send(w);
    await w.settle();
    expect((await count("sent")) + (await count("deferred"))).toBe(ADDRESSES.length);
    await w.clock.advance("1h");
    expect(await count("sent")).toBe(ADDRESSES.length);
    expect((await w.sdk.emails.list({ inDoubt: true })).data).toEqual([]);
    expect([...arrivals()].toSorted()).toEqual(ADDRESSES.map((to) => [to, 1]).toSorted());
  });
});
