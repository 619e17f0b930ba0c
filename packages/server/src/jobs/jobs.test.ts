import { ApiError } from "@mailsvc/sdk";
import type { QueueStatus } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ask, expectAnswer } from "../../test/scenario.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import { REACT_JOB } from "../delivery/react.ts";
import { createMetrics } from "../health/metrics.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

/** Adds jobs for later to the workspace. */
const addJobs = (world: TestWorld, n: number, workspaceId = world.workspaceId): Promise<void> =>
  world.app.deps.db.tx((tx) =>
    world.app.deps.queue.enqueue(
      tx,
      ...Array.from({ length: n }, (_, i) => ({ kind: REACT_JOB, payload: { workspaceId, n: i }, runAt: world.clock.now() + 60_000 })),
    ),
  );

/** Lets a simulated recipient answer, which fails by a bug while it `isBroken`. */
const answerOnce = async (world: TestWorld, isBroken: () => boolean): Promise<void> => {
  const { deps } = world.app;
  const { answered } = deps.deliveryHooks;
  Object.assign(deps.deliveryHooks, {
    answered: async (mail: PendingMail) => {
      if (isBroken()) throw new Error("a bug in the simulator");
      return answered(mail);
    },
  });
  const { id: emailId } = (await world.sdk.emails.send(hello)) as { id: string };
  await world.settle();
  const payload = { workspaceId: world.workspaceId, emailId, type: "email.received" };
  await deps.db.tx((tx) => deps.queue.enqueue(tx, { kind: REACT_JOB, payload }));
};

test("an email that waits is no job, but counts in the queue", async () => {
  await using world = await createWorld();
  const status = async () =>
    (await (await ask(world, { method: "GET", path: "/api/v1/queue", key: world.operatorKey })).json()) as QueueStatus;
  const before = (await status()).jobs;
  await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-02T00:00:00Z" });
  expect((await world.sdk.jobs.list()).data.filter(({ kind }) => kind === "email.deliver")).toEqual([]);
  expect((await status()).jobs).toEqual({ ...before, ready: before.ready + 1 });
});

test("a job that gave up is dead, says why, and runs again when it is retried", async () => {
  let broken = true;
  await using world = await createWorld();
  await answerOnce(world, () => broken);
  await world.clock.advance("20d");
  const [dead] = (await world.sdk.jobs.list({ state: "dead" })).data;
  expect(dead).toMatchObject({ state: "dead", kind: REACT_JOB, lastError: "Error: a bug in the simulator" });
  expect(dead?.attempts).toBe(dead?.maxAttempts);
  broken = false;
  expect(await world.sdk.jobs.retry(dead?.id ?? "")).toMatchObject({ state: "ready", attempts: 0 });
  await world.settle();
  expect((await world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
  await expect(world.sdk.jobs.retry(dead?.id ?? "")).rejects.toThrow(ApiError);
});

test("walking over all jobs finds each once, however many pages they fill", async () => {
  await using world = await createWorld();
  await addJobs(world, 45);
  const ids = (await world.sdk.jobs.list().toArray()).map((j) => j.id);
  expect(ids).toHaveLength(45);
  expect(new Set(ids).size).toBe(45);
});

test("a cursor continues below the last job shown, also when newer ones have come meanwhile", async () => {
  await using world = await createWorld();
  await addJobs(world, 3);
  const all = (await world.sdk.jobs.list()).data.map(({ id }) => id);
  const { data, pagination } = await world.sdk.jobs.list({ limit: 2 });
  expect(data.map(({ id }) => id)).toEqual(all.slice(0, 2));
  await addJobs(world, 1);
  const cursor = pagination.nextCursor ?? "";
  expect((await world.sdk.jobs.list({ limit: 2, cursor })).data.map(({ id }) => id)).toEqual(all.slice(2));
  const foreign = await ask(world, { method: "GET", path: `/api/v1/jobs?cursor=${Buffer.from("page 2").toString("base64url")}` });
  expect([foreign.status, await foreign.json()]).toMatchObject([400, { error: { details: [{ path: "cursor", code: "invalid_cursor" }] } }]);
});

test("a workspace sees and retries its own jobs only", async () => {
  await using world = await createWorld();
  const other = await secondWorkspace(world);
  await answerOnce(world, () => true);
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
  const { announce } = queue;
  queue.announce = async () => {
    throw new Error("secret trouble in the queue");
  };
  const row = { name: "", path: "/api/v1/send", body: hello, status: 500, code: "queue_failed" as const, lacks: ["secret"] };
  await expectAnswer(await ask(world, row), row, world.apiKey);
  queue.announce = announce;
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
