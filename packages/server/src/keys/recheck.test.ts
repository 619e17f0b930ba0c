import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";

test("a key that is revoked while the body of its request arrives writes nothing any more", async () => {
  await using world = await createWorld();
  const { id, key } = await world.sdk.keys.create({ name: "leaked", permissions: ["contacts:write"] });
  const begun = Promise.withResolvers<void>();
  const revoked = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      begun.resolve();
      await revoked.promise;
      controller.enqueue(Buffer.from(JSON.stringify({ email: "ada@example.com" })));
      controller.close();
    },
  });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
  const answer = world.fetch(`${world.url}/api/v1/contacts`, init);
  await begun.promise;
  await world.sdk.keys.revoke(id);
  revoked.resolve();
  const response = await answer;
  expect([response.status, await response.json()]).toMatchObject([401, { error: { code: "key_revoked" } }]);
  expect((await world.sdk.contacts.list()).data).toEqual([]);
});
