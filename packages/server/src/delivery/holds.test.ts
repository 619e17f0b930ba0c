import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { accepted, busy, scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };

const asOperator = async (w: TestWorld, path: string, body: object) => {
  const response = await ask(w, { method: "POST", path: `/api/v1/queue/${path}`, key: w.operatorKey, body });
  return { status: response.status, body: (await response.json()) as { holds: { domain: string; emails: number }[] } };
};

const status = async (w: TestWorld) => {
  const response = await ask(w, { method: "GET", path: "/api/v1/queue", key: w.operatorKey });
  return (await response.json()) as { holds: { domain: string; emails: number }[] };
};

const send = async (w: TestWorld, to: string, more: object = {}): Promise<string> =>
  ((await w.sdk.emails.send({ ...hello, to, ...more })) as { id: string }).id;

test("emails to a held domain wait without attempts and jobs; others leave; released ones are sent once", async () => {
  const mailer = scriptedMailer();
  await using w = await createWorld({ mailer });
  expect((await asOperator(w, "hold", { domain: "Slow.Example", reason: "they block us" })).body).toMatchObject({
    holds: [{ domain: "slow.example", heldAt: "2026-01-01T00:00:00.000Z", reason: "they block us", emails: 0 }],
  });
  const held = await send(w, "Ada@Slow.Example");
  const cancelled = await send(w, "bob@slow.example");
  await send(w, "eve@sub.slow.example");
  await send(w, "later@slow.example", { scheduledAt: "2026-01-01T03:00:00Z" });
  await w.clock.advance("1d");
  expect(mailer.sent.map(({ envelopeTo }) => envelopeTo)).toEqual(["eve@sub.slow.example"]);
  expect(await w.sdk.emails.get(held)).toMatchObject({ status: "queued", attempts: 0, events: [] });
  expect((await status(w)).holds).toMatchObject([{ domain: "slow.example", emails: 3 }]);
  expect((await w.sdk.jobs.list({ state: "ready" })).data.filter(({ kind }) => kind.startsWith("email."))).toEqual([]);
  await w.sdk.emails.cancel(cancelled);
  expect((await asOperator(w, "release", { domain: "slow.example" })).body.holds).toEqual([]);
  await w.settle();
  expect(mailer.sent.map(({ envelopeTo }) => envelopeTo).toSorted()).toEqual([
    "Ada@slow.example",
    "eve@sub.slow.example",
    "later@slow.example",
  ]);
  expect((await w.sdk.emails.get(held)).events.map(({ type }) => type)).toEqual(["email.queued", "email.sent"]);
  expect((await w.sdk.emails.get(cancelled)).status).toBe("cancelled");
  expect((await asOperator(w, "release", { domain: "slow.example" })).status).toBe(200);
  expect(mailer.sent).toHaveLength(3);
});

test("a deferred email of a held domain keeps its attempts, and more than a chunk is released", async () => {
  const mailer = scriptedMailer(({ attempt }) => (attempt === 1 ? busy : accepted));
  await using w = await createWorld({ mailer });
  const to = Array.from({ length: 40 }, (_, i) => `r${i}@slow.example`);
  for (let i = 0; i < 13; i += 1) await w.sdk.emails.send({ ...hello, to });
  await w.settle();
  await asOperator(w, "hold", { domain: "slow.example" });
  await w.clock.advance("1h");
  expect((await status(w)).holds).toMatchObject([{ emails: 520 }]);
  expect((await w.sdk.emails.list({ status: "deferred", limit: 1 })).data).toMatchObject([{ attempts: 1 }]);
  await asOperator(w, "release", { domain: "slow.example" });
  await w.settle();
  expect((await w.sdk.emails.list({ status: "sent" })).pagination.total).toBe(520);
  expect(mailer.sent).toHaveLength(1040);
});

test("only the operator may hold, and what is no domain is refused by its name", async () => {
  await using w = await createWorld();
  for (const path of ["hold", "release", "requeue"]) {
    const refused = await ask(w, { method: "POST", path: `/api/v1/queue/${path}`, body: { domain: "slow.example" } });
    expect([401, 403]).toContain(refused.status);
    const bad = await asOperator(w, path, { domain: "not a domain" });
    expect([bad.status, JSON.stringify(bad.body)]).toEqual([400, expect.stringContaining('"domain"')]);
  }
  expect((await status(w)).holds).toEqual([]);
});
