import { expect, test } from "vitest";
import { createAgent, withAgent } from "../../../test/agent-at-work.ts";
import { startReceiver } from "../../../test/marketplace.ts";
import { createWorld } from "../../testing.ts";

const question = (title: string, also: object = {}) => ({
  type: "APPROVAL_REQUEST" as const,
  text: `About ${title}`,
  approval: { title, ...also },
});

test("agent and brand exchange messages and mark them as read", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const hello = await client.messages.create({ text: "Hello, *brand*", format: "markdown", externalId: "greeting" });
  expect(hello).toEqual({
    id: expect.stringMatching(/^msg_/),
    sequence: 1,
    activationId,
    runId: null,
    type: "TEXT",
    direction: "outbound",
    author: { role: "agent" },
    text: "Hello, *brand*",
    format: "markdown",
    externalId: "greeting",
    inReplyTo: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    readAt: null,
    approval: null,
  });
  const reply = await world.sdk.messages.create(activationId, { text: "Hello, agent", inReplyTo: hello.id });
  expect(reply).toMatchObject({ sequence: 2, direction: "inbound", author: { role: "brand" }, inReplyTo: hello.id });
  expect((await client.messages.list()).data.map(({ id }) => id)).toEqual([reply.id, hello.id]);
  expect((await world.sdk.messages.list(activationId)).data.map(({ id }) => id)).toEqual([reply.id, hello.id]);
  expect(await client.messages.get(reply.id)).toEqual(reply);
  // Replying to a message marks it as read.
  expect(await world.sdk.messages.get(hello.id)).toEqual({ ...hello, readAt: reply.createdAt });
  expect(await client.messages.read({ upToSequence: 2 })).toEqual({ unread: 0 });
  expect((await world.sdk.messages.get(reply.id)).readAt).not.toBeNull();
  const more = await client.messages.create({ text: "More" });
  expect(more.readAt).toBeNull();
  expect(await world.sdk.messages.read(activationId, { upToSequence: 1 })).toEqual({ unread: 1 });
});

test("an externalId makes one message: a repeat returns it, and another request is refused with its id", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client } = made.agent;
  const all = await Promise.all(Array.from({ length: 10 }, () => client.messages.create({ text: "x", externalId: "e" })));
  const [first] = all;
  expect(all).toEqual(all.map(() => first));
  await expect(client.messages.create({ text: "y", externalId: "e" })).rejects.toMatchObject({
    code: "id_reused",
    status: 409,
    details: [{ path: "externalId", code: "duplicate_external_id", message: first?.id }],
  });
  expect((await client.messages.list()).pagination.total).toBe(1);
  const { runId } = await client.runs.start();
  const request = { ...question("q", { expiresInSeconds: 3600 }), runId, externalId: "q" };
  const asked = await client.messages.create(request);
  await world.sdk.messages.answer(asked.id, { decision: "approve" });
  expect(await client.messages.create(request)).toMatchObject({ id: asked.id, approval: { status: "APPROVED" } });
  for (const other of [
    { ...request, runId: undefined },
    { ...question("q", { expiresInSeconds: 3601 }), runId, externalId: "q" },
    { ...question("q", { expiresInSeconds: 3600, suspendRun: false }), runId, externalId: "q" },
  ])
    await expect(client.messages.create(other)).rejects.toMatchObject({ code: "id_reused" });
});

test("a text of the brand reaches an agent that may read it as message.posted", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const hello = await client.messages.create({ text: "Hello" });
  const { runId } = await client.runs.start();
  await world.clock.advance("1s");
  const reply = await world.sdk.messages.create(activationId, { text: "Please *hurry*", format: "markdown", inReplyTo: hello.id, runId });
  expect(await heard("message.posted")).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      type: "message.posted",
      activationId,
      runId,
      sequence: 2,
      timestamp: reply.createdAt,
      messageId: reply.id,
      messageSequence: 2,
      text: "Please *hurry*",
      format: "markdown",
      inReplyTo: hello.id,
    },
  ]);
  await world.sdk.messages.create(activationId, { text: "And again" });
  expect((await heard("message.posted")).map(({ messageSequence, text, runId }) => [messageSequence, text, runId])).toEqual([
    [2, "Please *hurry*", runId],
    [3, "And again", null],
  ]);
});

test("an agent without agent:read_messages gets no message.posted", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["agent:post_messages"]);
  await world.sdk.messages.create(made.agent.activationId, { text: "Hello" });
  expect(await made.agent.heard("message.posted")).toEqual([]);
});

