import { describe, expect, onTestFinished, test } from "vitest";
import { masterKey, never, perform } from "../test/perform.ts";
import { type Agent, createAgent } from "./agent.ts";
import { AgentDeactivatedError, AgentPausedError, RunEndedError } from "./errors.ts";
import type { Run } from "./run.ts";
import { memoryStore } from "./stores/memory.ts";
import { TestMarketplace } from "./testing.ts";

describe("a run", () => {
  test("starts, logs, reports and completes with what the work returns", async () => {
    const { activation, errors } = await perform(async (run) => {
      run.log("Draft written", { data: { words: 412 } });
      run.progress(50, "half");
      await run.checkpoint({ page: 2 });
      run.log("Almost", { level: "warn" });
      expect(run.lastCheckpoint).toEqual({ page: 2 });
      return { summary: "Done.", output: { url: "x" }, metrics: { words: 412 } };
    });
    const [run] = await activation.runs();
    expect(run).toMatchObject({
      title: "Work",
      status: "COMPLETED",
      trigger: { type: "activation" },
      summary: "Done.",
      output: { url: "x" },
      metrics: { words: 412 },
      progress: { percent: 50, label: "half" },
    });
    expect(await activation.logs(run?.runId ?? "")).toEqual(["Draft written", "Almost"]);
    expect(errors).toEqual([]);
  });

  test("fails once with the error of its work, and the event is not repeated", async () => {
    let calls = 0;
    const { market, activation, errors } = await perform(async () => {
      calls += 1;
      throw Object.assign(new Error("The model\ndid not answer."), { code: "model_unavailable" });
    });
    await market.advance("2h");
    expect(await activation.runs()).toMatchObject([
      { status: "FAILED", error: { code: "model_unavailable", message: "The model did not answer." } },
    ]);
    expect(calls).toBe(1);
    expect(errors).toEqual([expect.any(RunEndedError)]);
  });

  test("sends a heartbeat a minute, so that it outlives any window", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { market, activation } = await perform(() => promise);
    for (let minute = 0; minute < 40; minute += 1) {
      await market.advance("1m");
      const [run] = await activation.runs();
      expect(run?.status).toBe("RUNNING");
      await market.until("a heartbeat of the last two minutes", async () => {
        const [{ lastHeartbeatAt } = { lastHeartbeatAt: null }] = await activation.runs();
        return market.world.clock.now() - Date.parse(lastHeartbeatAt ?? "") <= 120_000;
      });
    }
    resolve();
    await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  });

  test("merges log entries into few calls", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const calls: string[] = [];
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const fetch: typeof globalThis.fetch = (input, init) => {
      calls.push(String(input).split("/").at(-1) ?? "");
      return market.options.fetch(input, init);
    };
    market.serve(
      createAgent({ ...market.options, fetch }).on("agent.activated", (ctx) =>
        ctx.run({}, async (run) => {
          for (let i = 0; i < 120; i += 1) run.log(`Entry ${i}`);
          await promise;
        }),
      ),
    );
    const activation = await market.activate();
    await market.advance("10s");
    expect(calls.filter((call) => call === "log").length).toBeLessThanOrEqual(3);
    const [run] = await activation.runs();
    expect(await activation.logs(run?.runId ?? "")).toEqual(Array.from({ length: 120 }, (_, i) => `Entry ${i}`));
    resolve();
    await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  });

  test("has steps that happen once, also when a restart repeats the work", async () => {
    const effects: string[] = [];
    const keys = new Set<string>();
    let holds = true;
    const { market, activation, restart } = await perform(async (run) => {
      const draft = await run.step("draft", async ({ idempotencyKey }) => {
        effects.push("draft");
        keys.add(idempotencyKey);
        return { words: 3 };
      });
      await run.credits("publish-page", { amount: 5 });
      if (holds) await never(run.signal);
      effects.push(`end ${draft.words}`);
      return { summary: "Published." };
    });
    await market.until("credits spent", async () => (await activation.balance()) === 995);
    await restart();
    await market.settle();
    holds = false;
    await restart();
    await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
    expect(effects).toEqual(["draft", "end 3"]);
    expect(keys.size).toBe(1);
    expect(await activation.balance()).toBe(995);
    expect(await activation.runs()).toHaveLength(1);
  });
});

