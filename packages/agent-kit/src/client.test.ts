import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createAgent } from "./agent.ts";
import { createClient } from "./client.ts";
import { AgentDeactivatedError, AgentPausedError, AgentStoppedError } from "./errors.ts";
import { sleep } from "./runtime.ts";
import { TestMarketplace } from "./testing.ts";

// Only a limit.
const WAIT = { timeout: 20_000 };

describe("the client of an activation", () => {
  test("refuses calls while it is paused, without asking, and works again with the same key", async () => {
    const calls: string[] = [];
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const fetch: typeof globalThis.fetch = (input, init) => {
      calls.push(String(input));
      return market.options.fetch(input, init);
    };
    const agent = createAgent({ ...market.options, fetch });
    market.serve(agent);
    const activation = await market.activate();
    const client = agent.client(activation.id);
    expect((await client.self.get()).status).toBe("active");
    await client.messages.create({ text: "Hello" });
    await activation.pause();
    const before = calls.length;
    await expect(client.self.get()).rejects.toThrow(AgentPausedError);
    await expect(client.self.get()).rejects.toThrow("user_paused");
    expect(calls).toHaveLength(before);
    await activation.resume();
    expect((await client.messages.list({ limit: 1 })).data).toMatchObject([{ text: "Hello" }]);
    await activation.deactivate();
    await expect(client.self.get()).rejects.toThrow(AgentDeactivatedError);
    await expect(agent.client("act_unknown").self.get()).rejects.toThrow("There is no key for the activation act_unknown");
  });

  test("throws the errors of the service with their code, and does not repeat what cannot succeed", async () => {
    const calls: string[] = [];
    const market = await TestMarketplace.create({ scopes: ["agent:read_messages"] });
    onTestFinished(() => market.dispose());
    const fetch: typeof globalThis.fetch = (input, init) => {
      calls.push(String(input));
      return market.options.fetch(input, init);
    };
    const agent = createAgent({ ...market.options, fetch });
    market.serve(agent);
    const client = agent.client((await market.activate()).id);
    await expect(client.runs.start()).rejects.toMatchObject({ name: "AgentApiError", status: 403, code: "forbidden" });
    await expect(client.messages.get("msg_none")).rejects.toMatchObject({ status: 404, code: "not_found" });
    await expect(client.messages.get("")).rejects.toThrow("messages.get: messageId is missing.");
    expect(calls).toHaveLength(2);
  });

  test("repeats what can succeed later, with the same idempotency key", async () => {
    const market = await TestMarketplace.create();
    onTestFinished(() => market.dispose());
    const keys: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (!String(input).endsWith("/credits/consume")) return market.options.fetch(input, init);
      keys.push(new Headers(init?.headers).get("idempotency-key"));
      if (keys.length === 1) throw new TypeError("fetch failed");
      const response = await market.options.fetch(input, init);
      // The first answer is lost after the service has acted.
      return keys.length === 2 ? new Response("", { status: 503, headers: { "retry-after": "0" } }) : response;
    };
    const agent = createAgent({ ...market.options, fetch });
    market.serve(agent);
    const activation = await market.activate();
    await agent.client(activation.id).credits.consume({ amount: 7, action: "draft" });
    expect([keys.length, new Set(keys).size, await activation.balance()]).toEqual([3, 1, 993]);
  });
});

describe("a service that asks for a long wait", () => {
  const busy = (stopped = new AbortController().signal) => {
    let calls = 0;
    const client = createClient({
      activationId: "act_1",
      baseUrl: "http://mail.test",
      fetch: async () => {
        calls += 1;
        return Response.json({}, { status: 503, headers: { "retry-after": "86400" } });
      },
      authorize: async () => "key",
      onRefused: () => {},
      telemetry: (_, run) => run(),
      stopped,
    });
    return { client, calls: () => calls };
  };

  test("is asked again after a minute, and after ten seconds by heartbeats", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const [options, ms] of [
      [{}, 60_000],
      [{ maxWaitMs: 10_000 }, 10_000],
    ] as const) {
      const { client, calls } = busy();
      const failed = client.self.get(options).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(calls()).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(calls()).toBe(2);
      await vi.advanceTimersByTimeAsync(3 * ms);
      expect([calls(), await failed]).toEqual([5, expect.objectContaining({ status: 503 })]);
    }
  });

  test("is not waited for once the caller has lost interest, or the agent stops", async () => {
    const caller = new AbortController();
    const one = busy();
    const aborted = one.client.self.get({ signal: caller.signal });
    await vi.waitFor(() => expect(one.calls()).toBe(1), WAIT);
    caller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    const agent = new AbortController();
    const other = busy(agent.signal);
    const stopped = other.client.self.get();
    await vi.waitFor(() => expect(other.calls()).toBe(1), WAIT);
    agent.abort(new AgentStoppedError());
    await expect(stopped).rejects.toThrow(AgentStoppedError);
    expect([one.calls(), other.calls()]).toEqual([1, 1]);
  });
});

test("a wait that is over leaves no listener at the signal", async () => {
  const { signal } = new AbortController();
  await sleep(1, signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("credentials are for a client of one's own", async () => {
  const market = await TestMarketplace.create();
  onTestFinished(() => market.dispose());
  const seen = vi.fn();
  market.serve(createAgent(market.options).on("agent.activated", async (ctx) => seen(await ctx.credentials(), await ctx.activation())));
  const activation = await market.activate();
  await vi.waitFor(() => expect(seen).toHaveBeenCalled(), WAIT);
  expect(seen.mock.lastCall).toMatchObject([
    { activationId: activation.id, apiKey: expect.stringMatching(/^ms_agent_/), baseUrl: market.options.baseUrl },
    { status: "active", agentSlug: "agent-under-test" },
  ]);
});
