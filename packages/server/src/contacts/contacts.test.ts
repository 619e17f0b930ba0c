import { CONTACT_LIMITS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask, type Scenario, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { listContactEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const A = "/api/v1/contacts";
const B = "/api/v1/v1/contacts";
const many = (n: number): string[] => Array.from({ length: n }, (_, i) => `tag ${i}`);
const nested = (depth: number): unknown => (depth === 0 ? 1 : { inner: nested(depth - 1) });

/** A create that is refused, on both sets alike. */
const bad = (name: string, body: Record<string, unknown>, ...details: string[]): Scenario[] =>
  [A, B].map((path) => ({
    name: `${name}: POST ${path}`,
    path,
    body: { email: "ada@example.com", ...body },
    status: 400,
    code: "validation_error",
    details,
  }));

const none = async (world: TestWorld): Promise<void> => expect((await world.sdk.contacts.list()).pagination.total).toBe(0);

scenarios(
  "invalid contacts",
  [
    ...bad("no address", { email: undefined }, "email required"),
    ...bad("an address without a domain", { email: "ada" }, "email invalid_email"),
    ...bad("an address with a name", { email: "Ada <ada@example.com>" }, "email invalid_email"),
    ...bad("a line break in the address", { email: "ada@example.com\r\nBcc: x@example.com" }, "email invalid_email"),
    ...bad("a number as address", { email: 1 }, "email invalid_type"),
    ...bad("a first name of 101 characters", { firstName: "x".repeat(101) }, "firstName too_big"),
    ...bad("a last name of 101 characters", { lastName: "x".repeat(101) }, "lastName too_big"),
    ...bad("a phone number of 31 characters", { phone: "1".repeat(31) }, "phone too_big"),
    ...bad("a line break in a name", { firstName: "A\nda" }, "firstName invalid_characters"),
    ...bad("U+0000 in a name", { lastName: "A\0da" }, "lastName invalid_characters"),
    ...bad("half a character in a name", { lastName: "A\ud800" }, "lastName invalid_characters"),
    ...bad("51 tags", { tags: many(51) }, "tags too_big"),
    ...bad("a tag of 101 characters", { tags: ["x".repeat(101)] }, "tags[0] too_big"),
    ...bad("an empty tag", { tags: ["vip", " "] }, "tags[1] too_small"),
    ...bad("tags that are one text", { tags: "vip" }, "tags invalid_type"),
    ...bad("custom fields that are an array", { customFields: [1] }, "customFields invalid_type"),
    ...bad("custom fields that are a text", { customFields: "x" }, "customFields invalid_type"),
    ...bad("custom fields beyond 16 KiB", { customFields: { x: "y".repeat(16 * 1024) } }, "customFields too_big"),
    ...bad(
      "more custom fields than there may be",
      { customFields: Object.fromEntries(many(CONTACT_LIMITS.customKeys + 1).map((k) => [k, 1])) },
      "customFields too_big",
    ),
    ...bad("custom fields that nest too deep", { customFields: { a: nested(5) } }, "customFields.a.inner.inner.inner.inner too_deep"),
    ...bad("a custom field without a name", { customFields: { "": 1 } }, "customFields. invalid_key"),
    ...bad("U+0000 in a custom field", { customFields: { a: { b: ["x\0"] } } }, "customFields.a.b[0] invalid_characters"),
    ...bad("an unknown field", { age: 3 }, "age unknown_field"),
    {
      name: "status on create",
      path: A,
      body: { email: "ada@example.com", status: "SUBSCRIBED" },
      status: 400,
      details: ["status unknown_field"],
    },
    {
      name: "a status the API cannot set",
      path: B,
      body: { email: "ada@example.com", status: "BOUNCED" },
      status: 400,
      details: ["status invalid_value"],
    },
    {
      name: "a field called __proto__",
      path: A,
      body: '{"email":"ada@example.com","customFields":{"__proto__":{"admin":true}}}',
      status: 400,
      details: ["customFields.__proto__ invalid_key"],
    },
    { name: "no key", path: A, key: null, body: { email: "ada@example.com" }, status: 401, code: "unauthorized" },
    { name: "a list with a page of 0", method: "GET", path: `${A}?page=0`, status: 400, details: ["page too_small"] },
    { name: "a list with a limit of 101", method: "GET", path: `${A}?limit=101`, status: 400, details: ["limit too_big"] },
    { name: "a list with a limit of 0", method: "GET", path: `${A}?limit=0`, status: 400, details: ["limit too_small"] },
    {
      name: "a list filtered by an unknown status",
      method: "GET",
      path: `${A}?status=GONE`,
      status: 400,
      details: ["status invalid_value"],
    },
    { name: "a list with an invalid cursor", method: "GET", path: `${A}?cursor=abc`, status: 400, details: ["cursor invalid_cursor"] },
    { name: "a contact that does not exist", method: "GET", path: `${A}/con_01jc3v2m9k8q4w6x0y5z7a1b2c`, status: 404, code: "not_found" },
    {
      name: "an update of an unknown contact",
      method: "PATCH",
      path: `${A}/con_x`,
      body: { firstName: "A" },
      status: 404,
      code: "not_found",
    },
    { name: "a deletion of an unknown contact", method: "DELETE", path: `${A}/con_x`, status: 404, code: "not_found" },
    { name: "a deletion of an unknown contact, Set B", method: "DELETE", path: `${B}/con_x`, status: 404, code: "not_found" },
    { name: "PUT", method: "PUT", path: A, body: {}, status: 405, code: "method_not_allowed" },
  ],
  { afterwards: none },
);

describe("Set A", () => {
  test("creates a contact with all fields, and shows it the same way everywhere", async () => {
    await using world = await createWorld();
    const made = await ask(world, {
      path: A,
      body: {
        email: " Ada@Example.COM ",
        firstName: " Ada ",
        lastName: "Lovelace",
        phone: "+44 20",
        tags: ["VIP", "beta", "vip"],
        customFields: { plan: "pro", seats: 5, active: true, note: null, born: "1815-12-10", deep: { a: [1, { b: "c" }] } },
      },
    });
    expect(made.status).toBe(201);
    const contact = (await made.json()) as { id: string };
    expect(contact).toEqual({
      id: expect.stringMatching(/^con_[0-9a-z]{26}$/),
      email: "Ada@example.com",
      externalId: null,
      firstName: "Ada",
      lastName: "Lovelace",
      phone: "+44 20",
      language: null,
      tags: ["VIP", "beta"],
      customFields: { plan: "pro", seats: 5, active: true, born: "1815-12-10", deep: { a: [1, { b: "c" }] } },
      status: "SUBSCRIBED",
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:00.000Z",
    });
    const read = await ask(world, { method: "GET", path: `${A}/${contact.id}` });
    expect([read.status, await read.json()]).toEqual([200, { ...contact, lists: [], segments: [] }]);
    for (const path of [A, B]) {
      const list = await ask(world, { method: "GET", path });
      expect(await list.json()).toEqual({
        data: [contact],
        pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false, nextCursor: null },
      });
    }
  });

  test.each(["ada@example.com", "ADA@EXAMPLE.COM", "Ada@Example.Com"])("refuses %s when ada@example.com is a contact", async (email) => {
    await using world = await createWorld();
    const first = await world.sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
    const refused = await ask(world, { path: A, body: { email, firstName: "Other" } });
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { error: { code: "duplicate_contact", details: [{ path: "email", code: "duplicate_contact" }] } },
    ]);
    expect((await world.sdk.contacts.list()).data).toEqual([first]);
  });

  test("an address with an international domain is the same contact in both spellings", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.create({ email: "ada@bücher.example" });
    await expect(world.sdk.contacts.create({ email: "ADA@xn--bcher-kva.example" })).rejects.toMatchObject({ code: "duplicate_contact" });
  });

  test.each(["all", "marketing"] as const)("refuses an address that is suppressed for %s", async (scope) => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "ada@example.com", scope });
    const refused = await ask(world, { path: A, body: { email: "ADA@example.com" } });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: "email_suppressed", details: [{ path: "email" }] } },
    ]);
    await none(world);
  });

  test("updates the fields that are sent, and no others", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.contacts.create({
      email: "a@example.com",
      firstName: "A",
      lastName: "B",
      phone: "1",
      tags: ["x"],
      customFields: { a: 1, b: 2 },
    });
    const change = async (body: Parameters<typeof world.sdk.contacts.update>[1]) => {
      await world.clock.advance("1m");
      return world.sdk.contacts.update(id, body);
    };
    const before = await world.sdk.contacts.get(id);
    expect(await change({ firstName: "Ada" })).toMatchObject({
      firstName: "Ada",
      lastName: "B",
      phone: "1",
      tags: ["x"],
      customFields: { a: 1, b: 2 },
    });
    expect(await change({ tags: ["y", "z"] })).toMatchObject({ firstName: "Ada", tags: ["y", "z"], customFields: { a: 1, b: 2 } });
    expect(await change({ customFields: { b: null, c: "3" } })).toMatchObject({
      tags: ["y", "z"],
      customFields: { a: 1, c: "3" },
    });
    expect(await change({ lastName: null, phone: "" })).toMatchObject({ firstName: "Ada", lastName: null, phone: null });
    const after = await change({ status: "UNSUBSCRIBED" });
    expect(after).toMatchObject({ id, email: before.email, status: "UNSUBSCRIBED", createdAt: before.createdAt });
    expect(after.updatedAt > before.updatedAt).toBe(true);
    expect(await change({ status: "UNSUBSCRIBED", firstName: "Ada" })).toEqual(after);
    expect(await change({ status: "SUBSCRIBED" })).toMatchObject({ status: "SUBSCRIBED" });
    expect(await change({})).toMatchObject({ status: "SUBSCRIBED" });
  });

  test.each([
    [{ email: "b" }, "email invalid_email"],
    [{ externalId: "b@example.com" }, "externalId invalid_characters"],
    [{ externalId: "x".repeat(129) }, "externalId too_big"],
    [{ status: "BOUNCED" }, "status invalid_value"],
    [{ status: "COMPLAINED" }, "status invalid_value"],
    [{ tags: null }, "tags invalid_type"],
    [{ tags: many(51) }, "tags too_big"],
    [{ customFields: null }, "customFields invalid_type"],
    [{ createdAt: "2026-01-01" }, "createdAt unknown_field"],
  ])("refuses the change %j", async (body, detail) => {
    await using world = await createWorld();
    const made = await world.sdk.contacts.create({ email: "a@example.com" });
    const refused = await ask(world, { method: "PATCH", path: `${A}/${made.id}`, body });
    const { error } = (await refused.json()) as { error: { details: { path: string; code: string }[] } };
    expect([refused.status, ...error.details.map((d) => `${d.path} ${d.code}`)]).toEqual([400, detail]);
    expect((await world.sdk.contacts.list()).data).toEqual([made]);
  });

  test("null removes a custom field for good, so that there is room for others", async () => {
    await using world = await createWorld();
    const full = Object.fromEntries(many(CONTACT_LIMITS.customKeys).map((name) => [name, 1]));
    const { id } = await world.sdk.contacts.create({ email: "a@example.com", customFields: full });
    await expect(world.sdk.contacts.update(id, { customFields: { more: 1 } })).rejects.toMatchObject({ code: "validation_error" });
    const { customFields } = await world.sdk.contacts.update(id, { customFields: { "tag 0": null, more: { inner: null } } });
    expect(customFields).not.toHaveProperty("tag 0");
    expect(customFields).toMatchObject({ more: { inner: null }, "tag 1": 1 });
    expect((await world.sdk.contacts.upsert({ email: "a@example.com", customFields: { more: null } })).customFields).not.toHaveProperty(
      "more",
    );
  });

  test("custom fields cannot exceed their limits by many small updates", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.contacts.create({ email: "a@example.com", customFields: { a: "x".repeat(9000) } });
    const refused = await ask(world, { method: "PATCH", path: `${A}/${id}`, body: { customFields: { b: "x".repeat(9000) } } });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: "validation_error", details: [{ path: "customFields", code: "too_big" }] } },
    ]);
    await world.sdk.contacts.update(id, { customFields: { a: null, b: "x".repeat(9000) } });
  });

  test.each([A, B])("deletes a contact permanently at %s, after which its address can be used again", async (path) => {
    await using world = await createWorld();
    const made = await world.sdk.contacts.create({ email: "a@example.com", tags: ["x"] });
    const gone = await ask(world, { method: "DELETE", path: `${path}/${made.id}` });
    expect([gone.status, await gone.json()]).toEqual([200, made]);
    expect((await ask(world, { method: "DELETE", path: `${path}/${made.id}` })).status).toBe(404);
    await expect(world.sdk.contacts.get(made.id)).rejects.toMatchObject({ code: "not_found" });
    expect((await world.sdk.contacts.list({ tag: "x" })).pagination.total).toBe(0);
    const again = await world.sdk.contacts.create({ email: "a@example.com" });
    expect(again.id).not.toBe(made.id);
    expect(again.tags).toEqual([]);
  });
});