describe("an approval", () => {
  const publish = async (run: Run) => {
    const { approved, decision, comment } = await run.approval("publish", { title: "Publish?", text: "The page is ready." });
    return { summary: `${approved} ${decision} ${comment}` };
  };

  test.each([
    ["approve", "true approved Nice."],
    ["reject", "false rejected Nice."],
  ])("is asked for once, and the run goes on with the answer: %s", async (decision, summary) => {
    const { activation } = await perform(publish);
    expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
    await activation.answer(decision, "Nice.");
    expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary }]);
    expect((await activation.messages()).map(({ type }) => type)).toEqual(["APPROVAL_REQUEST", "APPROVAL_RESPONSE"]);
  });

  test("is waited for without heartbeats, for days", async () => {
    const { market, activation } = await perform(publish);
    await market.advance("3d");
    const [run] = await activation.runs();
    expect([run?.status, run?.lastHeartbeatAt]).toEqual(["WAITING", run?.startedAt]);
    await activation.answer("approve");
    expect(await activation.runs()).toMatchObject([{ status: "COMPLETED" }]);
  });

  test("expires", async () => {
    const { market, activation } = await perform(publish);
    await market.advance("8d");
    expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", summary: "false expired null" }]);
  });

  test("that was answered while no process ran is found after the restart", async () => {
    const { market, activation, restart } = await perform(publish);
    await restart();
    await activation.answer("approve");
    await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
    expect(await activation.messages()).toHaveLength(2);
    expect(await activation.runs()).toHaveLength(1);
  });
});

test("an answer that another process receives reaches the run", async () => {
  const work = async (run: Run) => ({ summary: (await run.approval("publish", { title: "Publish?", text: "Ready." })).decision });
  const { market, activation, store } = await perform(work);
  const [{ runId } = { runId: "" }] = await activation.runs();
  // The events go to a second process, which shares nothing with the first but the store.
  market.serve(createAgent({ ...market.options, store, masterKey }).on("agent.activated", (ctx) => ctx.run({ title: "Work" }, work)));
  await activation.answer("approve");
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  expect(await activation.runs()).toMatchObject([{ runId, summary: "approved" }]);
});

test("a run that logs while it waits is WAITING again once it can only wait", async () => {
  const { market, activation } = await perform(async (run) => {
    const answer = run.approval("publish", { title: "Publish?", text: "Ready." });
    await run.step("meanwhile", () => run.client.messages.create({ text: "I go on with the images." }));
    for (let i = 0; i < 60; i += 1) run.log(`Image ${i}`);
    return { summary: (await answer).decision };
  });
  await market.until("the wait", async () => (await activation.runs())[0]?.status === "WAITING");
  await market.advance("2h");
  expect((await activation.runs())[0]?.status).toBe("WAITING");
  expect(await activation.logs((await activation.runs())[0]?.runId ?? "")).toHaveLength(60);
  await activation.answer("approve");
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
});

test("a repetition does not log again what the steps before the crash logged, and keeps the wait", async () => {
  const { market, activation, restart } = await perform(async (run) => {
    run.log("Drafting");
    await run.step("draft", async () => "page");
    run.progress(60);
    await run.checkpoint({ page: 1 });
    run.log(`Asking`);
    await run.approval("publish", { title: "Publish?", text: "Ready." });
    run.log("Publishing");
    return { output: run.lastCheckpoint };
  });
  const [{ runId } = { runId: "" }] = await activation.runs();
  await restart();
  await market.advance("1h");
  expect(await activation.runs()).toMatchObject([{ status: "WAITING", progress: { percent: 60 } }]);
  await activation.answer("approve");
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  expect(await activation.logs(runId)).toEqual(["Drafting", "Asking", "Publishing"]);
  expect(await activation.runs()).toMatchObject([{ output: { page: 1 } }]);
});

test("a run goes on when the store fails after a request was sent, and the request is not sent twice", async () => {
  const inner = memoryStore();
  let failures = 0;
  const swap: typeof inner.swap = async (key, from, to, ttlMs) => {
    if (key.endsWith("approval-request/publish") && failures++ === 0) throw new Error("The connection broke.");
    return inner.swap(key, from, to, ttlMs);
  };
  const { market, activation, errors } = await perform(
    async (run) => ({ summary: (await run.approval("publish", { title: "Publish?", text: "Ready." })).decision }),
    { store: { ...inner, swap } },
  );
  // The repetition finds the request, and the run still waits.
  await market.advance("2h");
  expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
  await activation.answer("approve");
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  expect((await activation.messages()).map(({ type }) => type)).toEqual(["APPROVAL_REQUEST", "APPROVAL_RESPONSE"]);
  expect(errors).toMatchObject([{ name: "StoreError" }]);
});

