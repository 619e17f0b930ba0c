import type { AgentContract, Output } from "@mailsvc/sdk/contract";
import { type AgentEvent as ContractEvent, AgentEvent as Schema } from "@mailsvc/sdk/contract";
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { type Agent, createAgent } from "./agent.ts";
import type { AgentApi, AgentEvent } from "./contract.generated.ts";
import { UsageError } from "./errors.ts";
import type { AgentOptions } from "./options.ts";
import type { Run } from "./run.ts";
import { memoryStore } from "./stores/memory.ts";
import { sampleEvent, sampleEvents } from "./testing/sample-events.ts";
import { signedRequest } from "./testing/signed-request.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const masterKey = Buffer.alloc(32, 7).toString("base64");
// Only a limit: each test goes on as soon as what it waits for has happened.
const WAIT = { timeout: 20_000 };

const deliver = (agent: Agent, event: object | string) => {
  const { body, headers } = signedRequest(event, { secret });
  return agent.handle(body, headers);
};
const modes = [{ mode: "inline" }, { mode: "inbox" }] as const satisfies AgentOptions[];

describe("the types of the contract", () => {
  test("are those of the kit", () => {
    expectTypeOf<AgentEvent>().toExtend<ContractEvent>();
    expectTypeOf<ContractEvent>().toExtend<AgentEvent>();
    expectTypeOf<Awaited<ReturnType<AgentApi<never>["runs"]["start"]>>>().toExtend<Output<AgentContract["runs"]["start"]>>();
    expectTypeOf<Awaited<ReturnType<AgentApi<never>["messages"]["create"]>>>().toExtend<Output<AgentContract["messages"]["create"]>>();
  });

  test("are what sample events have", () => {
    for (const event of sampleEvents()) expect(Schema.parse(event)).toEqual(event);
  });
});

