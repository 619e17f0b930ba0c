import { ApiError } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { ask, expectAnswer } from "../../test/scenario.ts";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { createMetrics } from "../health/metrics.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

test("a scheduled email is a waiting job, shown with its hour and what it is for", async () => {
  await using world = await createWorld();
  const sent = (await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-02T00:00:00Z" })) as { id: string };
  const { data } = await world.sdk.jobs.list({ state: "ready" });
  expect(data.find((j) => j.kind === "email.deliver")).toMatchObject({
    payload: { emailId: sent.id },
    runAt: "2026-01-02T00:00:00.000Z",
    attempts: 0,
    lastError: null,
  });
});

test("a job that gave up is dead, says why, and runs again when it is retried", async () => {
  let broken = true;
  const mailer = scriptedMailer(() => {
    if (broken) throw new Error("a bug in the mailer");
    return { outcome: "sent", response: "250 OK" };
  });
  await using world = await createWorld({ mailer });
  const { id } = (await world.sdk.emails.send(hello)) as { id: string };
  await world.clock.advance("20d");
  const [dead] = (await world.sdk.jobs.list({ state: "dead" })).data;
  expect(dead).toMatchObject({ state: "dead", kind: "email.deliver", lastError: "Error: a bug in the mailer" });
  expect(dead?.attempts).toBe(dead?.maxAttempts);
  broken = false;
  expect(await world.sdk.jobs.retry(dead?.id ?? "")).toMatchObject({ state: "ready", attempts: 0 });
  await world.settle();
  expect((await world.sdk.emails.get(id)).status).toBe("sent");
  expect((await world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
  await expect(world.sdk.jobs.retry(dead?.id ?? "")).rejects.toThrow(ApiError);
});

test("walking over all jobs finds each once, however many pages they fill", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({
    ...hello,
    to: Array.from({ length: 45 }, (_, i) => `r${i}@example.com`),
    scheduledAt: "2026-01-02T00:00:00Z",
  });
  const ids = (await world.sdk.jobs.list().toArray()).map((j) => j.id);
  expect(ids).toHaveLength(45);
  expect(new Set(ids).size).toBe(45);
});

test("a cursor continues below the last job shown, also when newer ones have come meanwhile", async () => {
  await using world = await createWorld();
  const schedule = (to: string[]) => world.sdk.emails.send({ ...hello, to, scheduledAt: "2026-01-02T00:00:00Z" });
  await schedule(["a@example.com", "b@example.com", "c@example.com"]);
  const all = (await world.sdk.jobs.list()).data.map(({ id }) => id);
  const { data, pagination } = await world.sdk.jobs.list({ limit: 2 });
  expect(data.map(({ id }) => id)).toEqual(all.slice(0, 2));
  await schedule(["d@example.com"]);
  const cursor = pagination.nextCursor ?? "";
  expect((await world.sdk.jobs.list({ limit: 2, cursor })).data.map(({ id }) => id)).toEqual(all.slice(2));
  const foreign = await ask(world, { method: "GET", path: `/api/v1/jobs?cursor=${Buffer.from("page 2").toString("base64url")}` });
  expect([foreign.status, await foreign.json()]).toMatchObject([400, { error: { details: [{ path: "cursor", code: "invalid_cursor" }] } }]);
});

test("a workspace sees and retries its own jobs only", async () => {
  const mailer = scriptedMailer(() => {
    throw new Error("a bug in the mailer");
  });
  await using world = await createWorld({ mailer });
  const other = await secondWorkspace(world);
  await world.sdk.emails.send(hello);
  await world.clock.advance("20d");
  const [dead] = (await world.sdk.jobs.list()).data;
  expect(dead).toMatchObject({ state: "dead", payload: { workspaceId: world.workspaceId } });
  const list = await ask(world, { method: "GET", path: "/api/v1/jobs", key: other.apiKey });
  expect(await list.json()).toMatchObject({ data: [], pagination: { total: 0 } });
  expect((await ask(world, { path: `/api/v1/jobs/${dead?.id}/retry`, key: other.apiKey })).status).toBe(404);
  expect((await world.sdk.jobs.list()).data).toMatchObject([{ id: dead?.id, state: "dead" }]);
});

test("an email that could not be queued is queue_failed: nothing is stored, and the reason stays inside", async () => {
  await using world = await createWorld();
  const { queue } = world.app.deps;
  const { enqueue } = queue;
  queue.enqueue = async () => {
    throw new Error("secret trouble in the queue");
  };
  const row = { name: "", path: "/api/v1/send", body: hello, status: 500, code: "queue_failed" as const, lacks: ["secret"] };
  await expectAnswer(await ask(world, row), row, world.apiKey);
  queue.enqueue = enqueue;
  expect((await world.sdk.emails.list()).pagination.total).toBe(0);
});

test("a job whose kind this version does not know is shown wherever an operator looks, and the server stays ready", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  await deps.db.tx((tx) => deps.queue.enqueue(tx, { kind: "wakeup.renamed", payload: { workspaceId: world.workspaceId } }));
  await world.settle();
  expect((await world.sdk.jobs.list({ state: "unhandled" })).data).toMatchObject([{ kind: "wakeup.renamed", attempts: 0 }]);
  expect((await world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
  expect((await world.sdk.me.get()).server.unhandledJobs).toBe(1);
  const ready = await ask(world, { method: "GET", path: "/readyz" });
  expect([ready.status, await ready.json()]).toMatchObject([200, { status: "ready", unhandledJobs: 1 }]);
  const status = await ask(world, { method: "GET", path: "/api/v1/queue", key: world.operatorKey });
  expect(await status.json()).toMatchObject({ jobs: { unhandled: 1 }, unhandledKinds: { "wakeup.renamed": 1 } });
  const metrics = createMetrics();
  metrics.collectFrom({ deps, readStats: async () => ({ walBytes: null, flushes: null, pool: null }), files: { exhausted: 0 } });
  expect(await metrics.render()).toContain('mailsvc_unhandled_jobs{kind="wakeup.renamed"} 1');
});
