import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgent } from "@mailsvc/agent-kit";
import { nodeHandler } from "@mailsvc/agent-kit/node";
import { unwrap } from "@mailsvc/sdk/webhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestAgent } from "../../server/test/agent.ts";
import { receiver } from "../../server/test/receiver.ts";
import { TAMPERINGS } from "../src/listen/attempt.ts";
import { startCliWithServer } from "./world.ts";

const SECRET = "whsec_c2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXMgbG9uZyE=";

/** A server on which an email was delivered at midnight, and another one at two o'clock. */
async function withHistory() {
  const beside = await startCliWithServer();
  const { sdk, clock, settle } = beside.world;
  for (const to of ["a@example.com", "b@example.com"]) {
    await sdk.emails.send({ from: "a@acme.example", to, subject: "Hello", text: "x" });
    await settle();
    await clock.advance("2h");
  }
  return beside;
}

describe("replay", () => {
  test("sends an event of the past as it was, signed now", async () => {
    await using local = await receiver();
    const { mailsvc, world } = await withHistory();
    const [event] = (await world.sdk.events.list({ after: 0 })).data;
    const result = await mailsvc(["replay", event?.id ?? "", "--forward-to", local.url, "--secret", SECRET]);
    expect([result.code, result.lines]).toMatchObject([0, [{ id: event?.id, status: 200, attempt: 1, problem: null }]]);
    const [{ body, headers } = { body: "", headers: {} }] = local.received;
    expect(await unwrap(body, headers, SECRET)).toEqual(event);
  });

  test("since a sequence, or a time by the server's clock, in the order of events", async () => {
    await using local = await receiver();
    const { mailsvc } = await withHistory();
    const replay = async (...since: string[]) => {
      local.received.length = 0;
      expect((await mailsvc(["replay", "--forward-to", local.url, "--since", ...since])).code).toBe(0);
      return local.received.map(({ event }) => event.sequence);
    };
    expect(await replay("5")).toEqual([5, 6]);
    expect(await replay("3h")).toEqual([4, 5, 6]);
    expect(await replay("2026-01-01T00:00:00Z", "--type", "email.delivered")).toEqual([3, 6]);
    expect(await replay("2026-01-01T00:00:00Z", "--reorder")).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test("duplicates have the same id and a higher attempt", async () => {
    await using local = await receiver();
    const { mailsvc } = await withHistory();
    await mailsvc(["replay", "--forward-to", local.url, "--since", "6", "--duplicate"]);
    await mailsvc(["replay", "--forward-to", local.url, "--since", "6", "--duplicate", "3"]);
    const ids = local.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(1);
    expect(local.received.map(({ headers }) => headers["x-service-attempt"])).toEqual(["1", "2", "1", "2", "3"]);
  });

  test.each(["body", "signature", "timestamp"])(
    "a webhook that verifies refuses a spoilt %s, and one that does not is found out",
    async (part) => {
      await using careless = await receiver();
      const { mailsvc } = await withHistory();
      const found = await mailsvc(["replay", "--since", "6", "--forward-to", careless.url, "--secret", SECRET, "--tamper", part]);
      expect([found.code, found.lines[0].problem]).toEqual([11, `accepted a request whose ${part} was tampered with`]);
      const [{ body, headers } = { body: "", headers: {} }] = careless.received;
      await expect(unwrap(body, headers, SECRET)).rejects.toMatchObject({ code: part === "timestamp" ? "too_old" : "wrong_signature" });
    },
  );

  test.each(["body", "signature"])("a webhook that refuses a spoilt %s passes", async (part) => {
    await using careful = await receiver(() => 401);
    const { mailsvc } = await withHistory();
    expect((await mailsvc(["replay", "--since", "6", "--forward-to", careful.url, "--tamper", part])).code).toBe(0);
    expect(careful.received).toHaveLength(1);
  });

  test("a webhook that verifies X-Service-Signature only does not pass for one that checks the time", async () => {
    await using simple = await receiver(({ headers }) => (headers["x-service-signature"] === undefined ? 401 : 200));
    const { mailsvc } = await withHistory();
    const argv = ["replay", "--since", "6", "--forward-to", simple.url, "--secret", SECRET];
    expect((await mailsvc(argv)).code).toBe(0);
    const { code, lines } = await mailsvc([...argv, "--tamper", "timestamp"]);
    expect([code, lines[0]]).toMatchObject([11, { status: 401, problem: expect.stringContaining("to the right timestamp too") }]);
    const [{ body, headers } = { body: "", headers: {} }] = simple.received.slice(-1);
    await expect(unwrap(body, headers, SECRET)).resolves.toMatchObject({ sequence: 6 });
  });

  test("the agent kit refuses whatever is spoilt", async () => {
    const agent = createAgent({ secret: SECRET });
    const server = createServer(nodeHandler(agent));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { mailsvc } = await withHistory();
    for (const part of TAMPERINGS) {
      const { code, lines } = await mailsvc(["replay", "--since", "6", "--forward-to", url, "--secret", SECRET, "--tamper", part]);
      expect([part, code, lines[0]]).toMatchObject([part, 0, { status: 401, problem: null }]);
    }
  });

  test("what fails is exit 11, and wrong usage is named", async () => {
    await using local = await receiver(() => 503);
    const { mailsvc } = await withHistory();
    const failed = await mailsvc(["replay", "--since", "6", "--forward-to", local.url]);
    expect([failed.code, failed.lines[0].problem]).toEqual([11, "answered 503"]);
    expect((await mailsvc(["replay", "--forward-to", local.url])).stderr).toContain("Give the ids of events, or --since.");
    expect((await mailsvc(["replay", "evt_00000000099", "--forward-to", local.url])).code).toBe(6);
    expect((await mailsvc(["replay", "--since", "someday", "--forward-to", local.url])).code).toBe(2);
    expect((await mailsvc(["replay", "--since", "1", "--type", "emial.*", "--forward-to", local.url])).code).toBe(2);
  });

  test("the events of an agent are sent with their bytes, the key masked", async () => {
    await using local = await receiver();
    const { mailsvc, world } = await startCliWithServer();
    const { activationId, key } = await createTestAgent(world);
    await world.sdk.activations.pause(activationId);
    const builder = { env: { MAILSVC_API_KEY: world.builder.apiKey } };
    await mailsvc(["replay", "--agent", "writer", "--since", "1h", "--forward-to", local.url], builder);
    expect(local.types()).toEqual(["agent.activated", "agent.paused"]);
    expect(JSON.stringify(local.received)).not.toContain(key);
    local.received.length = 0;
    await mailsvc(["replay", "--agent", "writer", "--since", "1h", "--type", "agent.paused", "--forward-to", local.url], builder);
    expect(local.types()).toEqual(["agent.paused"]);
  });
});
