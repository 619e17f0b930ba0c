import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

const asOperator = async (w: TestWorld, method: string, path: string, body?: object) => {
  const response = await ask(w, { method, path: `/api/v1/queue${path}`, key: w.operatorKey, ...(body && { body }) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const ready = async (w: TestWorld) => {
  const response = await ask(w, { method: "GET", path: "/readyz" });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test("while sending is paused, mail is accepted and waits; other jobs run; after resuming it leaves, single mails and scheduled ones", async () => {
  const mailer = scriptedMailer();
  await using w = await createWorld({ mailer });
  expect(await ready(w)).toMatchObject({ status: 200, body: { sendingPaused: false } });
  expect((await asOperator(w, "POST", "/pause", { reason: "moving the relay" })).body).toMatchObject({
    paused: true,
    pausedAt: "2026-01-01T00:00:00.000Z",
    reason: "moving the relay",
  });
  await w.sdk.emails.send({ ...hello, scheduledAt: "2026-01-01T05:00:00Z" });
  // Jobs planned for later do not count as waiting.
  expect((await asOperator(w, "GET", "")).body).toMatchObject({
    jobs: { ready: expect.toSatisfy((n: number) => n > 0) },
    oldestDueAt: null,
  });
  await w.sdk.emails.send(hello);
  await w.clock.advance("1d");
  expect(mailer.sent).toEqual([]);
  expect((await asOperator(w, "GET", "")).body).toMatchObject({ paused: true, oldestDueAt: "2026-01-01T00:00:00.000Z" });
  expect((await w.sdk.me.get()).server.pausedAt).toBe("2026-01-01T00:00:00.000Z");
  const paused = await ready(w);
  expect(paused).toMatchObject({ status: 200, body: { status: "ready", sendingPaused: true, relays: { default: "up" } } });
  // Anyone may ask, so the operator's reason is not told.
  expect(JSON.stringify(paused.body)).not.toContain("moving");
  expect((await asOperator(w, "POST", "/resume")).body).toMatchObject({ paused: false, pausedAt: null, reason: null });
  await w.settle();
  expect(mailer.sent).toHaveLength(2);
  expect((await w.sdk.me.get()).server.pausedAt).toBeNull();
  expect((await ready(w)).body).toMatchObject({ sendingPaused: false });
});

test("a pause is kept over a restart of the workers, and pausing or resuming twice is harmless", async () => {
  const mailer = scriptedMailer();
  await using w = await createWorld({ mailer });
  await asOperator(w, "POST", "/pause");
  expect((await asOperator(w, "POST", "/pause", { reason: "still" })).body).toMatchObject({ paused: true, reason: "still" });
  const { queue, db } = w.app.deps;
  await queue.stop();
  expect(await queue.readPause(db.read)).toMatchObject({ reason: "still" });
  expect((await asOperator(w, "POST", "/resume")).body).toMatchObject({ paused: false });
  expect((await asOperator(w, "POST", "/resume")).status).toBe(200);
});

test("only the operator may pause, and a bad reason is refused by its name", async () => {
  await using w = await createWorld();
  const refused = await ask(w, { method: "POST", path: "/api/v1/queue/pause", body: {} });
  expect([401, 403]).toContain(refused.status);
  const bad = await asOperator(w, "POST", "/pause", { reason: "x".repeat(501) });
  expect([bad.status, JSON.stringify(bad.body)]).toEqual([400, expect.stringContaining('"reason"')]);
  expect((await asOperator(w, "GET", "")).body).toMatchObject({ paused: false });
});
