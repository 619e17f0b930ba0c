import type { AgentScope } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createTestAgent } from "../../../test/agent.ts";
import { listEvents } from "../../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

const ADA = "ada@example.com";
const SCOPES: AgentScope[] = ["messages:replies", "agent:write_runs"];

/** The brand sends a mail for an agent. */
const sendFor = (world: TestWorld, activation: string, more = {}) =>
  world.sdk.emails.send({
    from: "Acme <hello@acme.test>",
    to: ADA,
    subject: "Hi",
    text: "How are you?",
    replyTo: "auto",
    tags: { activation },
    ...more,
  });

test("an agent reads what people answer to mail that was sent for it, without addresses", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  const { id } = await sendFor(world, agent.activationId);
  await world.reply(ADA, { text: `Fine. Write to ${ADA} or ADA@Example.com, or to boss@example.com.`, html: "<p>Fine.</p>" });
  const { body } = await agent.call("GET", "/replies");
  expect(body.data).toEqual([
    {
      id: expect.stringMatching(/^rpl_/),
      threadId: id,
      subject: "Re: Hi",
      text: "Fine. Write to [address] or [address], or to boss@example.com.",
      receivedAt: "2026-01-01T00:00:00.000Z",
    },
  ]);
  const [reply] = body.data;
  expect((await agent.call("GET", `/replies/${reply.id}`)).body).toEqual(reply);
  const events = await listEvents(world, agent.activationId);
  expect(events.filter(({ type }) => type === "reply.received")).toMatchObject([{ replyId: reply.id, threadId: id }]);
  expect(JSON.stringify(events)).not.toContain("example.com");
});

test("it sees nothing of automatic answers, of other mail, and of mail for other agents", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  const other = await createTestAgent(world, { slug: "reader", permissions: SCOPES });
  await sendFor(world, agent.activationId);
  await world.reply(ADA, { text: "I am away.", automatic: true });
  await sendFor(world, agent.activationId, { tags: {} });
  await world.reply(ADA, { text: "For the brand" });
  await sendFor(world, other.activationId);
  await world.reply(ADA, { text: "For the reader" });
  const foreign = await world.createWorkspace("Other");
  await foreign.sdk.emails.send({
    from: "a@acme.test",
    to: ADA,
    subject: "x",
    text: "x",
    replyTo: "auto",
    tags: { activation: agent.activationId },
  });
  await world.reply(ADA, { text: "For another brand" });
  expect((await agent.call("GET", "/replies")).body.data).toEqual([]);
  const [theirs] = (await other.call("GET", "/replies")).body.data;
  expect(theirs.text).toBe("For the reader");
  expect((await agent.call("GET", `/replies/${theirs.id}`)).status).toBe(404);
});

test("it sees nothing without the scope, and nothing of a person who is erased", async () => {
  await using world = await createWorld();
  const without = await createTestAgent(world, { slug: "mute", permissions: ["agent:write_runs"] });
  await sendFor(world, without.activationId);
  await world.reply(ADA, { text: "Hello" });
  expect((await without.call("GET", "/replies")).status).toBe(403);
  expect((await listEvents(world, without.activationId)).map(({ type }) => type)).not.toContain("reply.received");
  const agent = await createTestAgent(world, { permissions: SCOPES });
  await sendFor(world, agent.activationId);
  await world.reply(ADA, { text: "Hello" });
  expect((await agent.call("GET", "/replies")).body.data).toHaveLength(1);
  await world.sdk.people.erase(ADA);
  expect((await agent.call("GET", "/replies")).body.data).toEqual([]);
});

test("it learns nothing of a recipient by bcc: not from the answers of others, nor from that recipient's own", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  const unseen = "unseen@hidden.example";
  const { id } = await sendFor(world, agent.activationId, { cc: "bob@example.com", bcc: `Unseen Person <${unseen}>` });
  await world.reply(ADA, { text: "From Ada." });
  await world.reply(unseen, { text: `From me, ${unseen}.` });
  const listed = (await agent.call("GET", "/replies")).body.data;
  expect(listed.map(({ text }: { text: string }) => text).sort()).toEqual(["From Ada.", "From me, [address]."]);
  const events = await listEvents(world, agent.activationId);
  expect(events.filter(({ type }) => type === "reply.received")).toHaveLength(2);
  expect(JSON.stringify([listed, events])).not.toMatch(/unseen|hidden\.example|bcc/i);

  // The answer of another recipient, as the brand got it: what is said of it, and what Ada's program wrote.
  const { data } = await world.sdk.received.list();
  const ada = data.find(({ from }) => from === ADA);
  expect(data.map(({ from }) => from).sort()).toEqual([ADA, unseen]);
  const outputs = [
    await world.sdk.received.get(ada?.id ?? ""),
    await world.sdk.explanations.get(ada?.id ?? ""),
    Buffer.from(await world.sdk.received.raw(ada?.id ?? "")).toString(),
    (await world.events.all({ type: "email.received" })).filter(({ to }) => to === ADA),
  ];
  expect(outputs.at(-1)).toHaveLength(1);
  expect(JSON.stringify(outputs)).not.toMatch(/unseen|hidden\.example/i);
  expect(ada?.threadId).toBe(id);
});

test("it sees no address of the other recipients of the mail, nor half of one", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  await sendFor(world, agent.activationId, { cc: "Grace <grace@example.com>" });
  await world.reply(ADA, { text: `Ask grace@example.com. ${"x".repeat(64 * 1024 - 38)} ${ADA}` });
  const { body } = await agent.call("GET", "/replies");
  expect(body.data).toMatchObject([{ text: expect.stringMatching(/^Ask \[address\]\. x+\s*$/) }]);
});
