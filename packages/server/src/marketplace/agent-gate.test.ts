import { AGENT_SCOPES, type AgentScope, requiredGrant } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgent, type TestAgent } from "../../test/agent-at-work.ts";
import { buildCalls, listAgentEndpoints } from "../../test/agent-crawl.ts";
import { agentPath, type Receiver, startReceiver } from "../../test/marketplace.ts";
import { ask, expectAnswer, type Scenario } from "../../test/scenario.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/* Every endpoint of the agent API, with every kind of key. The tables follow from the contract. */

let world: TestWorld;
let hooks: Receiver;
let able: TestAgent;
/** For each scope, an agent that has all scopes except that one. */
const lacking = new Map<AgentScope, TestAgent>();
let paused: TestAgent;
let ended: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  hooks = await startReceiver();
  await world.sdk.plans.change({ plan: "scale" });
  able = await createAgent(world, hooks, { slug: "able" });
  for (const [n, scope] of AGENT_SCOPES.entries())
    lacking.set(scope, await createAgent(world, hooks, { slug: `lacks-${n}`, permissions: AGENT_SCOPES.filter((s) => s !== scope) }));
  paused = await createAgent(world, hooks, { slug: "paused" });
  ended = await createAgent(world, hooks, { slug: "ended" });
  await world.sdk.activations.pause(paused.activationId);
  await world.sdk.activations.deactivate(ended.activationId);
});
afterAll(async () => {
  await world.dispose();
  await hooks[Symbol.asyncDispose]();
});

const refused = async (row: Scenario): Promise<void> => expectAnswer(await ask(world, row), row, row.key ?? world.apiKey);

describe.each(listAgentEndpoints())("$id", (one) => {
  const callAs = (agent: TestAgent) => {
    const [call] = buildCalls(one, { activationId: agent.activationId });
    if (!call) throw new Error(`${one.id} has no example.`);
    return { ...call, name: one.id };
  };

  test("refuses an agent without the scope", async () => {
    const scope = requiredGrant(one.endpoint.access) as AgentScope | null;
    // To explain an activation needs no scope, to explain a run does: explain.test.ts.
    if (scope === null) return expect(["self.get", "explanations.get"]).toContain(one.id);
    const agent = lacking.get(scope) as TestAgent;
    await refused({ ...callAs(agent), key: agent.key, status: 403, code: "forbidden", details: [" missing_scope"], contains: [scope] });
  });

  test("refuses a paused agent and says why it is paused", async () => {
    await refused({ ...callAs(paused), key: paused.key, status: 403, code: "activation_paused", details: [" user_paused"] });
  });

  test("refuses the key of an activation that has ended", async () => {
    await refused({ ...callAs(ended), key: ended.key, status: 401, code: "key_revoked", answers: { "www-authenticate": "Bearer" } });
  });

  test("answers the same for another activation and for an unknown one", async () => {
    const other = lacking.get("brand:read") as TestAgent;
    const there = { ...callAs(other), key: able.key, status: 404, code: "not_found" as const, lacks: [other.activationId] };
    await refused(there);
    await refused({ ...there, path: there.path.replace(other.activationId, "act_00000000000000000000000000") });
  });

  test("refuses developer keys, unknown keys and requests without a key", async () => {
    await refused({ ...callAs(able), status: 403, code: "forbidden" });
    await refused({ ...callAs(able), key: null, status: 401, code: "unauthorized" });
    await refused({ ...callAs(able), key: `${able.key.slice(0, -1)}x`, status: 401, code: "unauthorized" });
    await refused({ ...callAs(able), key: "ms_agent_", status: 401, code: "unauthorized" });
  });

  test("refuses fields it does not have, and names them", async () => {
    if (!one.endpoint.body) return;
    const call = callAs(able);
    const row = { ...call, body: { ...(call.body as object), surprise: 1 }, key: able.key, status: 400, code: "validation_error" as const };
    const answer = await ask(world, row);
    const text = await answer.clone().text();
    await expectAnswer(answer, row, able.key);
    expect(text).toContain('"path":"surprise"');
  });
});

test("the refused requests changed nothing", async () => {
  const { read } = world.app.deps.db;
  for (const table of ["runs", "messages", "wakeups", "creditEntries", "landingPages", "assets", "leadMagnets"] as const)
    expect([table, await read.$count(read.t[table])]).toEqual([table, 0]);
});

