import { describe, expect, onTestFinished, test } from "vitest";
import { masterKey, perform } from "../test/perform.ts";
import { createAgent } from "./agent.ts";
import type { Run } from "./run.ts";
import type { AgentClock } from "./runtime.ts";
import { memoryStore } from "./stores/memory.ts";
import { TestMarketplace } from "./testing.ts";

/** Runs that wait at the same time: as many as an activation may have. */
const RUNS = 15;
const QUESTION = { title: "Go?", text: "Shall I?" };

const ended = async ({ market, activation }: Pick<Awaited<ReturnType<typeof perform>>, "market" | "activation">) =>
  market.until("the end", async () => {
    const [run] = await activation.runs();
    return run?.status === "COMPLETED" || run?.status === "FAILED" ? run : null;
  });

describe("a wait inline", () => {
  test("ends the delivery it stands in, and the answer goes on with the run", async () => {
    const world = await perform(
      async (run) => {
        await run.step("draft", async () => "page");
        const { decision } = await run.approval("go", QUESTION);
        const { payload } = await run.wakeup("later", { delaySeconds: 3600, payload: { page: 7 } });
        return { summary: decision, output: payload };
      },
      { mode: "inline" },
    );
    const { market, activation } = world;
    const deliveries = async () =>
      (await market.world.builder.sdk.deliveries.list("agent-under-test").toArray()).map((d) => [d.type, d.state]);
    expect(await deliveries()).toEqual([["agent.activated", "delivered"]]);
    expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
    await market.advance("2d");
    await activation.answer("approve");
    expect(await activation.runs()).toMatchObject([{ status: "WAITING", waitingFor: "wakeup" }]);
    await market.advance("1h");
    expect(await ended(world)).toMatchObject({ status: "COMPLETED", summary: "approved", output: { page: 7 } });
    expect(new Set((await deliveries()).map(([, state]) => state))).toEqual(new Set(["delivered"]));
    expect(await activation.runs()).toHaveLength(1);
  });

  test("fails the run when its work throws after the answer", async () => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const store = memoryStore();
    let crashes = 1;
    const serve = () =>
      market.serve(
        createAgent({ ...market.options, store, masterKey, mode: "inline", leaseMs: 50 }).on("agent.activated", (ctx) =>
          ctx.run({}, async (run) => {
            const { decision } = await run.approval("go", QUESTION);
            if (crashes-- > 0) throw Object.assign(new Error("The connection broke."), { code: "x" });
            return { summary: decision };
          }),
        ),
      );
    serve();
    const activation = await market.activate();
    await activation.answer("approve");
    expect(await ended({ market, activation } as never)).toMatchObject({ status: "FAILED" });
  });

  test("is continued by the next delivery of the answer when the service cannot be reached", async () => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    let refusals = 5;
    const fetch: typeof globalThis.fetch = async (input, init) =>
      String(input).endsWith("/credits/consume") && refusals-- > 0
        ? Response.json({}, { status: 503, headers: { "retry-after": "0" } })
        : market.options.fetch(input, init);
    market.serve(
      createAgent({ ...market.options, fetch, store: memoryStore(), masterKey, mode: "inline" }).on("agent.activated", (ctx) =>
        ctx.run({}, async (run) => {
          const { decision } = await run.approval("go", QUESTION);
          await run.credits("publish", { amount: 5 });
          return { summary: decision };
        }),
      ),
    );
    const activation = await market.activate();
    await activation.answer("approve");
    await market.advance("10s");
    expect(await ended({ market, activation } as never)).toMatchObject({ status: "COMPLETED", summary: "approved" });
    expect([refusals < 0, await activation.balance()]).toEqual([true, 995]);
  });

  test("is held over a pause, and goes on after it", async () => {
    const world = await perform(async (run) => ({ summary: (await run.approval("go", QUESTION)).decision }), { mode: "inline" });
    const { activation, market } = world;
    await activation.pause();
    await activation.answer("approve");
    await market.advance("1h");
    expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
    await activation.resume();
    expect(await ended(world)).toMatchObject({ status: "COMPLETED", summary: "approved" });
  });
});

