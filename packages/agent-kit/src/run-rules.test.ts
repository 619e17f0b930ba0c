import { describe, expect, test } from "vitest";
import { never, pass, perform, type Work } from "../test/perform.ts";
import { createAgent } from "./agent.ts";
import type { Run, RunOptions } from "./run.ts";

describe("names", () => {
  test("that are used again one after the other are numbered, also when the work is repeated", async () => {
    const effects: string[] = [];
    let holds = true;
    const { market, activation, restart } = await perform(async (run) => {
      const found: string[] = [];
      for (const list of ["A", "B", "C"])
        found.push(
          await run.step("list", async () => {
            effects.push(list);
            return list;
          }),
        );
      await run.credits("audit", { amount: 3 });
      await run.credits("audit", { amount: 5 });
      if (holds) await never(run.signal);
      return { summary: found.join() };
    });
    await market.until("credits spent", async () => (await activation.balance()) === 992);
    holds = false;
    await restart();
    await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
    expect([effects, (await activation.runs())[0]?.summary, await activation.balance()]).toEqual([["A", "B", "C"], "A,B,C", 992]);
  });

  test("of one kind are not those of another", async () => {
    const published: string[] = [];
    const { activation } = await perform(async (run) => {
      const { approved } = await run.approval("publish", { title: "Publish?", text: "Ready." });
      const result = await run.step("publish", async () => published.push("page"));
      await run.credits("publish", { amount: 2 });
      return { summary: `${approved} ${result}` };
    });
    await activation.answer("approve");
    expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "true 1" }]);
    expect([published, await activation.balance()]).toEqual([["page"], 998]);
  });

  test("that are used twice at the same time are refused, as their order may differ in a repetition", async () => {
    const { activation } = await perform(async (run) => {
      await Promise.all(["A", "B"].map((list) => run.step("list", async () => list)));
    });
    expect(await activation.runs()).toMatchObject([
      { status: "FAILED", error: { code: "usage", message: expect.stringContaining('The step "list" is at work already') } },
    ]);
  });
});