describe.each(modes)("$mode: an agent", (options) => {
  test("hands each event to the handlers of its type, then to those for all", async () => {
    const heard: string[] = [];
    const agent = createAgent({ secret, ...options })
      .onAny(({ event }) => heard.push(`any ${event.type}`))
      .on("agent.paused", ({ event }) => heard.push(`paused: ${event.reason}`))
      .on("agent.paused", () => heard.push("second"));
    expect((await deliver(agent, sampleEvent("agent.paused", { reason: "plan_downgrade" }))).status).toBe(200);
    await vi.waitFor(() => expect(heard).toEqual(["paused: plan_downgrade", "second", "any agent.paused"]), WAIT);
  });

  test("accepts every event of the contract", async () => {
    const heard: string[] = [];
    const agent = createAgent({ secret, ...options }).onAny(({ event }) => heard.push(event.id));
    for (const event of sampleEvents()) expect((await deliver(agent, { ...event, activationId: `act_${event.id}` })).status).toBe(200);
    await vi.waitFor(() => expect(heard).toHaveLength(sampleEvents().length), WAIT);
  });

  test("acknowledges types and fields that are newer than the package", async () => {
    const unknown: unknown[] = [];
    const paused: unknown[] = [];
    const any: string[] = [];
    const agent = createAgent({ secret, ...options })
      .onUnknown(({ event }) => unknown.push(event["extra"]))
      .onAny(({ event }) => (event.type === "agent.paused" ? any.push(event.reason) : any.push("another type")))
      .on("agent.paused", ({ event }) => paused.push(event));
    const event = { ...sampleEvent("agent.resumed"), type: "agent.renamed", extra: [1] };
    expect((await deliver(agent, event)).status).toBe(200);
    expect((await deliver(createAgent({ secret, ...options }), event)).status).toBe(200);
    expect((await deliver(agent, { ...sampleEvent("agent.paused"), extra: 2 })).status).toBe(200);
    await vi.waitFor(() => expect([unknown, paused, any]).toMatchObject([[[1]], [{ extra: 2 }], ["user_paused"]]), WAIT);
  });

  test("runs the handlers of an event once, however often it is delivered", async () => {
    const heard: string[] = [];
    const agent = createAgent({ secret, ...options }).onAny(({ event }) => heard.push(event.id));
    const event = sampleEvent("message.posted");
    const other = sampleEvent("message.posted");
    for (const one of [event, event, other, event, other]) expect((await deliver(agent, one)).status).toBe(200);
    await vi.waitFor(() => expect(heard).toEqual([event.id, other.id]), WAIT);
  });

  test("identifies what happens once by type, activation and run, and the rest by id", async () => {
    const heard: string[] = [];
    const agent = createAgent({ secret, ...options }).onAny(({ event }) => heard.push(event.type));
    const again = <T extends AgentEvent>(event: T): T[] => [event, { ...event, id: `${event.id}_again`, sequence: event.sequence + 100 }];
    const events = [
      ...again(sampleEvent("agent.activated")),
      ...again(sampleEvent("run_force_failed")),
      ...again(sampleEvent("approval_response")),
      ...again(sampleEvent("agent.deactivated")),
    ];
    for (const event of events) await deliver(agent, event);
    const expected = ["agent.activated", "run_force_failed", "approval_response", "approval_response", "agent.deactivated"];
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(expected.toSorted()), WAIT);
  });

  test("does not act on a pause that a newer resumption has ended", async () => {
    const heard: string[] = [];
    const agent = createAgent({ secret, ...options }).onAny(({ event }) => heard.push(`${event.type} ${event.sequence}`));
    for (const event of [
      sampleEvent("agent.activated", { sequence: 1 }),
      sampleEvent("agent.resumed", { sequence: 3 }),
      sampleEvent("agent.paused", { sequence: 2 }),
      sampleEvent("agent.paused", { sequence: 4 }),
    ])
      expect((await deliver(agent, event)).status).toBe(200);
    await vi.waitFor(() => expect(heard).toEqual(["agent.activated 1", "agent.resumed 3", "agent.paused 4"]), WAIT);
    expect(await agent.activations()).toMatchObject([{ status: "paused", sequence: 4 }]);
  });

  test("keeps the key in the vault before it answers, and out of the event", async () => {
    const store = memoryStore();
    const events: object[] = [];
    const agent = createAgent({ secret, store, masterKey, ...options }).on("agent.activated", ({ event }) => events.push(event));
    await deliver(agent, sampleEvent("agent.activated", { apiKey: "ms_agent_secret", activationId: "act_1" }));
    expect(await agent.vault.load("act_1")).toBe("ms_agent_secret");
    await vi.waitFor(() => expect(events).toHaveLength(1), WAIT);
    const stored = await Promise.all((await store.list("")).map((key) => store.get(key)));
    expect(JSON.stringify([events, stored])).not.toContain("ms_agent_secret");
    await deliver(agent, sampleEvent("agent.deactivated", { activationId: "act_1" }));
    expect(await agent.vault.load("act_1")).toBeNull();
  });

  test("answers 500 when the key cannot be stored, so that the event comes again", async () => {
    const store = memoryStore();
    let isBroken = true;
    const swap: typeof store.swap = (...args) => (isBroken ? Promise.reject(new Error("The disk is full.")) : store.swap(...args));
    const heard: string[] = [];
    const errors: unknown[] = [];
    const agent = createAgent({ secret, store: { ...store, swap }, masterKey, ...options })
      .on("agent.activated", () => heard.push("activated"))
      .onError((error) => errors.push(error));
    const event = sampleEvent("agent.activated", { apiKey: "ms_agent_secret" });
    expect((await deliver(agent, event)).status).toBe(500);
    expect([heard, errors]).toMatchObject([[], [{ name: "StoreError", cause: new Error("The disk is full.") }]]);
    isBroken = false;
    expect((await deliver(agent, event)).status).toBe(200);
    await vi.waitFor(() => expect(heard).toEqual(["activated"]), WAIT);
  });

  test("refuses what is not signed with one of its secrets, test.ping included", async () => {
    const heard: string[] = [];
    const agent = createAgent({ secret: ["whsec_b3RoZXI=", secret], ...options }).onAny(({ event }) => heard.push(event.id));
    for (const event of sampleEvents()) {
      const { body, headers } = signedRequest(event, { secret: "whsec_Zm9yZ2Vk" });
      expect((await agent.handle(body, headers)).status).toBe(401);
      expect((await agent.handle(body, {})).status).toBe(401);
    }
    expect(heard).toEqual([]);
    expect((await deliver(agent, sampleEvent("test.ping"))).status).toBe(200);
  });

  test("answers 400 to a signed body that is no event", async () => {
    const agent = createAgent({ secret, ...options });
    const bodies = [
      "",
      "null",
      "[]",
      "{",
      '{"type":"agent.paused"}',
      '{"id":"evt_1","type":7,"activationId":"a","sequence":1,"runId":null}',
    ];
    for (const body of bodies) expect((await deliver(agent, body)).status, body).toBe(400);
    const bytes = Uint8Array.from([0x22, 0xff, 0xfe, 0x22]);
    const { createHmac } = await import("node:crypto");
    const signature = createHmac("sha256", secret).update(bytes).digest("hex");
    expect((await agent.handle(bytes, { "X-Service-Signature": signature })).status).toBe(400);
  });
});