describe("Set B", () => {
  test("creates with 201 and updates with 200, in any case of the address", async () => {
    await using world = await createWorld();
    const put = async (body: unknown) => {
      const answer = await ask(world, { path: B, body });
      return [answer.status, await answer.json()] as const;
    };
    const [created, first] = await put({ email: "ada@example.com", firstName: "Ada", tags: ["x"], customFields: { a: 1 } });
    expect([created, first]).toMatchObject([201, { status: "SUBSCRIBED", firstName: "Ada", tags: ["x"] }]);
    const [updated, second] = await put({ email: "ADA@example.com", lastName: "L", customFields: { b: 2 } });
    expect([updated, second]).toMatchObject([
      200,
      {
        id: (first as { id: string }).id,
        email: "ada@example.com",
        firstName: "Ada",
        lastName: "L",
        tags: ["x"],
        customFields: { a: 1, b: 2 },
      },
    ]);
    expect(await put({ email: "ada@example.com" })).toEqual([200, second]);
    expect((await world.sdk.contacts.list()).pagination.total).toBe(1);
  });

  test.each([
    ["bounce", "BOUNCED"],
    ["complaint", "COMPLAINED"],
    ["unsubscribe", "UNSUBSCRIBED"],
    ["manual", "UNSUBSCRIBED"],
  ] as const)("a new contact suppressed by %s is %s, even if SUBSCRIBED is requested", async (reason, status) => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "ada@example.com", reason });
    const answer = await ask(world, { path: B, body: { email: "ada@example.com", status: "SUBSCRIBED" } });
    expect([answer.status, await answer.json()]).toMatchObject([201, { status }]);
  });

  test("an upsert never resubscribes a contact", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.contacts.create({ email: "ada@example.com" });
    expect(await world.sdk.contacts.upsert({ email: "ada@example.com", status: "UNSUBSCRIBED" })).toMatchObject({
      id,
      status: "UNSUBSCRIBED",
    });
    expect(await world.sdk.contacts.upsert({ email: "ada@example.com", status: "SUBSCRIBED", firstName: "Ada" })).toMatchObject({
      firstName: "Ada",
      status: "UNSUBSCRIBED",
    });
    expect(await world.sdk.contacts.upsert({ email: "ada@example.com" })).toMatchObject({ status: "UNSUBSCRIBED" });
    expect(await world.sdk.contacts.update(id, { status: "SUBSCRIBED" })).toMatchObject({ status: "SUBSCRIBED" });
  });
});

