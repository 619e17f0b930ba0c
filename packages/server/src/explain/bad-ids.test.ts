import { Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { toUuid } from "../lib/uuids.ts";
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

test("an object is explained by the UUID that programs of Resend know it by", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com" });
  expect(await world.sdk.explanations.get(toUuid(id))).toMatchObject({ id, title: "Contact ada@example.com" });
  const { key } = await world.sdk.keys.create({ name: "Mail only", permissions: ["transactional:read"] });
  const reader = new Mailsvc({ baseUrl: world.url, fetch: world.fetch, apiKey: key });
  await expect(reader.explanations.get(toUuid(id))).rejects.toMatchObject({ code: "not_found" });
});
