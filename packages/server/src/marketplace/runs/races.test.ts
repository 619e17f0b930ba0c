import { ApiError } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { expectRaced, watchOverlap } from "../../../test/overlap.ts";
import { propertyRuns } from "../../../test/property-runs.ts";
import { seededRandom } from "../../lib/random.ts";
import { createWorld } from "../../testing.ts";

const ROUNDS = propertyRuns(25);
const RUNS = ROUNDS * 20;

const outcome = (work: Promise<{ status: string }>): Promise<string> =>
  work.then(
    ({ status }) => status,
    (error: unknown) => {
      if (error instanceof ApiError) return error.code;
      throw error;
    },
  );

test("a run completed in the instant its window ends has one end, and one event if it failed", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const random = seededRandom(7);
  const turns = async (n: number): Promise<void> => {
    for (let i = 0; i < n; i += 1) await new Promise(setImmediate);
  };
  const answers = new Map<string, string>();
  const overlap = watchOverlap(world);
  let repeats = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = await Promise.all(Array.from({ length: 20 }, (_, n) => client.runs.start({ runId: `run-${round}-number-${n}` })));
    await world.clock.advance("14m59s999ms");
    overlap.repeats = 0;
    let ended = 0;
    const ends = started.map(async ({ runId }) => {
      await turns(Math.floor(random.fraction() * 12));
      answers.set(runId, await outcome(client.runs.complete({ runId })));
      ended += 1;
    });
    // Counts outcomes instead of time, since the databases differ in speed.
    const early = Math.floor(random.fraction() * 16);
    while (ended < early) await turns(1);
    await Promise.all([...ends, world.clock.advance("1ms")]);
    repeats += overlap.repeats;
  }
  await world.settle();
  const told = await heard("run_force_failed");
  const failed = new Set<string | null>(told.map(({ runId }) => runId ?? null));
  expect(failed.size).toBe(told.length);
  const statuses = new Map<string, string>();
  for await (const run of world.sdk.runs.list(activationId, { limit: 100 })) statuses.set(run.runId, run.status);
  expect(statuses.size).toBe(RUNS);
  for (const [runId, status] of statuses) {
    expect([runId, answers.get(runId), status]).toEqual([runId, status === "COMPLETED" ? "COMPLETED" : "invalid_state", status]);
    expect(failed.has(runId)).toBe(status === "FAILED");
  }
  // Otherwise there was no race.
  expect(failed.size).toBeGreaterThan(0);
  expect(failed.size).toBeLessThan(RUNS);
  expectRaced(world, { ...overlap, repeats });
}, 240_000);

test("of concurrent complete, fail, cancel and cancel by the brand one wins, and the others learn which", async () => {
  await using world = await createWorld({ flags: { "rate-limit": "agent=10000/min" } });
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  for (let round = 0; round < 25; round += 1) {
    const { runId } = await client.runs.start();
    const done = await Promise.all([
      outcome(client.runs.complete({ runId })),
      outcome(client.runs.fail({ runId, error: { code: "x", message: "y" } })),
      outcome(client.runs.cancel({ runId })),
      outcome(world.sdk.runs.cancel(activationId, runId, { force: true })),
    ]);
    const { status } = await client.runs.get(runId);
    expect(new Set(done.filter((d) => d !== "invalid_state"))).toEqual(new Set([status]));
  }
});

test("of concurrent starts at most twenty runs are active, and one runId makes one run", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const same = await Promise.all(Array.from({ length: 10 }, () => client.runs.start({ runId: "the-same-run", title: "x" })));
  expect(new Set(same.map(({ startedAt, runId }) => `${runId} ${startedAt}`)).size).toBe(1);
  expect((await client.runs.list()).pagination.total).toBe(1);
  const done = await Promise.allSettled(Array.from({ length: 30 }, () => client.runs.start()));
  expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(19);
});