test("the preview of an approval request cannot be another agent's page or lead magnet", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  await using hooks = await startReceiver();
  const rival = await createAgent(world, hooks, { slug: "rival" });
  const upload = (text: string) => ({ title: "Guide", fileName: "a.pdf", file: Buffer.from(`%PDF-1.7\n${text}\n%%EOF\n`) });
  const things = async (client: typeof rival.client) => ({
    landing_page: (await client.landingPages.create({ title: "Page", html: "<p>x</p>" })).id,
    lead_magnet: (await client.leadMagnets.create(upload("agent"))).id,
  });
  const ask = (kind: "landing_page" | "lead_magnet", id: string) =>
    made.agent.client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval: { title: "?", preview: { kind, id } } });
  const own = await things(made.agent.client);
  const theirs = await things(rival.client);
  for (const kind of ["landing_page", "lead_magnet"] as const) {
    expect(await ask(kind, own[kind])).toMatchObject({ approval: { preview: { id: own[kind] } } });
    await expect(ask(kind, theirs[kind])).rejects.toMatchObject({
      code: "not_found",
      status: 404,
      details: [{ path: "approval.preview.id", code: "not_found" }],
    });
  }
  await rival.client.landingPages.publish(theirs.landing_page);
  await expect(ask("landing_page", theirs.landing_page)).rejects.toMatchObject({ code: "not_found" });
  const shared = await world.sdk.leadMagnets.create(upload("person"));
  expect(await ask("lead_magnet", shared.id)).toMatchObject({ approval: { status: "PENDING" } });
});

test("polling by sequence returns each message once, oldest first, while others arrive", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  for (let n = 1; n <= 25; n += 1) await world.sdk.messages.create(activationId, { text: `${n}` });
  await client.messages.create({ text: "not for me" });
  const seen: string[] = [];
  for await (const message of client.messages.list({ direction: "inbound", afterSequence: 5, limit: 7 })) {
    seen.push(message.text);
    if (seen.length === 3) await world.sdk.messages.create(activationId, { text: "26" });
  }
  expect(seen).toEqual([...Array.from({ length: 20 }, (_, n) => `${n + 6}`), "26"]);
  const newest: string[] = [];
  for await (const message of client.messages.list({ direction: "inbound", limit: 10 })) newest.push(message.text);
  expect(newest).toEqual(["26", ...Array.from({ length: 25 }, (_, n) => `${25 - n}`)]);
  expect((await client.messages.list({ afterSequence: 20, limit: 3, page: 2 })).data.map(({ text }) => text)).toEqual([
    "24",
    "25",
    "not for me",
  ]);
});

test("filters: by type, direction, state, run and time", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const { runId } = await client.runs.start();
  await client.messages.create({ text: "a" });
  await client.messages.create({ ...question("q", { expiresInSeconds: 60 }), runId });
  const open = await client.messages.create({ ...question("p"), runId });
  await world.clock.advance("60s");
  await world.sdk.messages.create(activationId, { text: "b" });
  const texts = async (filter: Parameters<typeof client.messages.list>[0]) =>
    (await client.messages.list(filter)).data.map(({ text }) => text);
  expect(await texts({ type: "TEXT" })).toEqual(["b", "a"]);
  expect(await texts({ direction: "inbound" })).toEqual(["b", "expired"]);
  expect(await texts({ status: "PENDING" })).toEqual(["About p"]);
  expect(await texts({ status: "EXPIRED" })).toEqual(["About q"]);
  expect(await texts({ runId })).toEqual(["expired", "About p", "About q"]);
  expect(await texts({ since: "2026-01-01T00:01:00.000Z" })).toEqual(["b", "expired"]);
  expect((await world.sdk.messages.list(activationId, { status: "PENDING" })).data.map(({ id }) => id)).toEqual([open.id]);
});