test("waiting runs cost no call of the store, no timer and no promise", async () => {
  const inner = memoryStore();
  let calls = 0;
  const counted =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      calls += 1;
      return call(...args);
    };
  const store = { get: counted(inner.get), swap: counted(inner.swap), list: inner.list };
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  // Passes of the work that have not ended, and timers of the kit.
  let [open, timers] = [0, 0];
  const clock: AgentClock = {
    now: market.options.clock.now,
    after: (ms, fire) => {
      timers += 1;
      let isOver = false;
      const end = (): void => {
        if (!isOver) timers -= 1;
        isOver = true;
      };
      const cancel = market.options.clock.after(ms, () => {
        end();
        fire();
      });
      return () => {
        end();
        cancel();
      };
    },
  };
  const pass = async (run: Run) => ({ summary: (await run.approval("go", QUESTION)).decision });
  market.serve(
    createAgent({ ...market.options, clock, store, masterKey, leaseMs: 100 })
      .on("agent.activated", () => {})
      .on("message.posted", (ctx) => {
        open += 1;
        return ctx.run({}, pass).finally(() => {
          open -= 1;
        });
      })
      .start(),
  );
  const activation = await market.activate();
  const isAtRest = async () => (await inner.list("event/")).length === 0;
  await market.until("rest", isAtRest);
  const idle = { timers, handles: process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length };
  for (let n = 0; n < RUNS; n += 1) await activation.say(`${n}`);
  await market.until("the runs", async () => (await activation.runs()).length === RUNS && (await isAtRest()));
  const before = calls;
  // Three scans of the worker.
  await new Promise((done) => setTimeout(done, 300));
  expect([calls - before, open, timers]).toEqual([0, 0, idle.timers]);
  expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBeLessThan(idle.handles + RUNS / 2);
  expect(new Set((await activation.runs()).map(({ status }) => status))).toEqual(new Set(["WAITING"]));
});

test("several waits at once go on with the first answer, and each question is asked once", async () => {
  const order: string[] = [];
  const world = await perform(async (run) => {
    const ask = async (name: string) => {
      const { decision } = await run.approval(name, { ...QUESTION, title: name });
      await run.step(`after-${name}`, async () => order.push(name));
      return decision;
    };
    return { summary: (await Promise.all([ask("one"), ask("two")])).join() };
  });
  const { market, activation } = world;
  await market.until("both questions", async () => (await activation.messages()).length === 2);
  await activation.answer("approve");
  await market.until("the first", () => order.length === 1);
  expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
  await activation.answer("reject");
  expect(await ended(world)).toMatchObject({ status: "COMPLETED" });
  expect([...order].sort()).toEqual(["one", "two"]);
  expect((await activation.messages()).filter(({ type }) => type === "APPROVAL_REQUEST")).toHaveLength(2);
});

test("runs of one event that wait go on one by one", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const work = (name: string) => async (run: Run) => ({
    summary: `${name} ${(await run.approval("go", { ...QUESTION, title: name })).decision}`,
  });
  market.serve(
    createAgent({ ...market.options }).on("agent.activated", (ctx) => Promise.all([ctx.run({}, work("a")), ctx.run({}, work("b"))])),
  );
  const activation = await market.activate();
  await market.until("both questions", async () => (await activation.messages()).length === 2);
  await activation.answer("approve");
  await market.until("one end", async () => (await activation.runs()).filter(({ status }) => status === "COMPLETED").length === 1);
  await activation.answer("approve");
  await market.until("both ends", async () => (await activation.runs()).every(({ status }) => status === "COMPLETED"));
});

test("a wait inside of a step ends the pass too, and the step begins again with what is done inside of it", async () => {
  const effects: string[] = [];
  const world = await perform(async (run) => {
    const decision = await run.step("outer", async () => {
      await run.step("inner", async () => effects.push("inner"));
      return (await run.approval("go", QUESTION)).decision;
    });
    await run.step("inner", async () => effects.push("other"));
    return { summary: decision };
  });
  await world.market.until("the event to be laid aside", async () => (await world.store.list("event/")).length === 0);
  await world.activation.answer("approve");
  expect(await ended(world)).toMatchObject({ status: "COMPLETED", summary: "approved" });
  expect(effects).toEqual(["inner", "other"]);
});

test("work that catches the end of its pass neither completes nor fails the run", async () => {
  const world = await perform(async (run) => {
    try {
      return { summary: (await run.approval("go", QUESTION)).decision };
    } catch {
      return { summary: "caught" };
    }
  });
  await world.market.until("the event to be laid aside", async () => (await world.store.list("event/")).length === 0);
  expect(await world.activation.runs()).toMatchObject([{ status: "WAITING" }]);
  await world.activation.answer("approve");
  expect(await ended(world)).toMatchObject({ status: "COMPLETED", summary: "approved" });
});
