import { createWorld } from "@mailsvc/server/testing";
import { describe, expect, test } from "vitest";
import { becameActive, signUp } from "./sign-up.ts";

const ada = { name: "Ada", email: "ada@example.com" };

describe("a sign-up", () => {
  test("is welcomed at once and reminded in three days", async () => {
    await using world = await createWorld();
    await signUp(world.sdk, ada, world.clock.now());
    expect(await world.inbox.all()).toMatchObject([{ to: "ada@example.com", subject: "Welcome, Ada" }]);
    await world.clock.advance("71h");
    expect(await world.inbox.all()).toHaveLength(1);
    await world.clock.advance("1h");
    expect(await world.inbox.all({ subject: "looked around" })).toHaveLength(1);
  });

  test("is not reminded once it is active", async () => {
    await using world = await createWorld();
    const { reminderId } = (await signUp(world.sdk, ada, world.clock.now())) as { reminderId: string };
    expect(await becameActive(world.sdk, reminderId)).toBe(true);
    await world.clock.advance("30d");
    expect(await world.inbox.all()).toHaveLength(1);
  });

  test("knows that a reminder has gone out", async () => {
    await using world = await createWorld();
    const { reminderId } = (await signUp(world.sdk, ada, world.clock.now())) as { reminderId: string };
    await world.clock.advance("3d");
    expect(await becameActive(world.sdk, reminderId)).toBe(false);
  });

  test("does not write again to an address that bounced", async () => {
    await using world = await createWorld();
    const gone = { name: "Gone", email: "bounced@simulator.mailsvc.test" };
    await signUp(world.sdk, gone, world.clock.now());
    await world.settle();
    expect(await signUp(world.sdk, gone, world.clock.now())).toEqual({ outcome: "unreachable" });
  });

  test("survives a service that fails for a moment", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ method: "POST", path: "/api/v1/send", code: "queue_failed", count: 1 });
    expect(await signUp(world.sdk, ada, world.clock.now())).toMatchObject({ outcome: "welcome" });
    expect(await world.inbox.all()).toHaveLength(1);
  });
});
