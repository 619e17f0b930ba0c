import { expect, test } from "vitest";
import { scriptedMailer } from "../test/scripted-mailer.ts";
import { realTime } from "./lib/clock.ts";
import type { Receipt } from "./mail/mailer.ts";
import { GRACE_MS, stopWork } from "./shutdown.ts";
import { createWorld } from "./testing.ts";

/** A mailer whose messages hang until their connections are cut, and the timers of the shutdown, fired by hand. */
function setUp() {
  const cuts: (() => void)[] = [];
  const receipt: Receipt = { outcome: "unknown", error: { message: "cut", smtpCode: null, enhancedCode: null } };
  const mailer = {
    ...scriptedMailer(() => new Promise((resolve) => cuts.push(() => resolve(receipt)))),
    close: async () => {
      for (const cut of cuts.splice(0)) cut();
    },
  };
  const timers: { ms: number; fire: () => void }[] = [];
  const real = {
    ...realTime,
    after: (ms: number, fire: () => void) => {
      timers.push({ ms, fire });
      return { cancel: () => {} };
    },
  };
  return { mailer, timers, real, hanging: () => cuts.length };
}

test("a mail server that hangs is cut after the grace period, and its message is listed as in doubt", async () => {
  const { mailer, timers, real, hanging } = setUp();
  await using world = await createWorld({ mailer });
  const { queue, clock } = world.app.deps;
  const { id } = (await world.sdk.emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "x", text: "y" })) as { id: string };
  while (hanging() === 0) await clock.real.sleep(1);
  let ended = false;
  const stopping = stopWork({ queue, mailer, real }).then(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  expect([ended, timers.map(({ ms }) => ms)]).toEqual([false, [GRACE_MS]]);
  for (const { fire } of timers) fire();
  await stopping;
  expect(await world.sdk.emails.list({ inDoubt: true })).toMatchObject({ data: [{ id, status: "deferred", inDoubt: true }] });
});
