import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { agentPath, payFor } from "../../../test/marketplace.ts";
import { expectRaced, watchOverlap } from "../../../test/overlap.ts";
import { ask } from "../../../test/scenario.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

/** Checks that the balance is the sum of the ledger. */
const expectBalanced = async ({ app, workspaceId, sdk }: TestWorld): Promise<void> => {
  const { creditEntries: e, creditBalances: b } = app.deps.db.read.t;
  const entries = await app.deps.db.read.select().from(e).where(eq(e.workspaceId, workspaceId)).orderBy(e.id);
  const [row] = await app.deps.db.read.select().from(b).where(eq(b.workspaceId, workspaceId));
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(row?.balance ?? 0);
  expect((await sdk.credits.get()).balance).toBe(row?.balance ?? 0);
  expect(entries.every(({ balanceAfter }) => balanceAfter >= 0)).toBe(true);
};

test("granting, spending and refunding credits each add a ledger entry", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const { runId } = await client.runs.start();
  expect(await world.sdk.credits.get()).toEqual({ balance: 0 });
  expect(await world.sdk.credits.grant({ amount: 100, description: "March" })).toMatchObject({
    kind: "grant",
    amount: 100,
    balanceAfter: 100,
    activationId: null,
    description: "March",
  });
  const spent = await client.credits.consume({ amount: 30, action: "draft-page", runId, units: { words: 400 } });
  expect(spent).toEqual({
    transactionId: expect.stringMatching(/^ctx_/),
    kind: "consume",
    amount: 30,
    action: "draft-page",
    runId,
    description: null,
    units: { words: 400 },
    refundOf: null,
    balanceAfter: 70,
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  expect(await client.credits.refund(spent.transactionId, { amount: 10, reason: "Shorter than thought" })).toMatchObject({
    kind: "refund",
    amount: 10,
    balanceAfter: 80,
    refundOf: spent.transactionId,
    description: "Shorter than thought",
  });
  expect(await client.credits.get()).toEqual({ balance: 80, periodLimit: null, periodUsed: 20, resetsAt: "2026-02-01T00:00:00.000Z" });
  expect((await client.runs.get(runId)).creditsConsumed).toBe(20);
  expect((await world.sdk.credits.list()).data.map((e) => [e.kind, e.amount, e.balanceAfter, e.activationId])).toEqual([
    ["refund", 10, 80, activationId],
    ["consume", -30, 70, activationId],
    ["grant", 100, 100, null],
  ]);
  expect((await client.credits.list({ runId })).data).toHaveLength(2);
  expect((await world.sdk.credits.list({ kind: "grant" })).pagination.total).toBe(1);
  await expectBalanced(world);
});

test("of a hundred concurrent requests for one credit, sixty succeed with a balance of sixty", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { activationId, key } = made.agent;
  await world.sdk.credits.grant({ amount: 60 });
  const overlap = watchOverlap(world);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      ask(world, {
        path: agentPath(activationId, "/credits/consume"),
        key,
        headers: { "idempotency-key": `k${n}` },
        body: { amount: 1, action: "draft" },
      }),
    ),
  );
  expectRaced(world, overlap);
  const statuses = answers.map(({ status }) => status);
  expect([statuses.filter((s) => s === 201).length, statuses.filter((s) => s === 402).length]).toEqual([60, 40]);
  expect(await world.sdk.credits.get()).toEqual({ balance: 0 });
  expect(await made.agent.client.credits.get()).toMatchObject({ balance: 0, periodUsed: 60 });
  await expectBalanced(world);
});

test("repeats with the same Idempotency-Key spend once, also concurrently", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { activationId, key } = made.agent;
  await world.sdk.credits.grant({ amount: 60 });
  const consume = (amount: number) =>
    ask(world, {
      path: agentPath(activationId, "/credits/consume"),
      key,
      headers: { "idempotency-key": "one" },
      body: { amount, action: "draft" },
    });
  const answers = await Promise.all(Array.from({ length: 20 }, () => consume(7)));
  const bodies = await Promise.all(answers.map((a) => a.text()));
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([201]));
  expect(new Set(bodies).size).toBe(1);
  expect(answers.filter((a) => a.headers.get("idempotency-replayed") === "true")).toHaveLength(19);
  expect(await world.sdk.credits.get()).toEqual({ balance: 53 });
  const other = await consume(8);
  expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([409, "idempotency_key_reused"]);
});

test("without an Idempotency-Key nothing is spent", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  await world.sdk.credits.grant({ amount: 60 });
  const { activationId, key } = made.agent;
  const answer = await ask(world, {
    path: agentPath(activationId, "/credits/consume"),
    key,
    body: { amount: 1, action: "draft" },
  });
  expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([400, "idempotency_key_required"]);
  expect(await world.sdk.credits.get()).toEqual({ balance: 60 });
});