describe("another workspace", () => {
  test("sees nothing of messages, runs and credits, and changes nothing", async () => {
    const other = await secondWorkspace(world);
    const { runId } = await able.client.runs.start();
    const { id } = await able.client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval: { title: "?" } });
    await world.sdk.credits.grant({ amount: 10 });
    const base = `/api/v1/marketplace/activations/${able.activationId}`;
    const unknown = { key: other.apiKey, status: 404, code: "not_found" as const };
    const rows: Scenario[] = [
      { ...unknown, name: "messages", method: "GET", path: `${base}/messages` },
      { ...unknown, name: "write", path: `${base}/messages`, body: { text: "x" } },
      { ...unknown, name: "read", path: `${base}/messages/read`, body: { upToSequence: 1 } },
      { ...unknown, name: "message", method: "GET", path: `/api/v1/marketplace/messages/${id}` },
      { ...unknown, name: "answer", path: `/api/v1/marketplace/messages/${id}/answer`, body: { decision: "approve" } },
      { ...unknown, name: "runs", method: "GET", path: `${base}/runs` },
      { ...unknown, name: "run", method: "GET", path: `${base}/runs/${runId}` },
      { ...unknown, name: "logs", method: "GET", path: `${base}/runs/${runId}/logs` },
      { ...unknown, name: "cancel", path: `${base}/runs/${runId}/cancel`, body: { force: true } },
    ];
    for (const row of rows) await refused(row);
    for (const row of rows) await refused({ ...row, key: able.key, status: 403, code: "forbidden" });
    const credits = await ask(world, { method: "GET", path: "/api/v1/marketplace/credits", key: other.apiKey });
    expect(await credits.json()).toEqual({ balance: 0 });
    const entries = await ask(world, { method: "GET", path: "/api/v1/marketplace/credits/entries", key: other.apiKey });
    expect(await entries.json()).toMatchObject({ data: [] });
    expect((await able.client.messages.get(id)).approval?.status).toBe("PENDING");
    expect((await able.client.runs.get(runId)).status).toBe("RUNNING");
  });

  test("developer keys need the permission", async () => {
    const { key } = await world.sdk.keys.create({ name: "reader", permissions: ["marketplace:read"] });
    const base = `/api/v1/marketplace/activations/${able.activationId}`;
    const lacks = (permission: string) => ({ key, status: 403, code: "forbidden" as const, contains: [permission] });
    await refused({ name: "write", path: `${base}/messages`, body: { text: "x" }, ...lacks("marketplace:write") });
    await refused({ name: "grant", path: "/api/v1/marketplace/credits", body: { amount: 1 }, ...lacks("billing:write") });
    await refused({ name: "read", method: "GET", path: `${base}/messages`, key, status: 200 });
  });
});

