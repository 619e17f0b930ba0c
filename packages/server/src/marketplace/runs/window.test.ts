import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { agentPath } from "../../../test/marketplace.ts";
import { runRow } from "../../../test/run-row.ts";
import { ask } from "../../../test/scenario.ts";
import { createWorld } from "../../testing.ts";
import { scheduleNextSweep } from "./sweep.ts";

test("a run without a heartbeat fails after fifteen minutes to the millisecond, with one event", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { agent } = made;
  const { runId } = await agent.client.runs.start({ title: "Draft" });
  await world.clock.advance("10m");
  const beat = await agent.client.runs.log({ runId, entries: [{ message: "Half way" }] });
  expect(beat).toEqual({
    runId,
    status: "RUNNING",
    lastHeartbeatAt: "2026-01-01T00:10:00.000Z",
    deadlineAt: "2026-01-01T00:25:00.000Z",
    heartbeatIntervalSeconds: 60,
    accepted: 1,
    cancelRequested: false,
  });
  await world.clock.advance("14m59s999ms");
  expect(await agent.client.runs.get(runId)).toMatchObject({ status: "RUNNING", failureReason: null });
  expect(await agent.heard("run_force_failed")).toEqual([]);
  await world.clock.advance("1ms");
  expect(await agent.client.runs.get(runId)).toMatchObject({
    status: "FAILED",
    failureReason: "heartbeat_timeout",
    finishedAt: "2026-01-01T00:25:00.000Z",
    lastHeartbeatAt: "2026-01-01T00:10:00.000Z",
    deadlineAt: null,
  });
  const late = await ask(world, { path: agentPath(agent.activationId, "/runs/log"), key: agent.key, body: { runId } });
  expect(late.status).toBe(409);
  expect(await late.json()).toMatchObject({ error: { code: "invalid_state", details: [{ path: "runId", code: "run_not_active" }] } });
  await world.clock.advance("1d");
  expect(await agent.heard("run_force_failed")).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      type: "run_force_failed",
      activationId: agent.activationId,
      runId,
      sequence: 2,
      timestamp: "2026-01-01T00:25:00.000Z",
      lastHeartbeatAt: "2026-01-01T00:10:00.000Z",
    },
  ]);
});

test("each log extends the window; a read does not", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const { runId } = await client.runs.start();
  for (let n = 0; n < 5; n += 1) {
    await world.clock.advance("14m59s999ms");
    expect(await client.runs.log({ runId })).toMatchObject({ status: "RUNNING", accepted: 0 });
  }
  await world.clock.advance("14m");
  await client.runs.get(runId);
  await client.runs.list();
  await world.sdk.runs.get(made.agent.activationId, runId);
  await world.clock.advance("1m");
  expect((await client.runs.get(runId)).status).toBe("FAILED");
});

test("past its window a run cannot be logged, ended or cancelled, even before a sweep", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const { runId } = await client.runs.start();
  await client.credits.get();
  const { clock } = world;
  const { queue, db } = world.app.deps;
  await queue.stop();
  clock.control.reset(clock.now() + 900_000, "frozen");
  const { runs } = db.read.t;
  expect(await db.read.select({ status: runs.status }).from(runs)).toEqual([{ status: "RUNNING" }]);
  expect(await client.runs.get(runId)).toMatchObject({ status: "FAILED", finishedAt: "2026-01-01T00:15:00.000Z" });
  expect((await client.runs.list({ status: "RUNNING" })).data).toEqual([]);
  expect((await client.runs.list({ status: "FAILED" })).data).toMatchObject([{ runId }]);
  expect(await world.sdk.runs.get(activationId, runId)).toMatchObject({ status: "FAILED", failureReason: "heartbeat_timeout" });
  for (const refused of [
    () => client.runs.log({ runId }),
    () => client.runs.complete({ runId }),
    () => client.runs.complete({ runId, status: "FAILED", summary: "I gave up." }),
    () => client.runs.fail({ runId, error: { code: "gave_up", message: "I gave up." } }),
    () => client.runs.cancel({ runId }),
    () => client.credits.consume({ amount: 1, action: "draft", runId }),
    () => client.messages.create({ type: "APPROVAL_REQUEST", text: "x", runId, approval: { title: "x" } }),
    () => client.wakeups.create({ delaySeconds: 60, reason: "x", runId, suspendRun: true }),
    () => world.sdk.runs.cancel(activationId, runId, { force: true }),
  ])
    await expect(refused()).rejects.toMatchObject({ code: "invalid_state", status: 409 });
  // A run past its window does not count against the limit.
  for (let n = 0; n < 20; n += 1) await client.runs.start();
  await expect(client.runs.start()).rejects.toMatchObject({ code: "limit_reached", details: [{ code: "too_many_active_runs" }] });
});