test("spending more than the balance is refused as a whole, with the balance in the message", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  await world.sdk.credits.grant({ amount: 5 });
  await expect(made.agent.client.credits.consume({ amount: 6, action: "draft" })).rejects.toMatchObject({
    status: 402,
    code: "insufficient_credits",
    message: "This needs 6 credits, but the balance is 5.",
    details: [{ path: "amount", code: "balance" }],
  });
  expect(await world.sdk.credits.get()).toEqual({ balance: 5 });
});

test("an agent spends at most its monthly limit; the next month starts at zero", async () => {
  await using world = await createWorld({ now: "2026-01-31T12:00:00Z" });
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  await world.sdk.credits.grant({ amount: 1000 });
  await world.sdk.activations.update(activationId, { creditLimit: 10 });
  const spent = await client.credits.consume({ amount: 10, action: "draft" });
  await expect(client.credits.consume({ amount: 1, action: "draft" })).rejects.toMatchObject({
    status: 402,
    details: [{ code: "period_limit" }],
  });
  await client.credits.refund(spent.transactionId, { amount: 4, reason: "Less" });
  await client.credits.consume({ amount: 4, action: "draft" });
  await expect(client.credits.consume({ amount: 1, action: "draft" })).rejects.toMatchObject({ status: 402 });
  expect(await client.credits.get()).toMatchObject({ periodLimit: 10, periodUsed: 10, resetsAt: "2026-02-28T12:00:00.000Z" });
  await payFor(world.builder.sdk, "writer");
  await world.clock.advance("28d");
  await client.credits.consume({ amount: 10, action: "draft" });
  await expectBalanced(world);
});

test("a refund of last month's spending does not extend this month's limit, and months keep their day", async () => {
  await using world = await createWorld({ now: "2026-01-31T12:00:00Z" });
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  await world.sdk.credits.grant({ amount: 1000 });
  await world.sdk.activations.update(activationId, { creditLimit: 10 });
  await payFor(world.builder.sdk, "writer");
  await payFor(world.builder.sdk, "writer");
  const spend = (amount: number) => client.credits.consume({ amount, action: "draft" });
  await world.clock.advance("27d1h");
  const before = await spend(6);
  await world.clock.advance("22h59m59s999ms");
  await spend(4);
  await expect(spend(1)).rejects.toMatchObject({ status: 402 });
  await world.clock.advance("1ms");
  expect(await client.credits.get()).toMatchObject({ periodUsed: 0, resetsAt: "2026-03-31T12:00:00.000Z" });
  await spend(10);
  await client.credits.refund(before.transactionId, { amount: 5, reason: "Of last month" });
  expect(await client.credits.get()).toMatchObject({ periodUsed: 10, balance: 985 });
  await expect(spend(1)).rejects.toMatchObject({ status: 402, details: [{ code: "period_limit" }] });
  await expectBalanced(world);
});

test("two agents spending concurrently stay within the balance and their limits", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  await world.sdk.activations.update(activationId, { creditLimit: 7 });
  await world.sdk.credits.grant({ amount: 100 });
  const done = await Promise.allSettled(Array.from({ length: 12 }, () => client.credits.consume({ amount: 2, action: "draft" })));
  expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(await world.sdk.credits.get()).toEqual({ balance: 94 });
});

test("credits can be refunded within a day, up to the amount spent", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  await world.sdk.credits.grant({ amount: 100 });
  const spent = await client.credits.consume({ amount: 30, action: "draft" });
  await expect(client.credits.refund(spent.transactionId, { amount: 31, reason: "x" })).rejects.toMatchObject({ code: "already_refunded" });
  const back = await Promise.allSettled(
    Array.from({ length: 8 }, () => client.credits.refund(spent.transactionId, { amount: 10, reason: "x" })),
  );
  expect(back.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  await expect(client.credits.refund(spent.transactionId, { reason: "x" })).rejects.toMatchObject({
    code: "already_refunded",
    details: [{ code: "already_refunded" }],
  });
  expect(await world.sdk.credits.get()).toEqual({ balance: 100 });
  const refund = (await client.credits.list()).data[0];
  await expect(client.credits.refund(refund?.transactionId ?? "", { reason: "x" })).rejects.toMatchObject({ code: "invalid_state" });
  const late = await client.credits.consume({ amount: 1, action: "draft" });
  await world.clock.advance("24h");
  await expect(client.credits.refund(late.transactionId, { reason: "x" })).rejects.toMatchObject({
    code: "invalid_state",
    details: [{ code: "refund_window_over" }],
  });
  await expectBalanced(world);
});

test("a balance has an upper limit", async () => {
  await using world = await createWorld();
  await world.sdk.credits.grant({ amount: 1_000_000_000 });
  await world.sdk.credits.grant({ amount: 1_000_000_000 });
  await expect(world.sdk.credits.grant({ amount: 1 })).rejects.toMatchObject({ code: "limit_reached", status: 409 });
  expect(await world.sdk.credits.get()).toEqual({ balance: 2_000_000_000 });
});