test("a process that loses its event to another one stops working on the run", async () => {
  const store = memoryStore();
  const reasons: unknown[] = [];
  let rounds = 0;
  const { market, activation } = await perform(
    async (run) => {
      rounds += 1;
      if (rounds > 1) return { summary: "By the second." };
      run.signal.addEventListener("abort", () => reasons.push(run.signal.reason));
      return never(run.signal);
    },
    { leaseMs: 300, store },
  );
  // As if the first process had been frozen until its lease ended.
  const [key = ""] = await store.list("event/");
  const entry = (await store.get(key)) as string;
  await store.swap(key, entry, JSON.stringify({ ...JSON.parse(entry), leasedUntil: 0, token: "another" }));
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  await market.until("the signal", () => reasons.length === 1);
  expect([rounds, reasons]).toMatchObject([2, [{ code: "stopped" }]]);
});

test("a wakeup is slept for without heartbeats, also over a restart", async () => {
  const { market, activation, restart } = await perform(async (run) => {
    const { payload } = await run.wakeup("numbers", { delaySeconds: 7200, payload: { page: 7 } });
    return { output: payload };
  });
  await market.advance("1h");
  expect(await activation.runs()).toMatchObject([{ status: "WAITING", waitingFor: "wakeup" }]);
  await restart();
  await market.advance("59m");
  expect(await activation.runs()).toMatchObject([{ status: "WAITING" }]);
  await market.advance("2m");
  expect(await activation.runs()).toMatchObject([{ status: "COMPLETED", output: { page: 7 } }]);
});