test("a run that waits for an approval needs no heartbeat; with the answer it has a whole window", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const { runId } = await client.runs.start();
  const question = await client.messages.create({ type: "APPROVAL_REQUEST", text: "May I?", runId, approval: { title: "Publish?" } });
  expect(await client.runs.get(runId)).toMatchObject({ status: "WAITING", waitingFor: "approval", deadlineAt: "2026-01-08T00:00:00.000Z" });
  await world.clock.advance("2d");
  expect(await client.runs.get(runId)).toMatchObject({ status: "WAITING" });
  await world.sdk.messages.answer(question.id, { decision: "approve" });
  expect(await client.runs.get(runId)).toMatchObject({
    status: "RUNNING",
    waitingFor: null,
    lastHeartbeatAt: "2026-01-03T00:00:00.000Z",
    deadlineAt: "2026-01-03T00:15:00.000Z",
  });
  expect(await heard("approval_response")).toMatchObject([
    { runId, messageId: question.id, decision: "approved", comment: null, answeredAt: "2026-01-03T00:00:00.000Z" },
  ]);
  await world.clock.advance("15m");
  expect(await world.sdk.runs.get(activationId, runId)).toMatchObject({ status: "FAILED" });
  expect(await heard("run_force_failed")).toMatchObject([{ runId, timestamp: "2026-01-03T00:15:00.000Z" }]);
});

test("a run that opts out of waiting must keep logging", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const { runId } = await client.runs.start();
  const approval = { title: "Publish?", suspendRun: false };
  await client.messages.create({ type: "APPROVAL_REQUEST", text: "May I?", runId, approval });
  expect((await client.runs.get(runId)).status).toBe("RUNNING");
  await world.clock.advance("15m");
  expect((await client.runs.get(runId)).status).toBe("FAILED");
});

test("a log to a waiting run makes it RUNNING with a window", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const { runId } = await client.runs.start();
  const question = await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", runId, approval: { title: "?" } });
  await world.clock.advance("1d");
  expect(await client.runs.log({ runId })).toMatchObject({ status: "RUNNING", deadlineAt: "2026-01-02T00:15:00.000Z" });
  await world.clock.advance("15m");
  expect((await client.runs.get(runId)).status).toBe("FAILED");
  expect((await client.messages.get(question.id)).approval?.status).toBe("CANCELLED");
});

test("a run waits as long as anything it waits for is open", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const { runId } = await client.runs.start();
  const ask = (title: string) => client.messages.create({ type: "APPROVAL_REQUEST", text: title, runId, approval: { title } });
  const first = await ask("Text?");
  const second = await ask("Picture?");
  await client.wakeups.create({ delaySeconds: 7200, reason: "Look again", runId, suspendRun: true });
  await world.clock.advance("1h");
  await world.sdk.messages.answer(second.id, { decision: "reject", comment: "Too blue." });
  expect(await client.runs.get(runId)).toMatchObject({ status: "WAITING" });
  await world.sdk.messages.answer(first.id, { decision: "approve" });
  expect(await client.runs.get(runId)).toMatchObject({ status: "WAITING", waitingFor: "wakeup", deadlineAt: "2026-01-01T02:00:00.000Z" });
  await world.clock.advance("1h");
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING", deadlineAt: "2026-01-01T02:15:00.000Z" });
  const told = await heard("approval_response", "agent.wakeup");
  expect(told.map((e) => [e.type, e.runId])).toEqual([
    ["approval_response", runId],
    ["approval_response", runId],
    ["agent.wakeup", runId],
  ]);
  expect(new Set(told.map(({ id }) => id)).size).toBe(3);
  expect(new Set(told.map(({ timestamp }) => timestamp)).size).toBe(3);
});

