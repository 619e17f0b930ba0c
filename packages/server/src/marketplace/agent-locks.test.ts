import { getTableName } from "drizzle-orm";
import { expect, test } from "vitest";
import { withAgent } from "../../test/agent-at-work.ts";
import type { Tx } from "../db/db.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const WORK = ["activations", "runs", "approvals", "wakeups", "messages"];

/** Records for each transaction which tables of an activation it writes, in order. */
const watch = ({ app }: TestWorld): string[][] => {
  const db = app.deps.db as { tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T> };
  const { tx } = db;
  const seen: string[][] = [];
  db.tx = (fn) =>
    tx.call(db, (open) => {
      const written: string[] = [];
      seen.push(written);
      const watched = Object.create(open) as Tx;
      for (const verb of ["insert", "update"] as const)
        watched[verb] = ((table: Parameters<Tx["update"]>[0]) => {
          const name = getTableName(table);
          if (WORK.includes(name) && !written.includes(name)) written.push(name);
          return open[verb](table);
        }) as unknown as Tx["insert"] & Tx["update"];
      return fn(watched);
    }) as ReturnType<typeof tx<never>>;
  return seen;
};

test("transactions that write several rows of an activation lock it first, so that none deadlock", async () => {
  await using world = await createWorld({ flags: { "rate-limit": "message=1000/min" } });
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  await world.settle();
  const seen = watch(world);
  const asked = async (runId: string) => {
    const approval = { title: "?", expiresInSeconds: 60 };
    await client.wakeups.create({ delaySeconds: 600, reason: "x", runId, suspendRun: true });
    return client.messages.create({ type: "APPROVAL_REQUEST", text: "?", runId, approval });
  };
  const begun = async () => {
    const { runId } = await client.runs.start();
    return { runId, question: await asked(runId) };
  };
  const one = await begun();
  await world.sdk.messages.answer(one.question.id, { decision: "approve" });
  await world.sdk.messages.create(activationId, { text: "Well?", inReplyTo: (await asked(one.runId)).id });
  await client.runs.log({ runId: one.runId });
  await client.runs.complete({ runId: one.runId });
  const two = await begun();
  await client.messages.cancel(two.question.id, {});
  await client.runs.fail({ runId: two.runId, error: { code: "x", message: "y" } });
  const three = await begun();
  for (const { wakeupId } of (await client.wakeups.list({ status: "SCHEDULED" })).data) await client.wakeups.cancel(wakeupId);
  await world.sdk.runs.cancel(activationId, three.runId, { force: true });
  // The request expires, the wakeup fires, the window ends; then the agent is deactivated during a run.
  await begun();
  await world.clock.advance("1h");
  await begun();
  await world.sdk.activations.pause(activationId);
  await world.clock.advance("20m");
  await world.sdk.activations.resume(activationId);
  await world.sdk.activations.deactivate(activationId);
  const several = seen.filter((tables) => tables.length > 1);
  expect(new Set(several.flat())).toEqual(new Set(WORK));
  expect(several.map(([first]) => first)).toEqual(several.map(() => "activations"));
});
