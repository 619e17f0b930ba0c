import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type AgentAnswer, createTestAgent, pdf, type TestAgent } from "../../test/agent.ts";
import { createWorld } from "../testing.ts";

const told = ({ headers }: AgentAnswer) =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"].map((name) => headers.get(name));

const times = async (n: number, call: () => Promise<AgentAnswer>): Promise<AgentAnswer[]> => {
  const answers: AgentAnswer[] = [];
  for (let i = 0; i < n; i += 1) answers.push(await call());
  return answers;
};

const statuses = (answers: readonly AgentAnswer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

const self = (agent: TestAgent) => agent.call("GET", "");

test("an activation has 120 calls a minute over all endpoints; others of the workspace keep theirs", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const other = await createTestAgent(world, { slug: "other" });
  const first = await self(agent);
  expect([first.status, ...told(first)]).toEqual([200, "120", "119", "1", null]);
  const rest = [
    ...(await times(100, () => self(agent))),
    // Failed calls count too.
    ...(await times(10, () => agent.call("GET", "/messages/msg_none"))),
    ...(await times(9, () => agent.call("POST", "/runs/start", { runId: "run-of-limits" }))),
  ];
  expect(statuses(rest)).toEqual({ 200: 108, 201: 1, 404: 10 });
  const refused = await agent.call("POST", "/runs/start", { runId: "never-begun" });
  expect([refused.status, ...told(refused)]).toEqual([429, "120", "0", "1", "1"]);
  expect(refused.body.error).toMatchObject({
    code: "rate_limited",
    message: "Too many requests. This activation may make 120 a minute.",
    hint: expect.stringContaining("Retry-After"),
  });
  // After a second two calls are available, one of them for the refused call, which had no effect.
  expect(told(await self(other))).toEqual(["120", "119", "1", null]);
  expect((await world.sdk.activations.get(other.activationId)).id).toBe(other.activationId);
  await world.clock.advance("1s");
  expect((await agent.call("GET", "/runs/never-begun")).status).toBe(404);
  expect((await self(agent)).status).toBe(200);
  expect((await self(agent)).status).toBe(429);
  await world.clock.advance("60s");
  expect(statuses(await times(121, () => self(agent)))).toEqual({ 200: 120, 429: 1 });
});

test("a key that opens nothing is refused 120 times a minute, then unseen; what becomes of it meanwhile counts after that", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const other = await createTestAgent(world, { slug: "other" });
  await world.sdk.activations.pause(agent.activationId);
  const first = await self(agent);
  expect([first.status, first.body.error.code, ...told(first)]).toEqual([403, "activation_paused", "120", "119", "1", null]);
  // On any path.
  const path = `${world.url}/api/v1/contacts`;
  const wrongDoor = await world.fetch(path, { headers: { authorization: `Bearer ${agent.key}` } });
  expect([wrongDoor.status, wrongDoor.headers.get("ratelimit-remaining")]).toEqual([403, "118"]);
  expect(statuses(await times(118, () => self(agent)))).toEqual({ 403: 118 });
  const refused = await self(agent);
  expect([refused.status, ...told(refused)]).toEqual([429, "120", "0", "1", "1"]);
  expect(refused.body.error).toMatchObject({
    code: "rate_limited",
    message: "Too many requests with a key that is refused here: at most 120 a minute.",
    hint: expect.stringMatching(/agent\.resumed .* one of another kind/),
  });
  expect((await world.fetch(path, { headers: { authorization: `Bearer ${agent.key}` } })).status).toBe(429);
  // Other keys keep their calls, and an unknown key gains none.
  expect(told(await self(other))).toEqual(["120", "119", "1", null]);
  const unknown = () => agent.call("GET", "", undefined, { authorization: `Bearer ${agent.key.slice(0, -1)}x` });
  expect(statuses(await times(130, unknown))).toEqual({ 401: 130 });
  await world.clock.advance("999ms");
  expect((await self(agent)).status).toBe(429);
  await world.clock.advance("1ms");
  expect(statuses(await times(3, () => self(agent)))).toEqual({ 403: 2, 429: 1 });
  await world.sdk.activations.resume(agent.activationId);
  await world.clock.advance("1s");
  expect(statuses(await times(120, () => self(agent)))).toEqual({ 200: 120 });
  await world.sdk.activations.deactivate(agent.activationId);
  expect(statuses(await times(3, () => self(agent)))).toEqual({ 401: 2, 429: 1 });
});

