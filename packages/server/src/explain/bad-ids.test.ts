import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";

test.each(["https://user:pass@127.0.0.1:9/", `${"a".repeat(65)}@example.com`, "ada@", "@"])(
  "what looks like an address and is none is refused: %s",
  async (id) => {
    await using world = await createWorld();
    await expect(world.sdk.explanations.get(id)).rejects.toMatchObject({
      status: 400,
      code: "validation_error",
      details: [{ path: "id", code: "invalid_address" }],
    });
  },
);

test.each(["Ada <ada@example.com>", "<ada@example.com>"])("a mailbox is explained by its address: %s", async (id) => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "ada@example.com" });
  expect((await world.sdk.explanations.get(id)).title).toBe("Contact ada@example.com");
});
