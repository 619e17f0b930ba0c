import { expect, test } from "vitest";
import { scenarios } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";

const at = "/api/v1/contacts/tags";

scenarios("tagging refuses", [
  { name: "no tag", path: at, body: { contacts: ["ada@example.com"] }, status: 400, details: ["add required"] },
  { name: "no contacts", path: at, body: { contacts: [], add: ["vip"] }, status: 400, details: ["contacts too_small"] },
]);

test("tags are added and removed, and the others stay, also those that somebody else has added meanwhile", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com", tags: ["VIP", "trial"] });
  const bob = await sdk.contacts.create({ email: "bob@example.com", tags: ["customer"] });
  await sdk.contacts.update(bob.id, { tags: ["customer", "theirs"] });
  const contacts = [ada.id, "Bob@example.com", "nobody@example.com", ada.id];
  expect(await sdk.contacts.tag({ contacts, add: ["vip", "customer"], remove: ["Trial"] })).toEqual({
    updated: 2,
    unchanged: 1,
    failed: [{ index: 2, contact: "nobody@example.com", code: "not_found", message: "Contact not found." }],
  });
  expect(await sdk.contacts.get(ada.id)).toMatchObject({ tags: ["VIP", "customer"] });
  expect(await sdk.contacts.get(bob.id)).toMatchObject({ tags: ["customer", "theirs", "vip"] });
  expect(await sdk.contacts.tag({ contacts: [ada.id], add: ["CUSTOMER"] })).toEqual({ updated: 0, unchanged: 1, failed: [] });
  expect((await sdk.contacts.list({ tag: "vip" })).pagination.total).toBe(2);
  expect((await sdk.contacts.list({ tag: "trial" })).pagination.total).toBe(0);
});

test("a contact that would have too many tags is reported, and the others are changed", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const full = await sdk.contacts.create({ email: "ada@example.com", tags: Array.from({ length: 50 }, (_, i) => `t${i}`) });
  const bob = await sdk.contacts.create({ email: "bob@example.com" });
  const { updated, failed } = await sdk.contacts.tag({ contacts: [full.id, bob.id], add: ["one-more"] });
  expect({ updated, failed }).toMatchObject({ updated: 1, failed: [{ index: 0, code: "too_big" }] });
});
