import { contract, EXPLAINED_IDS, readContactRef, refuseExternalId } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { receiver } from "../../test/receiver.ts";
import { expectCountsToBeTrue } from "../../test/recount.ts";
import { ask } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";

const duplicate = (path: string) => ({ code: "duplicate_contact", details: [expect.objectContaining({ path })] });

test("a contact is found by its externalId wherever its id or address is taken", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com", externalId: "auth0|5f7c8e:1=a" });
  const named = "auth0|5f7c8e:1=a";
  for (const ref of [ada.id, "ADA@example.com", named]) {
    expect(await sdk.contacts.get(ref)).toMatchObject({ id: ada.id, externalId: named });
    expect(await sdk.contacts.update(ref, { firstName: ref.slice(0, 3) })).toMatchObject({ id: ada.id });
    expect(await sdk.contacts.tag({ contacts: [ref], add: [`by ${ref.slice(0, 3)}`] })).toMatchObject({ updated: 1 });
    expect(await sdk.events.track({ name: "seen", contact: ref })).toMatchObject({ contactId: ada.id });
    expect(await sdk.explanations.get(ref)).toMatchObject({ id: ada.id });
    expect((await sdk.people.get(ref)).contact).toMatchObject({ id: ada.id, externalId: named });
    expect((await sdk.events.list({ contact: ref, type: "contact.tracked" })).data[0]).toMatchObject({
      contactId: ada.id,
      externalId: named,
    });
    const list = await sdk.lists.create({ name: `List ${ref}` });
    expect(await sdk.lists.add(list.id, { contacts: [ref] })).toMatchObject({ added: 1 });
    expect(await sdk.lists.removeOne(list.id, ref)).toMatchObject({ contact: { id: ada.id } });
    expect(await sdk.segments.preview({ rules: { field: "externalId", operator: "equals", value: named } })).toMatchObject({ count: 1 });
  }
  await expect(sdk.contacts.get("AUTH0|5f7c8e:1=a")).rejects.toMatchObject({ code: "not_found" });
  expect(await sdk.contacts.delete(named)).toMatchObject({ id: ada.id });
  await expect(sdk.explanations.get(named)).rejects.toMatchObject({ code: "not_found" });
});

test("webhooks get the externalId of the contact that an event is about", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk } = world;
  await sdk.webhooks.create({ url: hook.url, events: ["contact.created", "contact.updated", "contact.tracked"] });
  await sdk.contacts.create({ email: "ada@example.com", externalId: "user-7" });
  await sdk.contacts.update("user-7", { firstName: "Ada" });
  await sdk.events.track({ contact: "user-7", name: "purchase" });
  await sdk.contacts.create({ email: "bob@example.com" });
  await world.settle();
  expect(hook.received.map(({ event: { type, externalId } }) => `${type} ${externalId}`).toSorted()).toEqual([
    "contact.created null",
    "contact.created user-7",
    "contact.tracked user-7",
    "contact.updated user-7",
  ]);
});

test("an externalId is unique in its workspace, and a conflict names the field", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com", externalId: "1" });
  const grace = await sdk.contacts.create({ email: "grace@example.com", externalId: "2" });
  await expect(sdk.contacts.create({ email: "new@example.com", externalId: "1" })).rejects.toMatchObject(duplicate("externalId"));
  await expect(sdk.contacts.create({ email: "Ada@example.com", externalId: "3" })).rejects.toMatchObject(duplicate("email"));
  await expect(sdk.contacts.update(grace.id, { externalId: "1" })).rejects.toMatchObject(duplicate("externalId"));
  await expect(sdk.contacts.update("2", { email: "ADA@example.com" })).rejects.toMatchObject(duplicate("email"));
  await expect(sdk.contacts.upsert({ email: "ada@example.com", externalId: "2" })).rejects.toMatchObject(duplicate("email"));
  await expect(sdk.contacts.upsert({ email: "ada@example.com", externalId: "9" })).rejects.toMatchObject(duplicate("email"));
  expect(await sdk.contacts.update(ada.id, { externalId: null })).toMatchObject({ externalId: null });
  expect(await sdk.contacts.update("2", { externalId: "1" })).toMatchObject({ id: grace.id, externalId: "1" });
  expect(await sdk.contacts.upsert({ email: "ada@example.com", externalId: "2" })).toMatchObject({ id: ada.id, externalId: "2" });
});

test("an externalId is never taken for an address, an id of ours or a path", () => {
  for (const text of ["a@b", "con_1", "CON_1", "em_x", "-x", "..", "a b", "a/b", "ü", "tags", "Export", "a,b", "=1"])
    expect(refuseExternalId(text), text).not.toBeNull();
  for (const text of ["1042", "user_2fOKFx", "cus_NffrF", "0b6c2f1e-9f0b-4f65-8f5d-0d3a5d3c2b11", "auth0|1", "a.b", "x=", "a~b"]) {
    expect(refuseExternalId(text), text).toBeNull();
    expect(readContactRef(text)).toBe("externalId");
  }
  for (const prefix of Object.keys(EXPLAINED_IDS)) expect(refuseExternalId(`${prefix}_1`), prefix).not.toBeNull();
  const below = Object.values(contract).flatMap((room) =>
    Object.values(room).flatMap(({ path }: { path: string }) => /^\/api\/v1\/contacts\/([^:/]+)/.exec(path)?.[1] ?? []),
  );
  expect(below.length).toBeGreaterThan(0);
  for (const word of below) expect(refuseExternalId(word), word).not.toBeNull();
});