test("after the clock is set back, a key that was refused too often waits no longer than any other", async () => {
  await using world = await createWorld({ flags: { "rate-limit": "agent=1/min" } });
  const agent = await createTestAgent(world);
  await world.sdk.activations.pause(agent.activationId);
  expect(statuses(await times(2, () => self(agent)))).toEqual({ 403: 1, 429: 1 });
  const { clock } = world.app.deps;
  const now = clock.now() - 3_600_000;
  clock.now = () => now;
  expect(told(await self(agent))).toEqual(["1", "0", "60", "60"]);
});

test("messages have their own limit, and a refused one is not posted", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const say = () => agent.call("POST", "/messages", { text: "Hello" });
  expect(statuses(await times(20, say))).toEqual({ 201: 20 });
  const refused = await say();
  expect([refused.status, ...told(refused)]).toEqual([429, "20", "0", "3", "3"]);
  expect(refused.body.error).toMatchObject({ code: "rate_limited", hint: expect.stringContaining("one message") });
  const listed = await agent.call("GET", "/messages");
  expect([listed.status, listed.body.pagination.total]).toEqual([200, 20]);
  await world.clock.advance("3s");
  expect(statuses(await times(2, say))).toEqual({ 201: 1, 429: 1 });
});

test("a run can log 60 times a minute; another run of the agent keeps its own limit", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  for (const runId of ["run-that-talks", "run-that-is-quiet"]) await agent.call("POST", "/runs/start", { runId });
  const log = (runId: string) => agent.call("POST", "/runs/log", { runId, entries: [{ message: "x" }] });
  expect(statuses(await times(60, () => log("run-that-talks")))).toEqual({ 200: 60 });
  const refused = await log("run-that-talks");
  expect([refused.status, ...told(refused)]).toEqual([429, "60", "0", "1", "1"]);
  expect(refused.body.error.hint).toContain("50 entries");
  expect((await log("run-that-is-quiet")).status).toBe(200);
  await world.clock.advance("1s");
  expect((await log("run-that-talks")).status).toBe(200);
  const logs = await agent.call("GET", "/runs/run-that-talks/logs");
  expect(logs.body.pagination.total).toBe(61);
});

test("limits of agents are configurable, and invalid ones are refused by name", async () => {
  await using world = await createWorld({ flags: { "rate-limit": "agent=3/min,message=1/min" } });
  const agent = await createTestAgent(world);
  const answers = [
    await agent.call("POST", "/messages", { text: "1" }),
    await agent.call("POST", "/messages", { text: "2" }),
    await self(agent),
    await self(agent),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 429, 200, 429]);
  await expect(createWorld({ flags: { "rate-limit": "agent=0/min" } })).rejects.toThrow("agent=N/min");
  await expect(createWorld({ flags: { "rate-limit": "agents=5" } })).rejects.toThrow("agent=N/min");
});

test("four files at a time, and as many wait", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const other = await createTestAgent(world, { slug: "other" });
  const send = (by: TestAgent, n: number) =>
    by.call("POST", "/lead-magnets", { title: "T", fileName: "a.pdf", contentBase64: pdf(`${n}`).toString("base64") });
  // All of them stay open until two were refused.
  const { staging } = world.app.deps;
  const { stage } = staging;
  let refusals = 0;
  let under = 0;
  let most = 0;
  let goOn = (): void => {};
  const refused = new Promise<void>((done) => {
    goOn = done;
  });
  (staging as { stage: typeof stage }).stage = async (owner, file, gone) => {
    under += 1;
    if (owner.activationId === agent.activationId) most = Math.max(most, under);
    await refused;
    under -= 1;
    return stage(owner, file, gone);
  };
  const sending = Array.from({ length: 22 }, async (_, n) => {
    const answer = await send(agent, n);
    if (answer.status === 429) {
      expect(answer.headers.get("retry-after")).toBe("1");
      refusals += 1;
      if (refusals === 2) goOn();
    }
    return answer;
  });
  expect(statuses(await Promise.all(sending))).toEqual({ 201: 20, 429: 2 });
  expect(most).toBe(4);
  expect((await send(other, 7)).status).toBe(201);
  expect((await send(agent, 8)).status).toBe(201);
});