test("the run of a paused agent fails, with an event", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const { runId } = await client.runs.start();
  await world.sdk.activations.pause(activationId);
  await expect(client.runs.log({ runId })).rejects.toMatchObject({ code: "activation_paused" });
  await world.clock.advance("15m");
  await world.sdk.activations.resume(activationId);
  expect((await client.runs.get(runId)).status).toBe("FAILED");
  expect(await heard("run_force_failed")).toHaveLength(1);
});

test("deactivating an agent cancels its runs; runs that had failed stay FAILED", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const old = await client.runs.start();
  await world.clock.advance("15m");
  const young = await client.runs.start();
  const waiting = await client.runs.start();
  const question = await client.messages.create({
    type: "APPROVAL_REQUEST",
    text: "?",
    runId: waiting.runId,
    approval: { title: "?" },
  });
  await client.wakeups.create({ delaySeconds: 60, reason: "x" });
  await world.sdk.activations.deactivate(activationId);
  const statusOf = async (runId: string) => (await world.sdk.runs.get(activationId, runId)).status;
  expect([await statusOf(old.runId), await statusOf(young.runId), await statusOf(waiting.runId)]).toEqual([
    "FAILED",
    "CANCELLED",
    "CANCELLED",
  ]);
  expect((await world.sdk.messages.get(question.id)).approval?.status).toBe("CANCELLED");
  await expect(world.sdk.messages.answer(question.id, { decision: "approve" })).rejects.toMatchObject({ code: "invalid_state" });
  await world.clock.advance("30d");
  expect(await heard("run_force_failed")).toMatchObject([{ runId: old.runId }]);
  expect(await heard("agent.wakeup", "approval_response")).toEqual([]);
});

test("an agent deactivated in the instant its run fails gets run_force_failed first or not at all", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const { runId } = await client.runs.start();
  const { clock } = world;
  const { queue } = world.app.deps;
  await queue.stop();
  clock.control.reset(clock.now() + 900_000, "frozen");
  await world.sdk.activations.deactivate(activationId);
  expect(await world.sdk.runs.get(activationId, runId)).toMatchObject({ status: "FAILED", failureReason: "heartbeat_timeout" });
  expect((await heard("run_force_failed", "agent.deactivated")).map(({ type }) => type)).toEqual(["run_force_failed", "agent.deactivated"]);
});

test("hundreds of runs that fail at one instant emit one event each", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { activationId } = made.agent;
  const { db, clock } = world.app.deps;
  const rows = Array.from({ length: 450 }, (_, n) => runRow(n, clock.now(), { activationId, workspaceId: world.workspaceId }));
  await db.tx((tx) => tx.insertAll(tx.t.runs, rows));
  const { runId } = await made.agent.client.runs.start({ runId: "run-of-its-own" }).catch(() => ({ runId: "" }));
  expect(runId).toBe("");
  await db.tx((tx) => scheduleNextSweep(tx, world.app.deps));
  await world.clock.advance("15m");
  const told = await made.agent.heard("run_force_failed");
  expect(told).toHaveLength(450);
  expect(new Set(told.map((e) => e.runId)).size).toBe(450);
  expect(await db.read.$count(db.read.t.runs)).toBe(450);
  expect((await world.sdk.runs.list(activationId, { status: "FAILED" })).pagination.total).toBe(450);
});

