import { INBOX_LIMITS } from "@mailsvc/sdk/contract";
import { expect, onTestFinished, test, vi } from "vitest";
import { secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import * as inbox from "./inbox.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };
const LIMIT = { timeout: 180_000 };

/** A server in production with a client for a test key, and how often mail was looked for. */
async function start() {
  const world = await createWorld({ dev: false, flags: { "trust-sender": "acme.test" } });
  const permissions = ["transactional:send", "transactional:read"] as const;
  const { key } = await world.sdk.keys.create({ name: "staging", permissions: [...permissions], test: true });
  const looks = vi.spyOn(inbox, "findFirstMail");
  onTestFinished(() => looks.mockRestore());
  return { world, staging: world.sdk.withOptions({ apiKey: key }), looks, [Symbol.asyncDispose]: () => world.dispose() };
}

/** Captures mails as another process would: this one gets no signal. */
async function captureElsewhere({ app: { deps }, workspaceId }: TestWorld, ...recipients: string[]): Promise<void> {
  const { db, ids, clock } = deps;
  const mails = recipients.map((to) => ({
    ...{ id: ids("mail"), emailId: null, workspaceId, to, from: "x@example.com", subject: "Hi", size: 1, test: true },
    ...{ raw: Buffer.from("Subject: Hi\r\n\r\nx"), receivedAt: clock.now() },
  }));
  await db.tx((tx) => tx.insertAll(tx.t.inbox, mails));
}

test("a mail wakes those who wait for its recipient or for any, and no others", async () => {
  await using t = await start();
  const [ada, any, grace] = [{ to: "ada@example.com" }, {}, { to: "grace@example.com" }].map((wanted) =>
    t.staging.testInbox.wait({ ...wanted, timeout: 60 }),
  );
  await vi.waitFor(() => expect(t.looks).toHaveResolvedTimes(3), LIMIT);
  await t.staging.emails.send({ ...hello, to: "ADA@example.com" });
  await t.world.settle();
  expect(await ada).toMatchObject({ to: "ada@example.com", subject: "Hello" });
  expect(await any).toMatchObject({ to: "ada@example.com" });
  const looksForGrace = () => t.looks.mock.calls.filter(([, { to }]) => to === "grace@example.com").length;
  expect(looksForGrace()).toBe(1);
  await t.staging.emails.send({ ...hello, to: "grace@example.com" });
  await t.world.settle();
  expect(await grace).toMatchObject({ to: "grace@example.com" });
  expect(looksForGrace()).toBe(2);
});

test("mail that another process captures is found by one look a second for all who wait", async () => {
  await using t = await start();
  const waits = Array.from({ length: 20 }, (_, i) => t.staging.testInbox.wait({ to: `user${i}@example.com`, timeout: 120 }));
  await vi.waitFor(() => expect(t.looks).toHaveResolvedTimes(20), LIMIT);
  // A failure below ends the world under those who still wait.
  for (const wait of waits) wait.catch(() => {});
  await captureElsewhere(t.world, "user7@example.com");
  expect(await waits[7]).toMatchObject({ to: "user7@example.com" });
  // The others slept on: the mail is not for them.
  expect(t.looks).toHaveBeenCalledTimes(21);
  for (let i = 0; i < 20; i += 1) if (i !== 7) await captureElsewhere(t.world, `user${i}@example.com`);
  expect((await Promise.all(waits)).map(({ to }) => to)).toEqual(waits.map((_, i) => `user${i}@example.com`));
});

test("mail of another process is found among more than a look sees", async () => {
  await using t = await start();
  const [ada, grace] = ["ada@example.com", "grace@example.com"].map((to) => t.staging.testInbox.wait({ to, timeout: 120 }));
  await vi.waitFor(() => expect(t.looks).toHaveResolvedTimes(2), LIMIT);
  // After this one a look has been made.
  await captureElsewhere(t.world, "ada@example.com");
  expect(await ada).toMatchObject({ to: "ada@example.com" });
  await captureElsewhere(t.world, "grace@example.com", ...Array.from({ length: 150 }, (_, i) => `user${i}@example.com`));
  expect(await grace).toMatchObject({ to: "grace@example.com" });
});

test("requests that wait are limited by workspace, and those of another workspace wait on", async () => {
  await using t = await start();
  const other = await secondWorkspace(t.world);
  const leave = new AbortController();
  const wait = () => t.staging.testInbox.wait({ timeout: 120 }, { signal: leave.signal, maxRetries: 0 });
  const waiting = Array.from({ length: INBOX_LIMITS.waits }, wait).map((one) => one.catch((error: unknown) => (error as Error).name));
  await vi.waitFor(() => expect(t.looks).toHaveBeenCalledTimes(INBOX_LIMITS.waits), LIMIT);
  await expect(wait()).rejects.toMatchObject({
    status: 429,
    code: "rate_limited",
    retryAfterMs: 5000,
    message: `${INBOX_LIMITS.waits} requests of this workspace wait for test mail already.`,
  });
  await expect(other.sdk.testInbox.wait({ timeout: 0 })).rejects.toMatchObject({ code: "not_found" });
  leave.abort();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => "AbortError"));
  await vi.waitFor(() => expect(t.staging.testInbox.wait({ timeout: 0 })).rejects.toMatchObject({ code: "not_found" }), LIMIT);
});

test("mail of before is left out by the time since which it counts, or by now", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const send = async (subject: string): Promise<void> => {
    await sdk.emails.send({ from: "hello@acme.example", to: "ada@example.com", subject, text: "x" });
    await world.settle();
  };
  await send("Old");
  await sdk.clock.advance({ by: "1h" });
  const since = (await sdk.clock.show()).now;
  await expect(sdk.inbox.wait({ to: "ada@example.com", since, timeout: 0 })).rejects.toMatchObject({ code: "not_found" });
  await expect(sdk.inbox.wait({ to: "ada@example.com", after: "now", timeout: 0 })).rejects.toMatchObject({ code: "not_found" });
  const looks = vi.spyOn(inbox, "findFirstMail");
  const waiting = sdk.inbox.wait({ after: "now", timeout: 60 });
  await vi.waitFor(() => expect(looks).toHaveResolvedTimes(1), LIMIT);
  looks.mockRestore();
  await send("New");
  expect(await waiting).toMatchObject({ subject: "New" });
  expect(await sdk.inbox.wait({ to: "ada@example.com", since, timeout: 0 })).toMatchObject({ subject: "New" });
  expect(await sdk.inbox.wait({ to: "ada@example.com", timeout: 0 })).toMatchObject({ subject: "Old" });
});
