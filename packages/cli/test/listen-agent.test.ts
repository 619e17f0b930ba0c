import { verifySignature } from "@mailsvc/agent-kit";
import { AgentClient } from "@mailsvc/sdk";
import { describe, expect, test } from "vitest";
import { createTestAgent } from "../../server/test/agent.ts";
import { receiver } from "../../server/test/receiver.ts";
import { folder } from "./harness.ts";
import { deliveriesOf, listen } from "./listening.ts";
import { startCliWithServer } from "./world.ts";

describe("listen for the webhook of an agent", () => {
  test("the events for the webhook of an agent are forwarded too, but for its key", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { activationId, key } = await createTestAgent(beside.world);
    const result = await listen(
      beside,
      ["--agent", "writer", "--forward-to", local.url, "--count", "2"],
      async () => {
        await beside.world.sdk.activations.pause(activationId);
        await beside.world.sdk.activations.resume(activationId);
      },
      { env: { MAILSVC_API_KEY: beside.world.builder.apiKey } },
    );
    expect(deliveriesOf(result)).toMatchObject([{ type: "agent.paused", sequence: null }, { type: "agent.resumed" }]);
    expect(JSON.stringify(local.received)).not.toContain(key);
    expect((await beside.mailsvc(["listen", "--agent", "writer", "--forward-to", local.url, "--to", "a@example.com"])).code).toBe(2);
  });

  test("--activate turns a draft on in the builder's workspace, and forwards its key to this machine", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { builder } = beside.world;
    const webhookUrl = "http://127.0.0.1:9/webhook";
    const { webhookSecret } = await builder.sdk.listings.create({
      slug: "writer",
      name: "Writer",
      webhookUrl,
      permissions: ["agent:write_runs"],
      settingsSchema: { type: "object", properties: { language: { type: "string", enum: ["en", "de"] } }, required: ["language"] },
    });
    const env = { MAILSVC_API_KEY: builder.apiKey };
    const from = ["listen", "--agent", "writer", "--activate", "--forward-to", local.url];
    const wrong = await beside.mailsvc([...from, "--settings", '{"language":"xx"}'], { env });
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain("language");
    const argv = [
      "--settings",
      '{"language":"de"}',
      "--agent",
      "writer",
      "--activate",
      "--forward-to",
      local.url,
      "--secret",
      webhookSecret,
    ];
    const result = await listen(beside, [...argv, "--count", "1"], async () => {}, { env });
    expect(deliveriesOf(result)).toMatchObject([{ type: "agent.activated" }]);
    const { body = "", headers = {} } = local.received[0] ?? {};
    const { apiKey, activationId, settings } = JSON.parse(body) as { apiKey: string; activationId: string; settings: object };
    expect(settings).toEqual({ language: "de" });
    const signature = headers["x-service-signature"] ?? "";
    expect(verifySignature({ body: Buffer.from(body), secrets: webhookSecret, signature, id: null, timestamp: null })).not.toBeNull();
    const client = new AgentClient({ activationId, apiKey, baseUrl: beside.world.url, fetch: beside.world.fetch, maxRetries: 0 });
    expect((await client.runs.start()).status).toBe("RUNNING");
    for (const shown of [result.stdout, result.stderr]) expect(shown).not.toContain(apiKey);
    const again = await listen(beside, argv, ({ until }) => until("is on already"), { env });
    expect(again.stderr).toContain("activations deactivate");
    expect((await beside.mailsvc(["listen", "--activate", "--forward-to", local.url])).code).toBe(2);
    expect((await beside.mailsvc(["listen", "--settings", "{}", "--forward-to", local.url])).code).toBe(2);
  });

  test("events of an agent are pushed, go on after a cut connection, and --resume gets what was missed", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { activationId } = await createTestAgent(beside.world);
    const { activations, messages } = beside.world.sdk;
    const home = folder();
    const env = { MAILSVC_API_KEY: beside.world.builder.apiKey };
    let cut = (): void => {};
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const url = new URL(String(input instanceof Request ? input.url : input));
      asked.push(url.pathname);
      if (!url.pathname.endsWith("/deliveries/stream")) return beside.world.fetch(input, init);
      const connection = new AbortController();
      cut = () => connection.abort(new TypeError("terminated"));
      const response = await beside.world.fetch(input, init);
      return new Response(response.body?.pipeThrough(new TransformStream(), { signal: connection.signal }), response);
    };
    const argv = ["--agent", "writer", "--forward-to", local.url];
    const first = await listen(
      beside,
      [...argv, "--count", "3"],
      async ({ until }) => {
        await activations.pause(activationId);
        await until("agent.paused");
        cut();
        await activations.resume(activationId);
        await until('"reconnecting"');
        await until("agent.resumed");
        await messages.create(activationId, { text: "Hello" });
      },
      { env, home, fetch },
    );
    expect(deliveriesOf(first).map(({ type }) => type)).toEqual(["agent.paused", "agent.resumed", "message.posted"]);
    expect(asked.filter((path) => path.endsWith("/deliveries/stream"))).toHaveLength(2);
    // Nothing is asked again and again.
    expect(asked.filter((path) => path.endsWith("/deliveries"))).toHaveLength(1);
    await activations.pause(activationId);
    await activations.resume(activationId);
    const second = await listen(beside, [...argv, "--count", "1"], async () => void (await activations.pause(activationId)), { env, home });
    expect(second.lines[1]).toMatchObject({ kind: "missed", total: 2 });
    expect(deliveriesOf(second).map(({ type }) => type)).toEqual(["agent.paused"]);
    await activations.resume(activationId);
    const third = await listen(beside, [...argv, "--resume", "--count", "1"], async () => {}, { env, home });
    expect(deliveriesOf(third).map(({ type }) => type)).toEqual(["agent.resumed"]);
  });

  test("the events of an agent are chosen by type, also all of a kind", async () => {
    await using local = await receiver();
    const beside = await startCliWithServer();
    const { activationId } = await createTestAgent(beside.world);
    const result = await listen(
      beside,
      ["--agent", "writer", "--forward-to", local.url, "--type", "agent.*", "--count", "1"],
      async () => {
        await beside.world.sdk.messages.create(activationId, { text: "Hello" });
        await beside.world.sdk.activations.pause(activationId);
      },
      { env: { MAILSVC_API_KEY: beside.world.builder.apiKey } },
    );
    expect(deliveriesOf(result)).toMatchObject([{ type: "agent.paused" }]);
  });
});