test("another address keeps the person: memberships, history and what was said", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const list = await sdk.lists.create({ name: "News" });
  const { id } = await sdk.contacts.create({ email: "ada@example.com", externalId: "1" });
  await sdk.lists.add(list.id, { contacts: ["1"] });
  await sdk.events.track({ name: "bought", contact: "1" });
  expect(await sdk.contacts.upsert({ externalId: "1", email: "ada@new.example" })).toMatchObject({
    id,
    email: "ada@new.example",
    status: "SUBSCRIBED",
  });
  expect(await sdk.contacts.get("ada@new.example")).toMatchObject({ id, lists: [{ id: list.id }] });
  await expect(sdk.contacts.get("ada@example.com")).rejects.toMatchObject({ code: "not_found" });
  expect((await sdk.contacts.list({ search: "new.example" })).pagination.total).toBe(1);
  expect((await sdk.events.list({ contact: "1", type: "contact.updated" })).data[0]?.data).toMatchObject({ changed: ["email"] });
  await sdk.contacts.update("1", { status: "UNSUBSCRIBED" });
  expect(await sdk.contacts.update("1", { email: "ada@third.example" })).toMatchObject({ id, status: "UNSUBSCRIBED" });
  expect(await sdk.suppressions.get("ada@third.example")).toMatchObject({ reason: "unsubscribe", scope: "marketing" });
  await sdk.suppressions.create({ email: "full@example.com", reason: "complaint" });
  expect(await sdk.contacts.update("1", { email: "full@example.com" })).toMatchObject({ id, status: "COMPLAINED" });
  await expectCountsToBeTrue(world);
});

test("a bounce stays with the address, what the person said before it goes along", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const email of ["quiet@example.com", "open@example.com"]) await sdk.contacts.create({ email });
  await sdk.contacts.update("quiet@example.com", { status: "UNSUBSCRIBED" });
  for (const email of ["quiet@example.com", "open@example.com"]) await sdk.suppressions.create({ email, reason: "bounce" });
  expect(await sdk.contacts.update("quiet@example.com", { email: "quiet@new.example" })).toMatchObject({ status: "UNSUBSCRIBED" });
  expect(await sdk.contacts.update("open@example.com", { email: "open@new.example" })).toMatchObject({ status: "SUBSCRIBED" });
});

test("an import finds people by externalId, moves addresses, reports conflicts by row, and is undone", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com", externalId: "1" });
  const grace = await sdk.contacts.create({ email: "grace@example.com" });
  const record = await sdk.contacts.startImport({ tag: null });
  const rows = [
    { externalId: "1", email: "ada@new.example" },
    { externalId: "2", email: "grace@example.com" },
    { externalId: "1", email: "grace@example.com" },
    { externalId: "3", email: "ada@example.com" },
    { externalId: "4", email: "four@example.com" },
    { externalId: "4", email: "other@example.com", firstName: "Four" },
    { externalId: "con_4", email: "five@example.com" },
  ];
  const done = await sdk.contacts.import({ rows, import: record.id });
  expect(done.results).toEqual(["updated", "updated", "failed", "failed", "created", "updated", "failed"]);
  expect(done.errors.map(({ index, path }) => `${index} ${path}`)).toEqual(["2 email", "3 email", "6 externalId"]);
  expect(await sdk.contacts.get("1")).toMatchObject({ id: ada.id, email: "ada@new.example" });
  expect(await sdk.contacts.get("2")).toMatchObject({ id: grace.id });
  expect(await sdk.contacts.get("4")).toMatchObject({ email: "other@example.com", firstName: "Four" });
  await sdk.contacts.undoImport(record.id);
  expect(await sdk.contacts.get(ada.id)).toMatchObject({ email: "ada@example.com", externalId: "1" });
  expect(await sdk.contacts.get(grace.id)).toMatchObject({ email: "grace@example.com", externalId: null });
  await expectCountsToBeTrue(world);
});

test("of 20 concurrent writes with one externalId one creates a contact and none fails otherwise", async () => {
  await using world = await createWorld();
  const write = (i: number) =>
    i % 2 === 0
      ? ask(world, { path: "/api/v1/contacts", body: { email: `c${i}@example.com`, externalId: "one" } })
      : ask(world, { path: "/api/v1/contacts/import", body: { rows: [{ email: `i${i}@example.com`, externalId: "one" }] } });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => write(i)));
  for (const { status } of answers) expect([200, 201, 409]).toContain(status);
  expect((await world.sdk.contacts.list()).pagination.total).toBe(1);
  expect(await world.sdk.contacts.get("one")).toMatchObject({ externalId: "one" });
  await expectCountsToBeTrue(world);
});