test("during a rotation an agent with only the new secret accepts events by their second signature", async () => {
  const agent = createAgent({ secret });
  const { body, headers } = signedRequest(sampleEvent("test.ping"), { secret });
  const old = signedRequest(body, { secret: "whsec_b2xk" }).headers["x-service-signature"];
  expect((await agent.handle(body, { ...headers, "x-service-signature": old })).status).toBe(200);
  const stale = signedRequest(JSON.parse(body) as object, { secret, now: Date.now() - 3_600_000 }).headers;
  expect((await agent.handle(body, { ...stale, "x-service-signature": old })).status).toBe(401);
});

test("secrets can come from a function, for each request", async () => {
  let current: string | string[] = "whsec_b3RoZXI=";
  const agent = createAgent({ secret: async () => current });
  expect((await deliver(agent, sampleEvent("test.ping"))).status).toBe(401);
  current = [current, secret];
  expect((await deliver(agent, sampleEvent("test.ping"))).status).toBe(200);
});

test("options that are missing are named with their remedy", () => {
  vi.stubEnv("AGENT_WEBHOOK_SECRET", "");
  expect(() => createAgent()).toThrow("AGENT_WEBHOOK_SECRET");
  expect(() => createAgent({ secret: [secret, ""] })).toThrow("secret is empty");
  vi.stubEnv("AGENT_MASTER_KEY", "");
  expect(() => createAgent({ secret, store: memoryStore() })).toThrow("openssl rand -base64 32");
  expect(() => createAgent({ secret, masterKey: "short" })).toThrow("masterKey must be 32 bytes");
});

describe("wrong options are refused by name", () => {
  const wrong: [object, string][] = [
    [{ stroe: memoryStore() }, 'there is no option "stroe". Did you mean "store"?'],
    [{ mode: "inbx" }, 'mode must be "inbox" or "inline", not "inbx". Did you mean "inbox"?'],
    [{ baseUrl: "mail.example.com" }, 'baseUrl must be an address with http:// or https://, not "mail.example.com".'],
    [{ baseUrl: "ftp://mail.example.com" }, "baseUrl must be"],
    [{ store: {} }, "store must be a store; it has no method get"],
    [{ store: { get: () => {}, swap: () => {} } }, "it has no method list"],
    [{ leaseMs: 0 }, "leaseMs must be a number of milliseconds above 0, not 0."],
    [{ leaseMs: Number.POSITIVE_INFINITY }, "leaseMs must be"],
    [{ keepMs: "30d" }, 'keepMs must be a number of milliseconds above 0, not "30d".'],
    [{ maxAttempts: -1 }, "maxAttempts must be a whole number above 0, not -1."],
    [{ maxAttempts: 1.5 }, "maxAttempts must be a whole number above 0"],
    [{ secret: `${secret}\n` }, "secret contains a line break"],
    [{ secret: 5 }, "secret must be a text"],
    [{ masterKey: 5 }, "masterKey must be a text"],
    [{ concurrency: { totl: 5 } }, 'concurrency: there is no option "totl". Did you mean "total"?'],
    [{ concurrency: { total: 0 } }, "total must be a whole number above 0, or Infinity, not 0."],
    [{ telemetry: {} }, "telemetry must be a function."],
    [{ fetch: "fetch" }, "fetch must be a function"],
    [{ clock: {} }, "clock must be an object with the methods now and after."],
  ];
  test.each(wrong)("%o", (options, message) => {
    const create = (): Agent => createAgent({ secret, ...options } as AgentOptions);
    expect(create).toThrow(UsageError);
    expect(create).toThrow(message);
  });

  test("of MAILSVC_URL too", () => {
    vi.stubEnv("MAILSVC_URL", "localhost:2526");
    expect(() => createAgent({ secret })).toThrow("baseUrl must be an address with http:// or https://");
  });

  test("and so are handlers", () => {
    const agent = createAgent({ secret });
    expect(() => agent.on("agent.activatd" as "agent.activated", () => {})).toThrow(
      'there is no event "agent.activatd". Did you mean "agent.activated"?',
    );
    const missing = undefined as unknown as () => void;
    expect(() => agent.on("agent.activated", missing)).toThrow('on("agent.activated"): the handler must be a function, not undefined.');
    for (const name of ["onAny", "onUnknown", "onError"] as const)
      expect(() => agent[name](missing)).toThrow(`${name}: the handler must be`);
  });

  test("a secret of a function is checked for each request", async () => {
    const errors: unknown[] = [];
    const agent = createAgent({ secret: () => `${secret}\n` }).onError((error) => errors.push(error));
    expect((await deliver(agent, sampleEvent("test.ping"))).status).toBe(500);
    expect(errors).toMatchObject([{ message: expect.stringContaining("secret contains a line break") }]);
  });
});

