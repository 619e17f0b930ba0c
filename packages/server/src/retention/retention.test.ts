import { isApiError } from "@mailsvc/sdk";
import { asc } from "drizzle-orm";
import { expect, test } from "vitest";
import { withAgent } from "../../test/agent-at-work.ts";
import { activateAgent, getAgentKey, listAgent, listEvents, startReceiver } from "../../test/marketplace.ts";
import type { Tx } from "../db/db.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { DAY } from "../lib/units.ts";
import type { JobRow } from "../queue/queue.ts";
import { RETENTION } from "../table-data/table-data.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { listExpiring, RETENTION_JOB, startRetention, sweepRecords } from "./retention.ts";

const nextSweep = async ({ app: { deps } }: TestWorld): Promise<string | undefined> => {
  const { rows } = await deps.queue.list(deps.db.read, { limit: 100, offset: 0 });
  const waiting = rows.filter(({ kind }) => kind === RETENTION_JOB);
  expect(waiting).toHaveLength(1);
  return waiting[0] && new Date(waiting[0].runAt).toISOString();
};

const states = async (world: TestWorld, slug = "writer") =>
  (await world.builder.sdk.deliveries.list(slug).toArray()).map(({ type, state }) => `${type} ${state}`).reverse();

test("logs are deleted before their run; an active run keeps everything", async () => {
  await using world = await createWorld({ flags: { keep: "logs=1,runs=3" } });
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  await client.runs.start({ runId: "run-done" });
  await client.runs.log({ runId: "run-done", entries: [{ message: "Long ago" }] });
  await client.wakeups.create({ delaySeconds: 60, reason: "soon" });
  const later = await client.wakeups.create({ delaySeconds: 20 * 86_400, reason: "later" });
  await client.runs.complete({ runId: "run-done" });
  await client.runs.start({ runId: "run-waits" });
  await client.runs.log({ runId: "run-waits", entries: [{ message: "I ask" }] });
  const approval = { title: "Go on?", expiresInSeconds: 20 * 86_400 };
  const question = await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", runId: "run-waits", approval });
  const logged = async (runId: string) => (await world.sdk.runs.logs(activationId, runId)).data.map(({ message }) => message);

  await world.clock.advance("1d");
  expect(await logged("run-done")).toEqual(["Long ago"]);
  await world.clock.advance("2d");
  expect([await logged("run-done"), await logged("run-waits")]).toEqual([[], ["I ask"]]);
  expect((await client.runs.get("run-done")).status).toBe("COMPLETED");
  await world.clock.advance("2d");
  await expect(client.runs.get("run-done")).rejects.toMatchObject({ code: "not_found" });
  expect((await client.runs.get("run-waits")).status).toBe("WAITING");
  expect((await client.wakeups.list()).data.map(({ wakeupId }) => wakeupId)).toEqual([later.wakeupId]);
  expect((await world.sdk.approvals.list()).data.map(({ id }) => id)).toEqual([question.id]);

  await world.sdk.messages.answer(question.id, { decision: "approve" });
  await client.runs.complete({ runId: "run-waits" });
  await world.clock.advance("1d");
  // The run has ended: log entries expire by their age, the run by its end.
  expect(await logged("run-waits")).toEqual([]);
  await world.clock.advance("4d");
  expect((await client.runs.list()).data).toEqual([]);
  // Messages stay.
  expect((await world.sdk.messages.get(question.id)).approval).toMatchObject({ status: "APPROVED" });
});

test("delivered events are deleted with their attempts; undelivered ones stay and are sent", async () => {
  await using world = await createWorld({ flags: { keep: "deliveries=2" } });
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  await world.sdk.activations.pause(activationId);
  await world.sdk.activations.resume(activationId);
  await world.settle();
  const all = ["agent.activated delivered", "agent.paused delivered", "agent.resumed delivered"];
  expect(await states(world)).toEqual(all);
  const question = await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval: { title: "Go on?" } });
  // The webhook is gone, so events are dead after a day and a half, and the agent is paused.
  await made.hooks[Symbol.asyncDispose]();
  await world.sdk.messages.answer(question.id, { decision: "approve" });
  await world.clock.advance("10d");
  expect(await world.sdk.activations.get(activationId)).toMatchObject({ status: "paused", pauseReasons: ["webhook_failure"] });
  expect(await states(world)).toContain("approval_response dead");
  expect(await states(world)).not.toContain("agent.activated delivered");

  await using again = await startReceiver();
  await world.builder.sdk.listings.update("writer", { webhookUrl: again.url });
  await world.sdk.activations.resume(activationId);
  await world.settle();
  expect((await listEvents(world, activationId)).map(({ type }) => type)).toContain("approval_response");
  expect(await states(world)).toContain("approval_response delivered");
  await world.clock.advance("5d");
  expect(await states(world)).toEqual([]);
  const { read } = world.app.deps.db;
  expect(await read.$count(read.t.webhookAttempts)).toBe(0);
});

