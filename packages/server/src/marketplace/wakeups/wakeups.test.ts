import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { createWorld } from "../../testing.ts";

test("a wakeup fires at its time to the millisecond, with its payload", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const wakeup = await client.wakeups.create({ delaySeconds: 3600, reason: "Look again", payload: { page: "lp_1", tries: [1, 2] } });
  expect(wakeup).toEqual({
    wakeupId: expect.stringMatching(/^wku_/),
    status: "SCHEDULED",
    fireAt: "2026-01-01T01:00:00.000Z",
    reason: "Look again",
    payload: { page: "lp_1", tries: [1, 2] },
    runId: null,
    dedupeKey: null,
    suspendRun: false,
    createdAt: "2026-01-01T00:00:00.000Z",
    firedAt: null,
  });
  await world.clock.advance("59m59s999ms");
  expect(await heard("agent.wakeup")).toEqual([]);
  await world.clock.advance("1ms");
  expect(await heard("agent.wakeup")).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      type: "agent.wakeup",
      activationId,
      runId: null,
      sequence: 2,
      timestamp: "2026-01-01T01:00:00.000Z",
      wakeupId: wakeup.wakeupId,
      reason: "Look again",
      payload: { page: "lp_1", tries: [1, 2] },
      scheduledFor: "2026-01-01T01:00:00.000Z",
    },
  ]);
  expect(await client.wakeups.get(wakeup.wakeupId)).toMatchObject({ status: "FIRED", firedAt: "2026-01-01T01:00:00.000Z" });
  await world.clock.advance("30d");
  expect(await heard("agent.wakeup")).toHaveLength(1);
});

test("runAt takes an instant from 10 seconds to 30 days ahead", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const at = (runAt: string) => client.wakeups.create({ runAt, reason: "x" });
  expect((await at("2026-01-01T02:00:10+02:00")).fireAt).toBe("2026-01-01T00:00:10.000Z");
  expect((await at("2026-01-31T00:00:00Z")).fireAt).toBe("2026-01-31T00:00:00.000Z");
  for (const runAt of ["2026-01-01T00:00:09.999Z", "2025-12-31T00:00:00Z", "2026-01-31T00:00:00.001Z"])
    await expect(at(runAt)).rejects.toMatchObject({ code: "validation_error", details: [{ path: "runAt", code: "out_of_range" }] });
  await world.clock.advance("30d");
  expect(await heard("agent.wakeup")).toHaveLength(2);
});

test("one wakeup per dedupeKey is scheduled at a time, also of concurrent requests", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const make = (dedupeKey: string) => client.wakeups.create({ delaySeconds: 60, reason: "x", dedupeKey });
  const all = await Promise.all(Array.from({ length: 20 }, () => make("daily")));
  expect(new Set(all.map(({ wakeupId }) => wakeupId)).size).toBe(1);
  await make("weekly");
  await world.clock.advance("1m");
  expect(await heard("agent.wakeup")).toHaveLength(2);
  const again = await make("daily");
  expect(again.wakeupId).not.toBe(all[0]?.wakeupId);
  await client.wakeups.cancel(again.wakeupId);
  expect((await make("daily")).wakeupId).not.toBe(again.wakeupId);
  expect((await client.wakeups.list({ status: "SCHEDULED" })).pagination.total).toBe(1);
});

test("a cancelled wakeup does not fire; a fired one cannot be cancelled", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const one = await client.wakeups.create({ delaySeconds: 60, reason: "one" });
  const two = await client.wakeups.create({ delaySeconds: 60, reason: "two" });
  expect((await client.wakeups.cancel(one.wakeupId)).status).toBe("CANCELLED");
  expect((await client.wakeups.cancel(one.wakeupId)).status).toBe("CANCELLED");
  await world.clock.advance("1m");
  expect((await heard("agent.wakeup")).map(({ wakeupId }) => wakeupId)).toEqual([two.wakeupId]);
  await expect(client.wakeups.cancel(two.wakeupId)).rejects.toMatchObject({
    code: "invalid_state",
    details: [{ code: "wakeup_already_fired" }],
  });
});