describe.each(modes)("$mode: an event that comes before its key", (options) => {
  const listening = (store = memoryStore()) => {
    const texts: unknown[] = [];
    const errors: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      texts.push(JSON.parse(String(init?.body)).text);
      return Response.json({ id: "msg_1" }, { status: 201 });
    };
    const agent = createAgent({ secret, ...options, fetch, store, masterKey })
      .on("message.posted", (ctx) => ctx.client.messages.create({ text: ctx.event.text }))
      .onError((error, { willRetry }) => errors.push([(error as { code: string }).code, willRetry]));
    return { agent, texts, errors };
  };

  test("waits for it and is handled once, however often it came", async () => {
    const { agent, texts, errors } = listening();
    const events = Array.from({ length: 5 }, (_, i) => sampleEvent("message.posted", { text: `${i}` }));
    for (const event of events) expect((await deliver(agent, event)).status).toBe(200);
    await vi.waitFor(() => expect(errors).toEqual(events.map(() => ["missing_key", true])), WAIT);
    for (const event of events) expect((await deliver(agent, event)).body).toContain("duplicate");
    expect((await deliver(agent, sampleEvent("agent.activated"))).status).toBe(200);
    await vi.waitFor(() => expect(texts.toSorted()).toEqual(["0", "1", "2", "3", "4"]), WAIT);
    await agent.stop();
  });

  test("is found by the next process", async () => {
    const store = memoryStore();
    const first = listening(store);
    await deliver(first.agent, sampleEvent("message.posted", { text: "early" }));
    await vi.waitFor(() => expect(first.errors).toHaveLength(1), WAIT);
    await first.agent.stop();
    const second = listening(store);
    await deliver(second.agent, sampleEvent("agent.activated"));
    await vi.waitFor(() => expect(second.texts).toEqual(["early"]), WAIT);
    await second.agent.stop();
  });
});

test("an event that waits for the service when the agent stops is no failed attempt", async () => {
  const store = memoryStore();
  const attempts: number[] = [];
  const errors: unknown[] = [];
  const start = (fetch: typeof globalThis.fetch) =>
    createAgent({ secret, fetch, store, masterKey })
      .on("message.posted", async ({ attempt, client, event }) => {
        attempts.push(attempt);
        await client.messages.create({ text: event.text });
      })
      .onError((error) => errors.push(error))
      .start();
  const down = vi.fn<typeof globalThis.fetch>(async () => Response.json({}, { status: 503, headers: { "retry-after": "60" } }));
  const first = start(down);
  await deliver(first, sampleEvent("agent.activated"));
  await deliver(first, sampleEvent("message.posted", { text: "Hello" }));
  await vi.waitFor(() => expect(down).toHaveBeenCalled(), WAIT);
  await first.stop();
  const up = vi.fn<typeof globalThis.fetch>(async () => Response.json({ id: "msg_1" }, { status: 201 }));
  const second = start(up);
  await vi.waitFor(() => expect(up).toHaveBeenCalled(), WAIT);
  await second.stop();
  expect([attempts, errors]).toEqual([[1, 1], []]);
});