describe("bounces and complaints", () => {
  const hello = { from: "a@acme.test", subject: "Hello", text: "x" };

  test.each([
    ["bounced@simulator.mailsvc.test", "BOUNCED", "contact.bounced", "invalid_state"],
    ["complained@simulator.mailsvc.test", "COMPLAINED", "contact.complained", "invalid_state"],
  ])("%s: the contact becomes %s, and cannot be subscribed until the suppression is removed", async (email, status, type, code) => {
    await using world = await createWorld();
    const { id } = await world.sdk.contacts.create({ email });
    const sent = await world.sdk.emails.send({ ...hello, to: email });
    await world.clock.advance("1m");
    expect(await world.sdk.contacts.get(id)).toMatchObject({ status });
    expect((await world.sdk.contacts.list({ status: "SUBSCRIBED" })).pagination.total).toBe(0);
    const events = await listContactEvents(world.app.deps.db.read, id);
    expect(events.at(-1)).toMatchObject({ type, emailId: sent.id, data: { source: "delivery", before: "SUBSCRIBED" } });
    const refused = await ask(world, { method: "PATCH", path: `${A}/${id}`, body: { status: "SUBSCRIBED" } });
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code, details: [{ path: "status" }] } }]);
    expect(await world.sdk.contacts.upsert({ email, status: "SUBSCRIBED" })).toMatchObject({ status });
    // It may be taken off, and is still suppressed then.
    expect(await world.sdk.contacts.update(id, { status: "UNSUBSCRIBED" })).toMatchObject({ status: "UNSUBSCRIBED" });
    await expect(world.sdk.contacts.update(id, { status: "SUBSCRIBED" })).rejects.toMatchObject({ code: "email_suppressed" });
    await world.sdk.suppressions.delete(email);
    expect(await world.sdk.contacts.update(id, { status: "SUBSCRIBED" })).toMatchObject({ status: "SUBSCRIBED" });
  });

  test("a bounce of an address without a contact does not create one", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send({ ...hello, to: "bounced@simulator.mailsvc.test" });
    await world.clock.advance("1m");
    await none(world);
  });
});

