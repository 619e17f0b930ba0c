import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };
const statusOf = async (world: TestWorld, to: string): Promise<number> =>
  (await ask(world, { path: "/api/v1/send", body: { ...hello, to } })).status;

describe("a suppression counts from the moment it is made", () => {
  test("through the API, and no longer once it is removed", async () => {
    await using world = await createWorld();
    expect(await statusOf(world, "ada@example.com")).toBe(200);
    await world.sdk.suppressions.create({ email: "Ada@example.com" });
    expect(await statusOf(world, "ada@example.com")).toBe(400);
    await world.sdk.suppressions.delete("ada@example.com");
    expect(await statusOf(world, "ada@example.com")).toBe(200);
  });

  test("through an import, and after a bounce", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.import({ entries: [{ email: "ada@example.com", reason: "manual", scope: "all" }] });
    await world.sdk.emails.send({ ...hello, to: "hardbounced@simulator.mailsvc.test" });
    await world.settle();
    expect(await statusOf(world, "ada@example.com")).toBe(400);
    expect(await statusOf(world, "hardbounced@simulator.mailsvc.test")).toBe(400);
  });

  test("after the person was erased", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "ada@example.com" });
    await world.sdk.people.erase("ada@example.com");
    expect(await statusOf(world, "ada@example.com")).toBe(400);
    expect(await statusOf(world, "grace@example.com")).toBe(200);
  });

  test("after a snapshot is restored", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "ada@example.com" });
    await world.sdk.world.snapshot({ name: "s" });
    await world.sdk.world.reset();
    expect(await statusOf(world, "ada@example.com")).toBe(200);
    await world.sdk.world.restore({ name: "s" });
    expect([await statusOf(world, "ada@example.com"), await statusOf(world, "ada@example.com")]).toEqual([400, 400]);
    await world.settle();
    expect(await statusOf(world, "ada@example.com")).toBe(400);
  });
});
