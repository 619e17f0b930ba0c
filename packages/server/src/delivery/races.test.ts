import { expect, test } from "vitest";
import { accepted, type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "Acme <hello@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." };

const start = async (script?: Script) => {
  const mailer = scriptedMailer(script);
  const w = await createWorld({ mailer });
  return { w, mailer, [Symbol.asyncDispose]: () => w.dispose() };
};
const send = async (w: TestWorld, changes: Record<string, unknown> = {}): Promise<string> =>
  ((await w.sdk.emails.send({ ...hello, ...changes })) as { id: string }).id;
/** A promise that is settled from outside. */
const latch = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

test("an email that is being handed over cannot be cancelled", async () => {
  const halfway = latch();
  const go = latch();
  await using t = await start(async () => {
    halfway.open();
    await go.opened;
    return accepted;
  });
  const id = await send(t.w);
  await halfway.opened;
  await expect(t.w.sdk.emails.cancel(id)).rejects.toMatchObject({ code: "invalid_state", message: expect.stringContaining("sending") });
  go.open();
  await t.w.settle();
  expect((await t.w.sdk.emails.get(id)).status).toBe("sent");
});

test("an email cancelled while it is captured is either cancelled or in the inbox", async () => {
  await using w = await createWorld();
  const ids = await Promise.all(Array.from({ length: 30 }, () => send(w)));
  const ends = await Promise.allSettled(ids.map((id) => w.sdk.emails.cancel(id)));
  const inbox = new Set((await w.inbox.all()).map((m) => m.emailId));
  for (const [i, id] of ids.entries()) expect([id, inbox.has(id)]).toEqual([id, ends[i]?.status === "rejected"]);
});

test("an email that is rescheduled and scheduled back is sent once", async () => {
  await using t = await start();
  const at = (hour: number) => `2026-01-01T0${hour}:00:00.000Z`;
  const id = await send(t.w, { scheduledAt: at(2) });
  for (const hour of [5, 2, 3, 2]) await t.w.sdk.emails.reschedule(id, { scheduledAt: at(hour) });
  await t.w.clock.advance("1d");
  expect(t.mailer.sent).toHaveLength(1);
  expect(await t.w.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 1, inDoubt: false });
});

test("an email that is rescheduled while it waits for the mail server is sent at its new time", async () => {
  const halfway = latch();
  const go = latch();
  const mailer = scriptedMailer(async () => {
    halfway.open();
    await go.opened;
    return accepted;
  });
  await using w = await createWorld({ mailer: { ...mailer, concurrency: 1 } });
  const at = (hour: number) => `2026-01-01T0${hour}:00:00.000Z`;
  const ids = [await send(w, { scheduledAt: at(1) }), await send(w, { scheduledAt: at(1) })];
  const advanced = w.clock.advance("2h");
  await halfway.opened;
  const waiting = ids.find((id) => !mailer.sent[0]?.messageId.includes(id)) ?? "";
  expect(await w.sdk.emails.reschedule(waiting, { scheduledAt: at(3) })).toMatchObject({ status: "queued", scheduledAt: at(3) });
  go.open();
  await advanced;
  expect(mailer.sent).toHaveLength(1);
  expect(await w.sdk.emails.get(waiting)).toMatchObject({ status: "queued", scheduledAt: at(3), nextAttemptAt: at(3), attempts: 0 });
  await w.clock.advance("2h");
  expect(mailer.sent).toHaveLength(2);
  expect(await w.sdk.emails.get(waiting)).toMatchObject({ status: "sent", scheduledAt: at(3), sentAt: at(3), attempts: 1 });
});

test("as many emails are under way at the same time as the mailer accepts", async () => {
  let now = 0;
  let most = 0;
  const full = latch();
  await using t = await start(async () => {
    now += 1;
    most = Math.max(most, now);
    if (now === 8) full.open();
    // None ends before eight have begun; a ninth would begin before the first one ends.
    await full.opened;
    await new Promise(setImmediate);
    now -= 1;
    return accepted;
  });
  await t.w.sdk.emails.send({ ...hello, to: Array.from({ length: 50 }, (_, i) => `r${i}@example.com`) });
  await t.w.settle();
  expect(most).toBe(8);
  expect(t.mailer.sent).toHaveLength(50);
});