test("events of a contact name the fields that changed, not their values", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "secret@example.com", firstName: "Hidden", tags: ["x", "y"] });
  await world.sdk.contacts.update(id, { lastName: "Private", tags: ["Y", "z"], status: "UNSUBSCRIBED" });
  await world.sdk.contacts.update(id, { lastName: "Private" });
  await world.sdk.contacts.update(id, { status: "SUBSCRIBED" });
  await world.sdk.contacts.delete(id);
  const events = await listContactEvents(world.app.deps.db.read, id);
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ["contact.created", { source: "api", tagsAdded: ["x", "y"] }],
    ["contact.updated", { source: "api", changed: ["lastName", "tags"], tagsAdded: ["z"], tagsRemoved: ["x"] }],
    ["contact.unsubscribed", { source: "api", before: "SUBSCRIBED" }],
    ["contact.subscribed", { source: "api", before: "UNSUBSCRIBED" }],
    ["contact.deleted", null],
  ]);
  expect(JSON.stringify(events)).not.toMatch(/secret|Hidden|Private/);
  const sequences = events.map((e) => e.sequence);
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
});

test("contacts of another workspace cannot be seen or changed", async () => {
  await using world = await createWorld();
  const mine = await world.sdk.contacts.create({ email: "ada@example.com", tags: ["x"] });
  const other = await secondWorkspace(world);
  const theirs = (method: string, path: string, body?: unknown) =>
    ask(world, { method, path, key: other.apiKey, ...(body !== undefined && { body }) });
  for (const answer of [
    await theirs("GET", `${A}/${mine.id}`),
    await theirs("PATCH", `${A}/${mine.id}`, { firstName: "X" }),
    await theirs("DELETE", `${A}/${mine.id}`),
  ])
    expect(answer.status).toBe(404);
  for (const path of [A, `${A}?tag=x`, `${A}?search=ada`, `${A}/export`]) {
    const answer = (await (await theirs("GET", path)).json()) as { data: unknown[]; pagination: { total: number } };
    expect([answer.data, answer.pagination.total]).toEqual([[], 0]);
  }
  expect((await theirs("POST", A, { email: "ada@example.com" })).status).toBe(201);
  expect(await world.sdk.contacts.get(mine.id)).toMatchObject(mine);
});

test("each endpoint needs its permission", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com" });
  const reads = await keyFor(world, "contacts:read");
  const writes = await keyFor(world, "contacts:write");
  const status = async (key: string, method: string, path: string, body?: unknown) =>
    (await ask(world, { key, method, path, ...(body !== undefined && { body }) })).status;
  for (const [method, path, body] of [
    ["GET", A, undefined],
    ["GET", B, undefined],
    ["GET", `${A}/export`, undefined],
    ["GET", `${A}/${id}`, undefined],
    ["POST", A, { email: "b@example.com" }],
    ["POST", B, { email: "c@example.com" }],
    ["POST", `${A}/import`, { rows: [{ email: "d@example.com" }] }],
    ["PATCH", `${A}/${id}`, { firstName: "A" }],
    ["DELETE", `${B}/${id}`, undefined],
  ] as const) {
    const [allowed, refused] = method === "GET" ? [reads, writes] : [writes, reads];
    expect([method, path, await status(refused, method, path, body)]).toEqual([method, path, 403]);
    expect([200, 201]).toContain(await status(allowed, method, path, body));
  }
});