test("two approvals of one run are two events with different message ids", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard, activationId } = made.agent;
  const { runId } = await client.runs.start();
  const one = await client.messages.create({ ...question("one"), runId });
  const two = await client.messages.create({
    ...question("two", {
      options: [
        { id: "red", label: "Red" },
        { id: "blue", label: "Blue", style: "primary" },
      ],
    }),
    runId,
  });
  expect(await world.sdk.messages.answer(one.id, { decision: "reject", comment: "No." })).toMatchObject({
    approval: { status: "REJECTED", decision: "rejected", comment: "No.", answeredAt: "2026-01-01T00:00:00.000Z" },
  });
  expect(await world.sdk.messages.answer(two.id, { decision: "blue" })).toMatchObject({
    approval: { status: "ANSWERED", decision: "blue" },
  });
  const told = await heard("approval_response");
  expect(told.map((e) => [e.type, e.activationId, e.runId, e.messageId, e.decision, e.comment])).toEqual([
    ["approval_response", activationId, runId, one.id, "rejected", "No."],
    ["approval_response", activationId, runId, two.id, "blue", null],
  ]);
  expect((await client.messages.list({ type: "APPROVAL_RESPONSE" })).data.map((m) => [m.inReplyTo, m.text, m.author.role])).toEqual([
    [two.id, "blue", "brand"],
    [one.id, "No.", "brand"],
  ]);
});

test("of concurrent answers one counts", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const { id } = await client.messages.create(question("once"));
  const done = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => world.sdk.messages.answer(id, { decision: n % 2 === 0 ? "approve" : "reject" })),
  );
  const [winner] = done.flatMap((d) => (d.status === "fulfilled" ? [d.value] : []));
  expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const d of done) if (d.status === "rejected") expect(d.reason).toMatchObject({ code: "invalid_state", status: 409 });
  expect((await heard("approval_response")).map(({ decision }) => decision)).toEqual([winner?.approval?.decision]);
  expect((await client.messages.get(id)).approval?.decision).toBe(winner?.approval?.decision);
});

test("an unanswered request expires at its time, with one event, and its run continues", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const { runId } = await client.runs.start();
  const { id } = await client.messages.create({ ...question("slow", { expiresInSeconds: 3600 }), runId });
  await world.clock.advance("59m59s999ms");
  expect((await client.messages.get(id)).approval?.status).toBe("PENDING");
  await world.clock.advance("1ms");
  expect((await client.messages.get(id)).approval).toMatchObject({
    status: "EXPIRED",
    decision: "expired",
    answeredAt: "2026-01-01T01:00:00.000Z",
  });
  await expect(world.sdk.messages.answer(id, { decision: "approve" })).rejects.toMatchObject({
    code: "invalid_state",
    details: [{ code: "approval_expired" }],
  });
  expect(await heard("approval_response")).toMatchObject([
    { messageId: id, runId, decision: "expired", timestamp: "2026-01-01T01:00:00.000Z" },
  ]);
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING", deadlineAt: "2026-01-01T01:15:00.000Z" });
  expect((await client.messages.list({ type: "APPROVAL_RESPONSE" })).data).toMatchObject([{ inReplyTo: id, author: { role: "system" } }]);
});

test("an agent cancels its request without an event; an answered one cannot be cancelled", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, heard } = made.agent;
  const { runId } = await client.runs.start();
  const one = await client.messages.create({ ...question("one"), runId });
  expect((await client.messages.cancel(one.id, {})).approval?.status).toBe("CANCELLED");
  expect((await client.messages.cancel(one.id, {})).approval?.status).toBe("CANCELLED");
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING" });
  await expect(world.sdk.messages.answer(one.id, { decision: "approve" })).rejects.toMatchObject({
    details: [{ code: "approval_cancelled" }],
  });
  const two = await client.messages.create(question("two"));
  await world.sdk.messages.answer(two.id, { decision: "approve" });
  await expect(client.messages.cancel(two.id, {})).rejects.toMatchObject({
    code: "invalid_state",
    details: [{ code: "approval_approved" }],
  });
  const text = await client.messages.create({ text: "x" });
  await expect(client.messages.cancel(text.id, {})).rejects.toMatchObject({ details: [{ code: "not_a_request" }] });
  await expect(world.sdk.messages.answer(text.id, { decision: "approve" })).rejects.toMatchObject({ details: [{ code: "not_a_request" }] });
  expect(await heard("approval_response")).toHaveLength(1);
});

test("requests of a paused agent can be answered, and it gets the answer", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  const { id } = await client.messages.create(question("x"));
  await world.sdk.activations.pause(activationId);
  await world.sdk.messages.answer(id, { decision: "approve" });
  await world.sdk.messages.create(activationId, { text: "Come back soon." });
  await world.sdk.activations.resume(activationId);
  expect(await heard("approval_response")).toHaveLength(1);
  expect((await client.messages.list({ direction: "inbound" })).pagination.total).toBe(2);
});
