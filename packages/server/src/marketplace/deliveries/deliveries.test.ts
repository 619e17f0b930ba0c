import { expect, test } from "vitest";
import { listAgent, receiver, turnOn } from "../../../test/marketplace.ts";
import { createWorld } from "../../testing.ts";

test("an activation's key reaches the webhook, and its copy is erased", async () => {
  await using hooks = await receiver();
  await using world = await createWorld();
  await listAgent(world.sdk, hooks.url);
  const activation = await turnOn(world.sdk);
  await world.settle();
  expect(hooks.bodies).toHaveLength(1);
  expect(await world.sdk.activations.get(activation.id)).toMatchObject({ keyDeliveredAt: "2026-01-01T00:00:00.000Z" });
});