describe("bad input", () => {
  const bad = (name: string, path: string, body: unknown, ...details: string[]) => ({ name, path, body, details });
  const question = { type: "APPROVAL_REQUEST", text: "?" };
  const long = (n: number): string => "x".repeat(n);
  test.each([
    bad("a run's id too short", "/runs/start", { runId: "short" }, "runId invalid_format"),
    bad("a run's id with a slash", "/runs/start", { runId: "a/b/c/d/e" }, "runId invalid_format"),
    bad("a title of two lines", "/runs/start", { title: "a\nb" }, "title invalid_characters"),
    bad("a trigger nobody knows", "/runs/start", { trigger: { type: "magic" } }, "trigger.type invalid_value"),
    bad("metadata that is a list", "/runs/start", { metadata: [] }, "metadata invalid_type"),
    bad("metadata too large", "/runs/start", { metadata: { a: long(4096) } }, "metadata too_big"),
    bad("metadata too deep", "/runs/start", { metadata: { a: { b: { c: { d: { e: {} } } } } } }, "metadata too_deep"),
    bad("a number beyond all numbers", "/runs/start", '{"metadata":{"a":[1e400]}}', "metadata.a[0] out_of_range"),
    bad("no run", "/runs/log", {}, "runId required"),
    bad("51 entries", "/runs/log", { runId: "run-nobody", entries: Array(51).fill({ message: "x" }) }, "entries too_big"),
    bad("an entry without words", "/runs/log", { runId: "run-nobody", entries: [{ message: "" }] }, "entries[0].message too_small"),
    bad("more than done", "/runs/log", { runId: "run-nobody", progress: { percent: 101 } }, "progress.percent too_big"),
    bad("a count from zero", "/runs/log", { runId: "run-nobody", seq: 0 }, "seq too_small"),
    bad("an end that is none", "/runs/complete", { runId: "run-nobody", status: "RUNNING" }, "status invalid_value"),
    bad("a failure without a reason", "/runs/fail", { runId: "run-nobody" }, "error required"),
    bad("no text", "/messages", {}, "text required"),
    bad("an empty text", "/messages", { text: "" }, "text too_small"),
    bad("a text of blanks", "/messages", { text: " \n\t\u200b" }, "text invalid_characters"),
    bad(
      "a preview of blanks",
      "/messages",
      { ...question, approval: { title: "?", preview: { kind: "text", text: " " } } },
      "approval.preview.text invalid_characters",
    ),
    bad("too much text", "/messages", { text: long(10_001) }, "text too_big"),
    bad("half a character", "/messages", { text: "\ud83d" }, "text invalid_characters"),
    bad("a question that asks nothing", "/messages", question, "approval required"),
    bad("a text that asks", "/messages", { text: "x", approval: { title: "?" } }, "approval not_allowed"),
    bad(
      "one option",
      "/messages",
      { ...question, approval: { title: "?", options: [{ id: "a", label: "A" }] } },
      "approval.options too_small",
    ),
    bad(
      "two options of one name",
      "/messages",
      { ...question, approval: { title: "?", options: ["A", "B"].map((label) => ({ id: "a", label })) } },
      "approval.options duplicate",
    ),
    bad(
      "an option that is called like a decision",
      "/messages",
      { ...question, approval: { title: "?", options: ["expired", "later"].map((id) => ({ id, label: id })) } },
      "approval.options[0].id reserved",
    ),
    bad(
      "no time to answer",
      "/messages",
      { ...question, approval: { title: "?", expiresInSeconds: 59 } },
      "approval.expiresInSeconds too_small",
    ),
    bad("spending nothing", "/credits/consume", { amount: 0, action: "x" }, "amount too_small"),
    bad("spending less than nothing", "/credits/consume", { amount: -5, action: "x" }, "amount too_small"),
    bad("spending parts", "/credits/consume", { amount: 1.5, action: "x" }, "amount invalid_type"),
    bad("spending too much at once", "/credits/consume", { amount: 10_001, action: "x" }, "amount too_big"),
    bad("a number as text", "/credits/consume", { amount: "5", action: "x" }, "amount invalid_type"),
    bad("an action with blanks", "/credits/consume", { amount: 1, action: "Draft it" }, "action invalid_format"),
    bad("no time", "/wakeups", { reason: "x" }, "delaySeconds required"),
    bad("two times", "/wakeups", { reason: "x", delaySeconds: 60, runAt: "2026-01-02T00:00:00Z" }, "runAt not_allowed"),
    bad("too soon", "/wakeups", { reason: "x", delaySeconds: 9 }, "delaySeconds too_small"),
    bad("too late", "/wakeups", { reason: "x", delaySeconds: 2_592_001 }, "delaySeconds too_big"),
    bad("nobody waits", "/wakeups", { reason: "x", delaySeconds: 60, suspendRun: true }, "runId required"),
    bad("too much to carry", "/wakeups", { reason: "x", delaySeconds: 60, payload: long(4096) }, "payload too_big"),
  ])("$name", async ({ name, path, body, details }) => {
    const headers = { "idempotency-key": `bad-${name.replaceAll(" ", "-")}` };
    await refused({
      name,
      path: agentPath(able.activationId, path),
      key: able.key,
      headers,
      body,
      status: 400,
      code: "validation_error",
      details,
    });
  });

  test.each([
    ["a page before the first", "/messages?page=0", "page too_small"],
    ["101 at a time", "/runs?limit=101", "limit too_big"],
    ["a cursor of nowhere", "/runs?cursor=abc", "cursor invalid_cursor"],
    ["a state that is none", "/runs?status=SLEEPING", "status invalid_value"],
    ["a time that is none", "/messages?since=yesterday", "since invalid_format"],
    ["a sequence below zero", "/messages?afterSequence=-1", "afterSequence too_small"],
  ])("%s", async (name, path, detail) => {
    const row = { name, method: "GET", path: agentPath(able.activationId, path), key: able.key, status: 400 };
    await refused({ ...row, code: "validation_error", details: [detail] });
  });
});