test("an end that is reported again with another result is refused; the first result counts", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const { runId } = await client.runs.start();
  const result = { runId, summary: "Done.", output: { pages: [1, 2], ok: true }, metrics: { words: 3 } };
  const ended = await client.runs.complete(result);
  expect(await client.runs.complete({ ...result, output: { ok: true, pages: [1, 2] } })).toEqual(ended);
  expect(await client.runs.complete({ runId })).toEqual(ended);
  for (const [path, other] of [
    ["output", { output: { pages: [1] } }],
    ["output", { output: null }],
    ["summary", { summary: "Done!" }],
    ["metrics", { metrics: { words: 4 } }],
    ["error", { error: { code: "x", message: "y" } }],
  ] as const)
    await expect(client.runs.complete({ ...result, ...other })).rejects.toMatchObject({
      code: "invalid_state",
      status: 409,
      details: [{ path, code: "different_result" }],
    });
  expect(await client.runs.get(runId)).toMatchObject({ status: "COMPLETED", output: result.output, summary: "Done." });
});

test("a repeated start returns its run, also after its end; another request with its id is refused", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const request = { runId: "nightly-1", title: "Nightly" };
  await client.runs.start(request);
  const ended = await client.runs.complete({ runId: "nightly-1" });
  expect(await client.runs.start(request)).toEqual({ ...ended, logSequence: 0 });
  await expect(client.runs.start({ runId: "nightly-1", title: "Weekly" })).rejects.toMatchObject({
    code: "id_reused",
    status: 409,
    details: [{ path: "runId", code: "run_id_conflict" }],
  });
});

test("a question with suspendRun false is cancelled when its run fails, and stays open when it completes", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const ask = async () => {
    const { runId } = await client.runs.start();
    const approval = { title: "?", suspendRun: false };
    return { runId, question: await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", runId, approval }) };
  };
  const status = async (id: string) => (await world.sdk.messages.get(id)).approval?.status;
  const [completed, failed, cancelled] = [await ask(), await ask(), await ask()];
  await client.runs.complete({ runId: completed.runId });
  await client.runs.fail({ runId: failed.runId, error: { code: "x", message: "y" } });
  await world.sdk.runs.cancel(activationId, cancelled.runId, { force: true });
  const silent = await ask();
  await world.clock.advance("15m");
  expect((await client.runs.get(silent.runId)).status).toBe("FAILED");
  expect(await Promise.all([completed, failed, cancelled, silent].map(({ question }) => status(question.id)))).toEqual([
    "PENDING",
    "CANCELLED",
    "CANCELLED",
    "CANCELLED",
  ]);
  expect((await world.sdk.approvals.list()).data.map(({ id }) => id)).toEqual([completed.question.id]);
});

test('a run may be called "complete", like the call that ends runs', async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const { runId } = await client.runs.start({ runId: "complete", title: "Weekly" });
  expect(await client.runs.get(runId)).toMatchObject({ runId: "complete", status: "RUNNING" });
  expect((await client.runs.complete({ runId })).status).toBe("COMPLETED");
});

test("a run that says it waits is WAITING for what is open, and RUNNING when nothing is", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const { runId, logSequence } = await client.runs.start({ runId: "own-run-1" });
  expect(logSequence).toBe(0);
  expect(await client.runs.log({ runId, waiting: true })).toMatchObject({ status: "RUNNING" });
  const { id } = await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", runId, approval: { title: "?" } });
  expect(await client.runs.log({ runId, seq: 3, entries: [{ message: "Meanwhile" }] })).toMatchObject({ status: "RUNNING" });
  const waiting = await client.runs.log({ runId, seq: 4, waiting: true });
  expect(waiting).toMatchObject({ status: "WAITING", deadlineAt: "2026-01-08T00:00:00.000Z" });
  expect(await client.runs.start({ runId: "own-run-1" })).toMatchObject({ status: "WAITING", logSequence: 4 });
  await world.clock.advance("2d");
  expect(await client.runs.get(runId)).toMatchObject({ status: "WAITING" });
  await world.sdk.messages.answer(id, { decision: "approve" });
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING" });
  expect(await client.runs.log({ runId, waiting: true })).toMatchObject({ status: "RUNNING" });
  await world.clock.advance("15m");
  expect(await client.runs.get(runId)).toMatchObject({ status: "FAILED" });
});