describe("what JSON cannot carry is refused with its place", () => {
  class Page {
    readonly title = "Hello";
  }
  const circle: { self?: unknown } = {};
  circle.self = circle;
  test.each<[unknown, string]>([
    [new Map([["a", 1]]), 'The result of the step "bad" is a Map'],
    [{ at: new Date(0) }, 'The result of the step "bad".at is a Date'],
    [{ pages: [{ tags: new Set() }] }, 'The result of the step "bad".pages[0].tags is a Set'],
    [{ amount: Number.NaN }, '"bad".amount is NaN'],
    [[undefined], '"bad"[0] is undefined'],
    [10n, "is a bigint"],
    [{ next: () => {} }, '"bad".next is a function'],
    [new Page(), "is a Page"],
    [circle, '"bad".self contains itself'],
  ])("%o", async (value, message) => {
    const { activation } = await perform(async (run) => {
      await run.step<unknown>("bad", async () =>
        typeof value === "object" && value !== null && "then" in value ? { nested: value } : value,
      );
    });
    expect(await activation.runs()).toMatchObject([
      { status: "FAILED", error: { code: "usage", message: expect.stringContaining(message) } },
    ]);
  });

  test("as a checkpoint, as data of the log, and as the output", async () => {
    const works: Work[] = [
      (run) => run.checkpoint<unknown>({ at: new Date(0) }),
      async (run) => run.log("Hello", { data: new Map() }),
      async () => ({ output: { at: new Date(0) } }),
    ];
    for (const work of works) {
      const { activation } = await perform(work);
      expect(await activation.runs()).toMatchObject([{ status: "FAILED", error: { code: "usage" } }]);
    }
  });

  test("plain values come back as they were, undefined fields left out", async () => {
    const { activation } = await perform(async (run) => {
      const value = await run.step("good", async () => ({ list: [1, "a", null, true], none: undefined, deep: { ü: "✉" } }));
      await run.step("nothing", async () => {});
      return { output: value };
    });
    expect((await activation.runs())[0]?.output).toEqual({ list: [1, "a", null, true], deep: { ü: "✉" } });
  });

  test("also by the types", () => {
    const run = {} as Run;
    const typed = (_work: () => unknown): void => {};
    // @ts-expect-error a Map
    typed(() => run.step("a", async () => new Map([["a", 1]])));
    // @ts-expect-error a Date in a field
    typed(() => run.step("a", async () => ({ at: new Date() })));
    // @ts-expect-error a checkpoint with a Set
    typed(() => run.checkpoint({ seen: new Set<string>() }));
    typed(() => run.step("a", async () => ({ at: "now", pages: [{ id: 1 }], none: null })));
    const agent = createAgent({ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" });
    // @ts-expect-error a misspelt field
    agent.on("agent.activated", (ctx) => ctx.run({}, async () => ({ sumary: "x" })));
    // @ts-expect-error an unknown field next to a known one
    agent.on("agent.activated", (ctx) => ctx.run({}, async () => ({ summary: "x", metrix: {} })));
    agent.on("agent.activated", (ctx) =>
      ctx.run({}, async (run) => (run.id === "" ? { summary: "x" } : { summary: "y", output: { words: 1 }, metrics: { words: 1 } })),
    );
  });
});

describe("limits of the work", () => {
  test("a budget of an hour is not spent while the brand thinks for two days", async () => {
    const { market, activation } = await perform(
      async (run) => ({ summary: (await run.approval("publish", { title: "Publish?", text: "Ready." })).decision }),
      {},
      { maxDurationMs: 3_600_000 },
    );
    await market.advance("2d");
    expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
    await activation.answer("approve");
    expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "approved" }]);
  });

  test("a budget of an hour ends work that goes on for longer, also beside a wait", async () => {
    const { market, activation } = await perform(
      async (run) => {
        const answer = run.approval("publish", { title: "Publish?", text: "Ready." });
        await run.step("draft", () => never(run.signal));
        await answer;
      },
      {},
      { maxDurationMs: 3_600_000 },
    );
    await market.advance("59m");
    expect(await activation.runs()).not.toMatchObject([{ status: "FAILED" }]);
    await market.advance("2m");
    expect(await activation.runs()).toMatchObject([{ status: "FAILED", error: { code: "max_duration" } }]);
  });

  test("what was worked before a restart counts", async () => {
    const { market, activation, restart } = await perform(
      async (run, market) => {
        for (let n = 0; n < 20; n += 1) {
          await run.step("sleep", () => pass(market, 600_000, run.signal));
        }
      },
      {},
      { maxDurationMs: 3_600_000 },
    );
    await market.advance("35m");
    await restart();
    await market.advance("35m");
    await market.until("the end", async () => (await activation.runs())[0]?.status === "FAILED");
    expect(await activation.runs()).toMatchObject([{ error: { code: "max_duration" } }]);
  });

  test("work that hangs is ended after an hour of silence, although nothing else was said, and its event is done", async () => {
    const { market, activation, errors } = await perform(async (run) => {
      run.log("Now I hang.");
      await new Promise(() => {});
    });
    await market.advance("59m");
    expect(await activation.runs()).toMatchObject([{ status: "RUNNING" }]);
    await market.advance("2m");
    expect(await activation.runs()).toMatchObject([{ status: "FAILED", error: { code: "max_silence" } }]);
    expect(errors).toMatchObject([{ code: "run_ended" }]);
  });

  test("work that says something now and then goes on", async () => {
    const { market, activation } = await perform(async (run, market) => {
      for (;;) {
        await pass(market, 1_800_000, run.signal);
        run.progress(1);
      }
    });
    await market.advance("5h");
    expect(await activation.runs()).toMatchObject([{ status: "RUNNING" }]);
  });

  test("limits that are none are refused, and so are unknown options", async () => {
    for (const [options, message] of [
      [{ maxDurationMs: 0 }, "maxDurationMs must be"],
      [{ maxDurationMS: 5 }, 'there is no option "maxDurationMS". Did you mean "maxDurationMs"?'],
    ] as const) {
      const { errors } = await perform(async () => {}, {}, options as RunOptions);
      expect(errors).toMatchObject([{ code: "usage", message: expect.stringContaining(message) }]);
    }
  });
});