test("stop leaves no timer that would hold the process", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const agent = createAgent({ secret }).on("test.ping", () => {});
    agent.start();
    expect((await deliver(agent, sampleEvent("test.ping"))).status).toBe(200);
    await agent.stop();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

describe("inline", () => {
  test("an event whose key the service refuses is done: the key does not come again", async () => {
    const errors: unknown[] = [];
    const agent = createAgent({
      secret,
      mode: "inline",
      fetch: async () => Response.json({ error: { code: "unauthorized" } }, { status: 401 }),
    })
      .on("message.posted", (ctx) => ctx.client.messages.create({ text: "Thanks." }))
      .onError((error, { willRetry }) => errors.push([(error as { code: string }).code, willRetry]));
    await deliver(agent, sampleEvent("agent.activated"));
    expect((await deliver(agent, sampleEvent("message.posted"))).status).toBe(200);
    expect(errors).toEqual([["unauthorized", false]]);
  });

  test("a handler that fails is printed with its event and attempt, until there is an onError", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const agent = createAgent({ secret, mode: "inline" }).on("agent.paused", () => {
      throw new Error("no");
    });
    const event = sampleEvent("agent.paused");
    await deliver(agent, event);
    expect(printed.mock.calls).toMatchObject([
      [expect.stringContaining(`agent.paused:${event.id}, attempt 1, failed and is tried again:`), { message: "no" }],
    ]);
    agent.onError(() => {});
    await deliver(agent, event);
    expect(printed).toHaveBeenCalledTimes(1);
  });

  test("an agent with a store of its own that was never started is warned about once", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    const agent = createAgent({ secret, store: memoryStore(), masterKey: Buffer.alloc(32, 1).toString("base64") });
    for (let i = 0; i < 3; i++) await deliver(agent, sampleEvent("agent.paused"));
    expect(warned.mock.calls).toEqual([[expect.stringContaining("Call agent.start() once")]]);
    await deliver(createAgent({ secret }), sampleEvent("agent.paused"));
    expect(warned).toHaveBeenCalledTimes(1);
  });

  test("decisions, payloads of wakeups and checkpoints have the types they are given", () => {
    const agent = createAgent({ secret });
    agent.on("agent.activated", (ctx) =>
      ctx.run({ title: "Types" }, async (run: Run<{ next: number }>) => {
        const color = await run.approval("color", {
          title: "Color?",
          text: "?",
          options: [
            { id: "red", label: "Red" },
            { id: "blue", label: "Blue" },
          ],
        });
        expectTypeOf(color.decision).toEqualTypeOf<"red" | "blue" | "expired">();
        const plain = await run.approval("plain", { title: "Yes?", text: "?" });
        expectTypeOf(plain.decision).toEqualTypeOf<"approved" | "rejected" | "expired">();
        const woken = await run.wakeup("later", { delaySeconds: 60, payload: { page: 3 } });
        expectTypeOf(woken.payload.page).toEqualTypeOf<number>();
        expectTypeOf(run.lastCheckpoint).toEqualTypeOf<{ next: number } | null>();
        // @ts-expect-error: another shape than that of the checkpoints.
        await run.checkpoint({ last: 1 });
      }),
    );
    agent.onError((_error, { event }) => {
      if (event?.type === "agent.paused") expectTypeOf(event.reason).not.toBeUnknown();
    });
    expect(agent).toBeDefined();
  });

  test("a handler that fails is answered with 500, and the next delivery runs it again", async () => {
    let fails = true;
    const heard: string[] = [];
    const agent = createAgent({ secret, mode: "inline" })
      .on("agent.paused", () => {
        heard.push("called");
        if (fails) throw new Error("no");
      })
      .onError((error, { event, willRetry }) => heard.push(`${(error as Error).message} ${event?.type} ${willRetry}`));
    const event = sampleEvent("agent.paused");
    expect((await deliver(agent, event)).status).toBe(500);
    fails = false;
    expect((await deliver(agent, event)).status).toBe(200);
    expect((await deliver(agent, event)).status).toBe(200);
    expect(heard).toEqual(["called", "no agent.paused true", "called"]);
  });

  test("a delivery during the handler's work is asked to come again, and does not start it twice", async () => {
    const heard: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const agent = createAgent({ secret, mode: "inline" }).on("agent.paused", async () => {
      heard.push("begin");
      await promise;
    });
    const event = sampleEvent("agent.paused");
    const first = deliver(agent, event);
    await vi.waitFor(() => expect(heard).toEqual(["begin"]), WAIT);
    const second = await deliver(agent, event);
    expect([second.status, second.headers["retry-after"]]).toEqual([503, "2"]);
    resolve();
    expect((await first).status).toBe(200);
    expect((await deliver(agent, event)).body).toContain("duplicate");
    expect(heard).toEqual(["begin"]);
  });

  test("a handler that takes too long is answered before the service gives up, and counts when it ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { promise, resolve } = Promise.withResolvers<void>();
      const agent = createAgent({ secret, mode: "inline" }).on("agent.paused", () => promise);
      const event = sampleEvent("agent.paused");
      const answer = deliver(agent, event);
      await vi.advanceTimersByTimeAsync(6900);
      await vi.advanceTimersByTimeAsync(200);
      expect((await answer).status).toBe(503);
      resolve();
      await vi.advanceTimersByTimeAsync(0);
      expect(await deliver(agent, event)).toMatchObject({ status: 200, body: expect.stringContaining("duplicate") });
    } finally {
      vi.useRealTimers();
    }
  });
});