test("an upload that is aborted while it waits frees its slot", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const { staging } = world.app.deps;
  const { stage } = staging;
  const under: string[] = [];
  let goOn = (): void => {};
  let arrive = (): void => {};
  const going = new Promise<void>((done) => {
    goOn = done;
  });
  const four = new Promise<void>((done) => {
    arrive = done;
  });
  (staging as { stage: typeof stage }).stage = async (owner, file, gone) => {
    under.push(file.fileName);
    if (under.length === 4) arrive();
    await going;
    return stage(owner, file, gone);
  };
  const send = async (fileName: string, signal?: AbortSignal): Promise<number> => {
    const { status } = await world.fetch(world.url + agent.path("/lead-magnets"), {
      method: "POST",
      headers: { authorization: `Bearer ${agent.key}`, "content-type": "application/json" },
      body: JSON.stringify({ title: "T", fileName, contentBase64: pdf(fileName).toString("base64") }),
      ...(signal && { signal }),
    });
    return status;
  };
  const first = Array.from({ length: 21 }, (_, n) => {
    const connection = new AbortController();
    const fileName = `first-${n}.pdf`;
    return { fileName, connection, answered: send(fileName, connection.signal) };
  });
  // One too many: by then all others wait.
  expect(await Promise.race(first.map(({ answered }) => answered))).toBe(429);
  await four;
  const served = first.filter(({ fileName }) => under.includes(fileName));
  const others = first.filter(({ fileName }) => !under.includes(fileName));
  for (const { connection } of others) connection.abort();
  const left = await Promise.all(others.map(({ answered }) => answered));
  expect(left.sort()).toEqual([...Array(16).fill(400), 429]);
  const later = Array.from({ length: 16 }, (_, n) => send(`later-${n}.pdf`));
  goOn();
  expect(await Promise.all([...served.map(({ answered }) => answered), ...later])).toEqual(Array(20).fill(201));
});

test("a brand uploads four files at a time too, and fifty concurrent ones all succeed", async () => {
  await using world = await createWorld();
  const { staging } = world.app.deps;
  const { stage } = staging;
  let under = 0;
  let most = 0;
  (staging as { stage: typeof stage }).stage = async (owner, file, gone) => {
    under += 1;
    most = Math.max(most, under);
    const staged = await stage(owner, file, gone);
    under -= 1;
    return staged;
  };
  const files = Array.from({ length: 50 }, (_, n) => pdf(`${n} ${"x".repeat(300_000)}`).toString("base64"));
  const made = await Promise.all(
    files.map((contentBase64) => world.sdk.leadMagnets.create({ title: "T", fileName: "a.pdf", contentBase64 })),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(50);
  expect(most).toBeLessThanOrEqual(4);
});

test("a large body that is not an upload is refused before it is parsed", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const text = "x".repeat(5 * 1024 * 1024);
  for (const [path, body] of [
    ["/messages", { text }],
    ["/runs/start", { metadata: { text } }],
    ["/landing-pages", { title: text }],
  ] as const)
    expect(await agent.call("POST", path, body)).toMatchObject({ status: 413, body: { error: { code: "payload_too_large" } } });
});

test("the guide has these limits", () => {
  const guide = readFileSync(new URL("../../../../docs/agents-at-work.md", import.meta.url), "utf8");
  for (const line of [
    "| Calls of an activation, all together | 120 |",
    "| Calls with a paused or revoked key, or one used on another activation | 120 |",
    "| Messages and approval requests of an activation | 20 |",
    "| `runs/log` for one run | 60 |",
    "| Files an activation uploads | 4 at a time, 16 wait |",
    "| A body that is not an upload | 4 MB |",
  ])
    expect(guide).toContain(line);
});