describe("the signal of a run", () => {
  const seen: unknown[] = [];
  const hold = async (run: Run) => {
    run.signal.addEventListener("abort", () => seen.push(run.signal.reason));
    await never(run.signal);
  };
  const lastReason = () => seen.at(-1);

  test("is aborted by a pause; after the resumption the same run goes on", async () => {
    let rounds = 0;
    const { market, activation, errors } = await perform(async (run) => {
      rounds += 1;
      if (rounds === 1) await hold(run);
    });
    await activation.pause();
    expect(lastReason()).toBeInstanceOf(AgentPausedError);
    expect(await activation.runs()).toMatchObject([{ status: "RUNNING" }]);
    await market.advance("5m");
    expect(rounds).toBe(1);
    await activation.resume();
    await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
    expect([rounds, errors]).toEqual([2, []]);
  });

  test("is aborted by a deactivation, for good", async () => {
    const { market, activation, errors } = await perform(hold);
    await activation.deactivate();
    expect(lastReason()).toBeInstanceOf(AgentDeactivatedError);
    await market.advance("1h");
    expect(errors).toEqual([expect.any(AgentDeactivatedError)]);
    expect(await activation.runs()).toMatchObject([{ status: "CANCELLED" }]);
  });

  test("is aborted when the service fails the run", async () => {
    // Its heartbeats do not arrive.
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const fetch: typeof globalThis.fetch = (input, init) =>
      String(input).endsWith("/runs/log") ? new Promise(() => {}) : market.options.fetch(input, init);
    const errors: unknown[] = [];
    market.serve(
      createAgent({ ...market.options, fetch })
        .on("agent.activated", (ctx) => ctx.run({}, hold))
        .onError((error) => errors.push(error)),
    );
    const activation = await market.activate();
    await market.advance("15m");
    expect(await activation.runs()).toMatchObject([{ status: "FAILED", failureReason: "heartbeat_timeout" }]);
    expect(lastReason()).toMatchObject({ code: "run_ended", status: "FAILED" });
  });

  test("is aborted when the brand asks the run to stop, and the run is cancelled", async () => {
    const { market, activation } = await perform(hold);
    const [run] = await activation.runs();
    await market.world.sdk.runs.cancel(activation.id, run?.runId ?? "");
    expect(await activation.runs()).toMatchObject([{ status: "RUNNING", cancelRequested: true }]);
    await market.advance("70s");
    expect(lastReason()).toMatchObject({ code: "run_ended", status: "CANCELLED" });
    await market.until("the end", async () => (await activation.runs())[0]?.status === "CANCELLED");
  });

  test("is aborted when a heartbeat is refused", async () => {
    const { market, activation } = await perform(hold);
    const [run] = await activation.runs();
    await market.world.sdk.runs.cancel(activation.id, run?.runId ?? "", { force: true });
    await market.advance("70s");
    expect(lastReason()).toMatchObject({ code: "run_ended", runId: run?.runId });
  });

  test.each([
    [401, "unauthorized"],
    [403, "forbidden"],
    [404, "not_found"],
    [409, "invalid_state"],
  ])("is aborted when a heartbeat is answered %i", async (status, code) => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const fetch: typeof globalThis.fetch = async (input, init) =>
      String(input).endsWith("/runs/log")
        ? Response.json({ error: { code, message: "No.", details: [] } }, { status })
        : market.options.fetch(input, init);
    const errors: unknown[] = [];
    market.serve(
      createAgent({ ...market.options, fetch })
        .on("agent.activated", (ctx) => ctx.run({}, hold))
        .onError((error) => errors.push(error)),
    );
    await market.activate();
    expect(errors).toEqual([]);
    await market.advance("67s");
    expect(lastReason()).toMatchObject({ code: "run_ended", cause: { status, code } });
    expect(errors).toEqual([lastReason()]);
  });

  test("is aborted when any call is answered 401: the key is dead", async () => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const fetch: typeof globalThis.fetch = async (input, init) =>
      String(input).endsWith("/messages")
        ? Response.json({ error: { code: "unauthorized", message: "No.", details: [] } }, { status: 401 })
        : market.options.fetch(input, init);
    const found: unknown[] = [];
    market.serve(
      createAgent({ ...market.options, fetch }).on("agent.activated", (ctx) =>
        ctx.run({}, async (run) => {
          await run.client.messages.create({ text: "Hello" }).catch(() => {});
          found.push(run.signal.aborted, run.signal.reason);
        }),
      ),
    );
    await market.activate();
    expect(found).toEqual([true, expect.objectContaining({ code: "run_ended", cause: expect.objectContaining({ status: 401 }) })]);
  });

  test("is not aborted by answers that may change: the next heartbeat arrives", async () => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    let refused = 0;
    const fetch: typeof globalThis.fetch = async (input, init) =>
      String(input).endsWith("/runs/log") && refused++ < 5
        ? Response.json({}, { status: 503, headers: { "retry-after": "0" } })
        : market.options.fetch(input, init);
    market.serve(createAgent({ ...market.options, fetch }).on("agent.activated", (ctx) => ctx.run({}, (run) => never(run.signal))));
    const activation = await market.activate();
    await market.until("the run", async () => (await activation.runs()).length === 1);
    await market.advance("53s");
    // One heartbeat is due, and its five attempts fail. The next one comes ten seconds later.
    await market.until("the attempts", async () => {
      if (refused < 5) await market.advance("1s");
      return refused === 5;
    });
    await market.advance("11s");
    const [run] = await activation.runs();
    expect([refused, run?.status]).toEqual([6, "RUNNING"]);
    expect(Date.parse(run?.lastHeartbeatAt ?? "")).toBeGreaterThan(Date.parse(run?.startedAt ?? ""));
  });

  test("is aborted after the longest duration, and the run fails", async () => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    market.serve(createAgent(market.options).on("agent.activated", (ctx) => ctx.run({ maxDurationMs: 3_600_000 }, hold)));
    const activation = await market.activate();
    await market.advance("59m");
    expect(await activation.runs()).toMatchObject([{ status: "RUNNING" }]);
    await market.advance("1m");
    await market.until("the end", async () => (await activation.runs())[0]?.status === "FAILED");
    expect(await activation.runs()).toMatchObject([{ error: { message: "The run worked for longer than 3600 s (maxDurationMs)." } }]);
  });
});

test("a run that its handler does not wait for is part of the event", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const store = memoryStore();
  let rounds = 0;
  const start = (): Agent => {
    const agent = createAgent({ ...market.options, store, masterKey }).on("agent.activated", (ctx) => {
      void ctx.run({}, async (run) => {
        rounds += 1;
        if (rounds === 1) await never(run.signal);
        return { summary: "By the second." };
      });
    });
    market.serve(agent);
    return agent.start();
  };
  const first = start();
  const activation = await market.activate();
  await first.stop();
  start();
  await market.until("the end", async () => (await activation.runs())[0]?.status === "COMPLETED");
  expect(rounds).toBe(2);
});
