import type { AgentEventType } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { listEvents } from "../../../test/marketplace.ts";
import { createWorld } from "../../testing.ts";

const question = (title: string, runId?: string) => ({
  type: "APPROVAL_REQUEST" as const,
  text: `About ${title}`,
  ...(runId !== undefined && { runId }),
  approval: { title, expiresInSeconds: 3600 },
});

test("what asks a paused agent to go on is held, comes after agent.resumed in its order, and its run waits until then", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const { runId } = await client.runs.start();
  const asked = await client.messages.create(question("the page", runId));
  const expiring = await client.messages.create(question("the title"));
  await world.sdk.activations.pause(activationId);
  await world.sdk.messages.answer(asked.id, { decision: "approve" });
  await world.sdk.messages.create(activationId, { text: "Go ahead when you are back" });
  // Longer than the window of a run: one that was RUNNING would have failed.
  await world.clock.advance("2h");
  const types = async (): Promise<AgentEventType[]> => (await listEvents(world, activationId)).map(({ type }) => type);
  expect(await types()).toEqual(["agent.activated", "agent.paused"]);
  await world.sdk.activations.resume(activationId);
  await world.settle();
  const events = await listEvents(world, activationId);
  expect(events.slice(2)).toMatchObject([
    { type: "agent.resumed", sequence: 3 },
    { type: "approval_response", sequence: 4, messageId: asked.id, decision: "approved", answeredAt: "2026-01-01T00:00:00.000Z" },
    { type: "message.posted", sequence: 5 },
    { type: "approval_response", sequence: 6, messageId: expiring.id, decision: "expired" },
  ]);
  expect(await client.runs.get(runId)).toMatchObject({ status: "RUNNING", waitingFor: null, deadlineAt: "2026-01-01T02:15:00.000Z" });
  // Held once, and released once.
  await world.sdk.activations.pause(activationId);
  await world.sdk.activations.resume(activationId);
  expect((await types()).slice(6)).toEqual(["agent.paused", "agent.resumed"]);
});

test("an activation that ends while it is paused reports what was held before agent.deactivated", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId } = made.agent;
  const asked = await client.messages.create(question("the page"));
  await world.sdk.activations.pause(activationId);
  await world.sdk.messages.answer(asked.id, { decision: "reject" });
  await world.sdk.activations.deactivate(activationId);
  await world.settle();
  expect((await listEvents(world, activationId)).map(({ type }) => type)).toEqual([
    "agent.activated",
    "agent.paused",
    "approval_response",
    "agent.deactivated",
  ]);
});