test("a key that no webhook has acknowledged is kept, however long it takes", async () => {
  await using world = await createWorld({ flags: { keep: "deliveries=1" } });
  await listAgent(world.builder.sdk, "http://127.0.0.1:9/webhook");
  const { id } = await activateAgent(world.sdk);
  await world.clock.advance("20d");
  expect(await states(world)).toContain("agent.activated dead");
  await using hooks = await startReceiver();
  await world.builder.sdk.listings.update("writer", { webhookUrl: hooks.url });
  await world.sdk.activations.resume(id);
  await world.settle();
  expect(await getAgentKey(world, hooks, id)).toMatch(/^ms_agent_/);
});

test("rows that were stored while the clock was a year ahead do not keep those behind them", async () => {
  await using world = await createWorld({ flags: { keep: "logs=1" } });
  const { db, clock } = world.app.deps;
  const now = clock.now();
  const rows = [
    ...Array.from({ length: 250 }, (_, i) => ({ name: `ahead-${i}`, at: now + 365 * DAY })),
    ...Array.from({ length: 250 }, (_, i) => ({ name: `behind-${i}`, at: now })),
  ].map(({ name, at }) => ({ run: "run_none", level: "info" as const, message: name, at }));
  await db.tx(async (tx) => void (await tx.insert(tx.t.runLogs).values(rows)));
  await world.clock.advance("3d");
  const left = (await db.read.select({ message: db.read.t.runLogs.message }).from(db.read.t.runLogs)).map(({ message }) => message);
  expect(left.filter((name) => name.startsWith("behind"))).toEqual([]);
  expect(left).toHaveLength(250);
});

test("an event that comes after all others were deleted has an id of its own", async () => {
  await using world = await createWorld({ flags: { keep: "emails=1,events=1" } });
  const { contacts, events } = world.sdk;
  for (const name of ["ann", "bob", "cleo"]) await contacts.create({ email: `${name}@example.com` });
  const before = (await events.list({ limit: 100 })).data.map(({ id }) => id);
  await world.clock.advance("70d");
  expect((await events.list({ limit: 100 })).data).toEqual([]);
  await contacts.create({ email: "dan@example.com" });
  const [newest] = (await events.list({ limit: 1 })).data;
  expect(before).not.toContain(newest?.id);
});

test("records are deleted in chunks, and one sweep is scheduled at a time", async () => {
  await using world = await createWorld({ flags: { keep: "logs=1" } });
  await using made = await withAgent(world);
  const { client } = made.agent;
  await client.runs.start({ runId: "run-old-1" });
  await client.runs.complete({ runId: "run-old-1" });
  const { db } = world.app.deps;
  const [row] = await db.read.select().from(db.read.t.runs);
  const entry = { run: row?.id ?? "", level: "info" as const, message: "x", data: null, at: world.clock.now(), agentAt: null };
  await db.tx((tx) =>
    tx.insertAll(
      tx.t.runLogs,
      Array.from({ length: 1001 }, () => entry),
    ),
  );
  await world.clock.advance("2d");
  expect(await db.read.$count(db.read.t.runLogs)).toBe(0);
  expect(await nextSweep(world)).toBe("2026-01-04T00:00:00.000Z");
});

test("a server that starts during another's sweep does not end it", async () => {
  await using world = await createWorld({ flags: { keep: "logs=1" } });
  await using made = await withAgent(world);
  await made.agent.client.runs.start({ runId: "run-old-1" });
  await made.agent.client.runs.complete({ runId: "run-old-1" });
  const { deps } = world.app;
  const { db } = deps;
  const [row] = await db.read.select().from(db.read.t.runs);
  const entry = {
    run: row?.id ?? "",
    level: "info" as const,
    message: "x",
    data: null,
    at: world.clock.now() - 2 * 86_400_000,
    agentAt: null,
  };
  await db.tx((tx) => tx.insertAll(tx.t.runLogs, Array(500).fill(entry)));
  const { rows } = await deps.queue.list(db.read, { limit: 100, offset: 0 });
  const sweep = rows.find(({ kind }) => kind === RETENTION_JOB);
  const { commit } = await sweepRecords(
    deps,
    RETENTION,
  )({
    id: "1",
    kind: RETENTION_JOB,
    payload: sweep?.payload ?? {},
    attempt: 1,
    interruptions: 0,
    maxAttempts: 10,
  });
  await db.tx((tx) => startRetention(tx, deps));
  await db.tx(async (tx) => commit?.(tx));
  await world.settle();
  expect(await db.read.$count(db.read.t.runLogs)).toBe(0);
  expect(await nextSweep(world)).toBe("2026-01-02T00:00:00.000Z");
});

