import { expect, onTestFinished, test } from "vitest";
import { createAgent } from "./agent.ts";
import type { TelemetrySpan } from "./index.ts";
import { TestMarketplace } from "./testing.ts";

test("an event whose handler fails is tried again with growing waits, and given up in the end", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const attempts: number[] = [];
  const failures: unknown[] = [];
  market.serve(
    createAgent({ ...market.options, maxAttempts: 4 })
      .on("agent.activated", ({ attempt }) => {
        attempts.push(attempt);
        throw new Error("no");
      })
      .onError((_error, { attempt, willRetry }) => failures.push([attempt, willRetry])),
  );
  await market.activate();
  expect(attempts).toEqual([1]);
  await market.advance("2s");
  expect(attempts).toEqual([1, 2]);
  await market.advance("10m");
  expect(attempts).toEqual([1, 2, 3, 4]);
  await market.advance("1d");
  expect(failures).toEqual([
    [1, true],
    [2, true],
    [3, true],
    [4, false],
  ]);
});

test("an event that was given up is listed with its error, and replayed with all its attempts", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  let fails = true;
  const attempts: number[] = [];
  const agent = createAgent({ ...market.options, maxAttempts: 2 }).on("agent.activated", ({ attempt }) => {
    attempts.push(attempt);
    if (fails) throw new Error("The database is away.");
  });
  market.serve(agent.start());
  const { id } = await market.activate();
  await market.advance("1m");
  const dead = await agent.deadEvents();
  expect(dead).toMatchObject([{ error: "The database is away.", event: { type: "agent.activated", activationId: id } }]);
  expect(JSON.stringify(dead)).not.toContain("apiKey");
  fails = false;
  expect([await agent.replay("unknown"), await agent.replay(dead[0]?.key ?? "")]).toEqual([false, true]);
  await market.until("the replay", () => attempts.length === 3);
  expect(attempts).toEqual([1, 2, 1]);
  expect(await agent.deadEvents()).toEqual([]);
});

test("no more events are worked on at once than the limits say, and all of them in the end", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const open = { now: 0, most: 0, done: 0 };
  const gates: (() => void)[] = [];
  market.serve(
    createAgent({ ...market.options, concurrency: { total: 3, perActivation: 2 } }).on("message.posted", async () => {
      open.now += 1;
      open.most = Math.max(open.most, open.now);
      await new Promise<void>((go) => gates.push(go));
      open.now -= 1;
      open.done += 1;
    }),
  );
  const activation = await market.activate();
  for (let i = 0; i < 6; i += 1) await activation.say(`${i}`);
  expect(open).toEqual({ now: 2, most: 2, done: 0 });
  while (open.done < 6) {
    await market.until("work", () => gates.length > 0);
    for (const go of gates.splice(0)) go();
    await market.settle();
  }
  expect(open).toEqual({ now: 0, most: 2, done: 6 });
});

test("a run that waits for its brand holds up nothing", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  market.serve(
    createAgent({ ...market.options, concurrency: { total: 1 } })
      .on("agent.activated", (ctx) =>
        ctx.run({}, async (run) => ({ summary: (await run.approval("go", { title: "Go?", text: "Shall I?" })).decision })),
      )
      .on("message.posted", (ctx) => ctx.client.messages.create({ text: `You wrote: ${ctx.event.text}` })),
  );
  const activation = await market.activate();
  await activation.say("Hello");
  await market.until("the answer to the message", async () => (await activation.messages()).length === 3);
  expect((await activation.messages()).map(({ text }) => text)).toEqual(["Shall I?", "Hello", "You wrote: Hello"]);
  await activation.answer("approve");
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
});

test("telemetry sees events, runs, steps and calls with their ids, and errors as they are thrown", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const seen: string[] = [];
  const telemetry = async <T>({ name, attributes }: TelemetrySpan, work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      seen.push(`${name} ${attributes["type"] ?? attributes["step"] ?? attributes["endpoint"] ?? ""}`.trim());
      return result;
    } catch (error) {
      seen.push(`${name} failed: ${(error as Error).message}`);
      throw error;
    }
  };
  market.serve(
    createAgent({ ...market.options, telemetry }).on("agent.activated", (ctx) =>
      ctx.run({}, async (run) => {
        await run.step("draft", async () => 1);
        await run.step("fail", async () => {
          throw new Error("No.");
        });
      }),
    ),
  );
  await market.activate();
  expect(seen).toEqual([
    "call runs.start",
    "step draft",
    "step failed: No.",
    "run failed: No.",
    "call runs.fail",
    expect.stringMatching(/^event failed: The run \S+ is over: No\./),
  ]);
});
