import { createWorld } from "@mailsvc/server/testing";
import { expect, test } from "vitest";
import { type Customer, syncCustomers } from "./sync.ts";

const ada: Customer = { email: "ada@example.com", name: "Ada", plan: "pro" };
const grace: Customer = { email: "grace@example.com", name: "Grace", plan: "basic" };

test("a list follows the customers, and a second run changes nothing", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.lists.create({ name: "Customers" });
  const members = async () => (await world.sdk.lists.contacts(id).toArray()).map(({ contact }) => contact.email).sort();

  expect(await syncCustomers(world.sdk, [ada, grace], id)).toEqual({ created: 2, updated: 0, removed: 0, failed: [] });
  expect(await syncCustomers(world.sdk, [ada, grace], id)).toEqual({ created: 0, updated: 0, removed: 0, failed: [] });
  expect(await members()).toEqual(["ada@example.com", "grace@example.com"]);

  expect(await syncCustomers(world.sdk, [{ ...ada, plan: "team" }], id)).toEqual({ created: 0, updated: 1, removed: 1, failed: [] });
  expect(await members()).toEqual(["ada@example.com"]);
  expect((await world.sdk.contacts.list()).data).toHaveLength(2);
});

test("a bad row is reported and the others are synced; a customer who unsubscribed stays unsubscribed", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.lists.create({ name: "Customers" });
  await syncCustomers(world.sdk, [ada], id);
  const [contact] = (await world.sdk.contacts.list()).data;
  await world.sdk.contacts.update(contact?.id ?? "", { status: "UNSUBSCRIBED" });

  const report = await syncCustomers(world.sdk, [ada, { ...grace, email: "grace" }], id);
  expect(report).toMatchObject({ created: 0, updated: 0, failed: [{ email: "grace" }] });
  expect((await world.sdk.contacts.list()).data).toMatchObject([{ email: "ada@example.com", status: "UNSUBSCRIBED" }]);
});

test("more customers than one request takes", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.lists.create({ name: "Customers" });
  const many = Array.from({ length: 2001 }, (_, n) => ({ email: `c${n}@example.com`, name: `C${n}`, plan: "basic" }));
  expect(await syncCustomers(world.sdk, many, id)).toMatchObject({ created: 2001, failed: [] });
  expect(await syncCustomers(world.sdk, [], id)).toMatchObject({ removed: 2001 });
});