test("rows of a chunk are found by their keys, however many rows there are", async () => {
  await using world = await createWorld();
  const { db } = world.app.deps;
  if (db.engine !== "sqlite") return;
  const statements: { sql: string; params: unknown[] }[] = [];
  await db.tx(async (tx) => {
    const watched = Object.create(tx) as Tx;
    watched.delete = ((table: Parameters<Tx["delete"]>[0]) => {
      const deletion = tx.delete(table);
      return {
        where: (which: Parameters<typeof deletion.where>[0]) => {
          const query = deletion.where(which);
          statements.push(query.toSQL());
          return query;
        },
      };
    }) as unknown as Tx["delete"];
    for (const { policy, delete: deleteOld } of listExpiring(RETENTION))
      await deleteOld(watched, policy === "emails" ? ["ws_1 em_1", "ws_1 em_2"] : ["1", "2"], world.clock.now(), world.app.deps);
  });
  const plans = await (db as SqliteDb).exclusive((connection) =>
    statements.map(({ sql, params }) => connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params) as { detail: string }[]),
  );
  expect(plans).toHaveLength(11);
  for (const { detail } of plans.flat())
    expect(detail).toMatch(/PRIMARY KEY|autoindex|SUBQUERY|event_runs_key|developer_webhooks_workspace|json_each/);
});

test("a sweep that finds nothing sleeps until something can be old enough", async () => {
  await using world = await createWorld();
  expect(await nextSweep(world)).toBe("2026-01-02T00:00:00.000Z");
  await world.clock.advance("1d");
  // New log entries are kept for thirty days.
  expect(await nextSweep(world)).toBe("2026-02-01T00:00:00.000Z");
});

test("a row that was stored while the clock was ahead does not put the next sweep off", async () => {
  await using world = await createWorld();
  const { db, clock } = world.app.deps;
  const ahead = { run: "run_none", level: "info" as const, message: "Ahead", at: clock.now() + 365 * DAY };
  await db.tx(async (tx) => void (await tx.insert(tx.t.runLogs).values(ahead)));
  await world.clock.advance("1d");
  expect(await nextSweep(world)).toBe("2026-01-03T00:00:00.000Z");
});

test("a changed policy applies from the next start within a day, and the sweep of the old policy ends", async () => {
  await using world = await createWorld();
  await world.clock.advance("1d");
  const { deps } = world.app;
  const shorter = { ...deps, config: { ...deps.config, keepDays: { ...deps.config.keepDays, logs: 1 } } };
  await deps.db.tx((tx) => startRetention(tx, shorter));
  await deps.db.tx((tx) => startRetention(tx, shorter));
  const { rows } = await deps.queue.list(deps.db.read, { limit: 100, offset: 0 });
  const sweeps = rows.filter(({ kind }) => kind === RETENTION_JOB).sort((a, b) => a.runAt - b.runAt);
  expect(sweeps.map(({ runAt }) => new Date(runAt).toISOString())).toEqual(["2026-01-03T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]);
  const run = (sweep: JobRow | undefined) =>
    sweepRecords(
      shorter,
      RETENTION,
    )({ id: "1", kind: RETENTION_JOB, payload: sweep?.payload ?? {}, attempt: 1, interruptions: 0, maxAttempts: 10 });
  expect(await run(sweeps[0])).toHaveProperty("commit");
  expect(await run(sweeps[1])).toEqual({});
});

test("statistics of landing pages are deleted by day; the page stays", async () => {
  await using world = await createWorld({ flags: { keep: "stats=5" } });
  const { db } = world.app.deps;
  await using made = await withAgent(world);
  const page = await made.agent.client.landingPages.create({ title: "Spring", slug: "spring", html: "<p>Hello</p>" });
  const dates = ["2025-12-01", "2025-12-02", "2025-12-03", "2025-12-04", "2026-01-01", "2026-01-02", "2026-01-06"];
  await db.tx(async (tx) => {
    const { landingPageDays: d, landingPageReferrers: r } = tx.t;
    await tx.insert(d).values(dates.map((date) => ({ pageId: page.id, date, views: 2, visitors: 1, submissions: 0 })));
    await tx.insert(r).values(dates.flatMap((date) => ["a", "b"].map((host) => ({ pageId: page.id, date, host, views: 1 }))));
  });
  await world.clock.advance("6d");
  const { landingPageDays: d, landingPageReferrers: r } = db.read.t;
  const left = await db.read.select({ date: d.date }).from(d).orderBy(asc(d.date));
  // Five full days before the seventh.
  expect(left.map(({ date }) => date)).toEqual(["2026-01-02", "2026-01-06"]);
  expect(await db.read.$count(r)).toBe(4);
  expect((await world.sdk.landingPages.get(page.id)).title).toBe("Spring");
});

test("records kept forever are not deleted", async () => {
  await using world = await createWorld({ flags: { keep: "logs=forever,runs=forever,deliveries=forever" } });
  await using made = await withAgent(world);
  const { client } = made.agent;
  await client.runs.start({ runId: "run-old-1" });
  await client.runs.log({ runId: "run-old-1", entries: [{ message: "x" }] });
  await client.runs.complete({ runId: "run-old-1" });
  await world.clock.advance("25d");
  const after = await client.runs.logs("run-old-1").then(
    ({ data }) => data.length,
    (error: unknown) => isApiError(error),
  );
  expect(after).toBe(1);
});