test("at most a hundred can be scheduled; each that fires makes room for another", async () => {
  // Most wakeups are inserted directly: a hundred requests are too slow for a busy machine.
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const { db, clock } = world.app.deps;
  const make = (delaySeconds: number) => client.wakeups.create({ delaySeconds, reason: "x" });
  const { wakeupId } = await make(60);
  const [pattern] = await db.read.select().from(db.read.t.wakeups);
  if (!pattern) throw new Error("no wakeup");
  const rows = Array.from({ length: 97 }, (_, n) => ({
    ...pattern,
    id: `wku_${String(n).padStart(26, "0")}`,
    fireAt: clock.now() + 3_600_000,
  }));
  await db.tx((tx) => tx.insertAll(tx.t.wakeups, rows));
  const done = await Promise.allSettled([make(3600), make(3600), make(3600), make(3600)]);
  expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  expect([pattern.id, pattern.activationId]).toEqual([wakeupId, activationId]);
  await expect(make(60)).rejects.toMatchObject({ code: "limit_reached", details: [{ code: "too_many_wakeups" }] });
  await world.clock.advance("1m");
  await make(60);
});

test("a repeated request with a dedupeKey returns its wakeup; another request with the key is refused", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const request = { delaySeconds: 60, reason: "x", payload: { a: 1, b: [2] }, dedupeKey: "daily" };
  const first = await client.wakeups.create(request);
  await world.clock.advance("10s");
  expect(await client.wakeups.create({ ...request, payload: { b: [2], a: 1 } })).toEqual(first);
  for (const other of [{ delaySeconds: 61 }, { reason: "y" }, { payload: { a: 1 } }])
    await expect(client.wakeups.create({ ...request, ...other })).rejects.toMatchObject({
      code: "id_reused",
      status: 409,
      details: [{ path: "dedupeKey", code: "dedupe_key_conflict", message: `It is ${first.wakeupId}.` }],
    });
  expect((await client.wakeups.list()).pagination.total).toBe(1);
});

test("a wakeup that falls due during a pause fires after agent.resumed", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const { runId } = await client.runs.start();
  const soon = await client.wakeups.create({ delaySeconds: 60, reason: "soon", runId, suspendRun: true });
  const later = await client.wakeups.create({ delaySeconds: 7200, reason: "later" });
  await world.sdk.activations.pause(activationId);
  await world.clock.advance("1h");
  expect(await heard("agent.wakeup")).toEqual([]);
  await world.sdk.activations.resume(activationId);
  await world.settle();
  expect((await heard("agent.resumed", "agent.wakeup")).map(({ type }) => type)).toEqual(["agent.resumed", "agent.wakeup"]);
  expect(await heard("agent.wakeup")).toMatchObject([{ wakeupId: soon.wakeupId, scheduledFor: "2026-01-01T00:01:00.000Z" }]);
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING", deadlineAt: "2026-01-01T01:15:00.000Z" });
  await world.sdk.activations.pause(activationId);
  await world.sdk.activations.resume(activationId);
  await world.clock.advance("2h");
  expect((await heard("agent.wakeup")).map(({ wakeupId }) => wakeupId)).toEqual([soon.wakeupId, later.wakeupId]);
});

test("the wakeups of a deactivated agent are skipped", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  await client.wakeups.create({ delaySeconds: 60, reason: "x", dedupeKey: "d" });
  await world.sdk.activations.deactivate(activationId);
  await world.clock.advance("1h");
  expect(await heard("agent.wakeup")).toEqual([]);
  const { wakeups } = world.app.deps.db.read.t;
  expect(await world.app.deps.db.read.select({ status: wakeups.status, scheduled: wakeups.scheduled }).from(wakeups)).toEqual([
    { status: "SKIPPED", scheduled: null },
  ]);
});

test("cancelling a wakeup continues its waiting run; ending the run cancels its wakeup", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const { runId } = await client.runs.start();
  const wait = () => client.wakeups.create({ delaySeconds: 3600, reason: "x", runId, suspendRun: true });
  const first = await wait();
  expect(await client.runs.get(runId)).toMatchObject({ status: "WAITING", waitingFor: "wakeup", deadlineAt: first.fireAt });
  await client.wakeups.cancel(first.wakeupId);
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING", waitingFor: null });
  const second = await wait();
  const kept = await client.wakeups.create({ delaySeconds: 3600, reason: "kept", runId });
  await client.runs.complete({ runId });
  expect((await client.wakeups.get(second.wakeupId)).status).toBe("CANCELLED");
  await world.clock.advance("1h");
  expect((await heard("agent.wakeup")).map(({ wakeupId }) => wakeupId)).toEqual([kept.wakeupId]);
});
