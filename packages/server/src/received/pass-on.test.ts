import { Mailsvc } from "@mailsvc/sdk";
import type { AgentScope } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createTestAgent } from "../../test/agent.ts";
import { listEvents } from "../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ADA = "ada@example.com";
const SCOPES: AgentScope[] = ["agent:read_messages", "agent:write_runs"];

/** Ada's answer to a mail of the brand. */
async function receive(world: TestWorld, text: string, more = {}) {
  await world.sdk.emails.send({ from: "Acme <hello@acme.test>", to: ADA, subject: "Hi", text: "How are you?", replyTo: "auto", ...more });
  return world.reply(ADA, { text });
}

test("a brand passes what a person wrote on to an agent, without addresses and names", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  await world.sdk.contacts.create({ email: ADA, firstName: "Ada", lastName: "Lovelace" });
  const { id } = await receive(
    world,
    `Fine. Write to ${ADA} or ADA@Example.com, or to boss@example.com.\n\nAda, of the Lovelaces (ada lovelace)`,
    {
      cc: "Grace Hopper <grace@example.com>",
    },
  );
  const message = await world.sdk.received.passOn(id, { agent: "writer" });
  const text = "Fine. Write to [address] or [address], or to boss@example.com.\n\n[name], of the Lovelaces ([name] [name])";
  expect(message).toMatchObject({ activationId: agent.activationId, direction: "inbound", author: { role: "brand" }, type: "TEXT", text });
  expect((await agent.call("GET", "/messages")).body.data).toEqual([message]);
  const events = await listEvents(world, agent.activationId);
  expect(events.at(-1)).toMatchObject({ type: "message.posted", messageId: message.id, text });
  expect(JSON.stringify(events)).not.toMatch(/ada@|grace|hopper/i);
  const { timeline, related } = await world.sdk.explanations.get(id);
  expect(timeline.at(-1)).toMatchObject({ what: `Passed on to an agent: ${agent.activationId}` });
  expect(related).toContain(agent.activationId);
});

test("nothing reaches an agent that nobody passes on, whatever the mail is tagged with", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const { id } = await receive(world, "For the brand", { tags: { activation: agent.activationId } });
  expect((await agent.call("GET", "/messages")).body.data).toEqual([]);
  expect((await listEvents(world, agent.activationId)).map(({ type }) => type)).toEqual(["agent.activated"]);
  expect((await agent.call("GET", "/replies")).status).toBe(404);
  expect((await agent.call("GET", `/received/${id}`)).status).toBe(404);
});

test("a mail is passed on to each agent once", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  const other = await createTestAgent(world, { slug: "reader", permissions: SCOPES });
  const { id } = await receive(world, "Yes, please.");
  const first = await world.sdk.received.passOn(id, { agent: "writer" });
  expect(await world.sdk.received.passOn(id, { agent: "writer" })).toEqual(first);
  expect((await world.sdk.received.passOn(id, { agent: "reader" })).activationId).toBe(other.activationId);
  expect((await agent.call("GET", "/messages")).body.data).toHaveLength(1);
});

test("it is refused for agents that are off, unknown or may not read messages, and for keys that may not read the mail", async () => {
  await using world = await createWorld();
  const { id } = await receive(world, "Hello");
  await expect(world.sdk.received.passOn(id, { agent: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  await createTestAgent(world, { slug: "mute", permissions: ["agent:write_runs"] });
  await expect(world.sdk.received.passOn(id, { agent: "mute" })).rejects.toMatchObject({ code: "invalid_state" });
  const { activationId } = await createTestAgent(world, { permissions: SCOPES });
  const { key } = await world.sdk.keys.create({ name: "narrow", permissions: ["marketplace:write"] });
  await expect(
    new Mailsvc({ apiKey: key, baseUrl: world.url, fetch: world.fetch }).received.passOn(id, { agent: "writer" }),
  ).rejects.toMatchObject({ code: "forbidden" });
  const foreign = await world.createWorkspace("Other");
  await expect(foreign.sdk.received.passOn(id, { agent: "writer" })).rejects.toMatchObject({ code: "not_found" });
  await world.sdk.activations.deactivate(activationId);
  await expect(world.sdk.received.passOn(id, { agent: "writer" })).rejects.toMatchObject({ code: "not_found" });
});

test("a paused agent gets it when it is resumed, unless the person is erased before", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  await world.sdk.activations.pause(agent.activationId);
  const { id } = await receive(world, "A secret word: plover");
  await world.sdk.received.passOn(id, { agent: "writer" });
  await world.sdk.people.erase(ADA);
  await world.sdk.activations.resume(agent.activationId);
  const events = await listEvents(world, agent.activationId);
  expect(events.at(-1)).toMatchObject({ type: "message.posted", text: "(The mail that was passed on here is deleted.)" });
  expect(JSON.stringify(events)).not.toContain("plover");
});

test("deleting the mail takes its text out of the conversation and of the events", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: SCOPES });
  const { id } = await receive(world, "A secret word: plover");
  await world.sdk.received.passOn(id, { agent: "writer" });
  await world.sdk.messages.create(agent.activationId, { text: "An own word" });
  await world.sdk.received.delete(id);
  const seen = [(await agent.call("GET", "/messages")).text, JSON.stringify(await listEvents(world, agent.activationId))];
  expect(seen.join()).not.toContain("plover");
  expect(seen[0]).toContain("An own word");
});

test("a long text is cut between two words", async () => {
  await using world = await createWorld();
  await createTestAgent(world, { permissions: SCOPES });
  const { id } = await receive(world, `${"x".repeat(9_990)} ${ADA}`);
  expect((await world.sdk.received.passOn(id, { agent: "writer" })).text).toMatch(/^x+$/);
});
