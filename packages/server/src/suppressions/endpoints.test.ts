import { expect, test } from "vitest";
import { ask, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld } from "../testing.ts";

const at = "/api/v1/suppressions";

scenarios(
  "suppressions refuse",
  [
    { name: "a request without a key", path: at, key: null, body: { email: "a@example.com" }, status: 401, code: "unauthorized" },
    { name: "no address", path: at, body: {}, status: 400, code: "validation_error", details: ["email required"] },
    { name: "an invalid address", path: at, body: { email: "ada" }, status: 400, details: ["email invalid_email"], contains: ["has no @"] },
    { name: "an unknown scope", path: at, body: { email: "a@example.com", scope: "some" }, status: 400, details: ["scope invalid_value"] },
    {
      name: "an unknown reason",
      path: at,
      body: { email: "a@example.com", reason: "whim" },
      status: 400,
      details: ["reason invalid_value"],
    },
    {
      name: "a field that does not exist",
      path: at,
      body: { email: "a@example.com", sope: "all" },
      status: 400,
      details: ["sope unknown_field"],
    },
    { name: "a note too long", path: at, body: { email: "a@example.com", note: "x".repeat(501) }, status: 400, details: ["note too_big"] },
    {
      name: "a note with U+0000",
      path: at,
      body: { email: "a@example.com", note: "a\0b" },
      status: 400,
      details: ["note invalid_characters"],
    },
    { name: "an empty import", path: `${at}/import`, body: { entries: [] }, status: 400, details: ["entries too_small"] },
    {
      name: "an import of 1,001 entries",
      path: `${at}/import`,
      body: { entries: Array.from({ length: 1001 }, (_, i) => ({ email: `a${i}@example.com` })) },
      status: 400,
      details: ["entries too_big"],
    },
    {
      name: "an import whose row has an unknown field",
      path: `${at}/import`,
      body: { entries: [{ email: "a@example.com" }, { email: "b@example.com", mail: 1 }] },
      status: 400,
      details: ["entries[1].mail unknown_field"],
    },
    { name: "an empty removal", path: `${at}/remove`, body: { entries: [] }, status: 400, details: ["entries too_small"] },
    { name: "to get an unknown suppression", method: "GET", path: `${at}/nobody@example.com`, status: 404, code: "not_found" },
    {
      name: "to remove an unknown suppression",
      method: "DELETE",
      path: `${at}/sup_00000000000000000000000000`,
      status: 404,
      code: "not_found",
    },
    { name: "an invalid time", method: "GET", path: `${at}?since=yesterday`, status: 400, details: ["since invalid_format"] },
    { name: "a cursor of another list", method: "GET", path: `${at}?cursor=xyz`, status: 400, details: ["cursor invalid_cursor"] },
    { name: "a limit of 101", method: "GET", path: `${at}?limit=101`, status: 400, details: ["limit too_big"] },
  ],
  {
    afterwards: async ({ sdk }) => expect((await sdk.suppressions.list()).pagination.total).toBe(0),
  },
);

test("a suppression has source and note, and every filter finds it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.suppressions.create({ email: "Ada@Example.com", reason: "complaint", note: "called us" });
  await world.clock.advance("1h");
  const later = new Date(world.clock.now()).toISOString();
  await sdk.suppressions.import({ entries: [{ email: "100%@example.com", scope: "marketing", reason: "unsubscribe" }] });
  expect(await sdk.suppressions.get("ada@example.COM")).toMatchObject({
    email: "ada@example.com",
    reason: "complaint",
    source: "api",
    note: "called us",
    emailId: null,
  });
  const found = async (query: Parameters<typeof sdk.suppressions.list>[0]) => (await sdk.suppressions.list(query)).data.map((s) => s.email);
  expect(await found({ search: "ADA@" })).toEqual(["ada@example.com"]);
  expect(await found({ search: "%@" })).toEqual(["100%@example.com"]);
  expect(await found({ search: "_" })).toEqual([]);
  expect(await found({ scope: "marketing" })).toEqual(["100%@example.com"]);
  expect(await found({ source: "import" })).toEqual(["100%@example.com"]);
  expect(await found({ reason: "complaint" })).toEqual(["ada@example.com"]);
  expect(await found({ since: later })).toEqual(["100%@example.com"]);
});

test("an import takes valid entries, reports the others by index, and can be tried with dryRun", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.suppressions.create({ email: "old@example.com", scope: "marketing", note: "kept" });
  await sdk.suppressions.create({ email: "all@example.com" });
  const entries = [
    { email: "new@example.com", reason: "bounce" as const },
    { email: "no address" },
    { email: "OLD@example.com", scope: "all" as const },
    { email: "all@example.com", scope: "marketing" as const },
    { email: "New@example.com" },
  ];
  const expected = { created: 1, widened: 1, unchanged: 2, failed: [{ index: 1, email: "no address", code: "invalid_email" }] };
  expect(await sdk.suppressions.import({ entries, dryRun: true })).toMatchObject({ ...expected, dryRun: true });
  expect((await sdk.suppressions.list()).pagination.total).toBe(2);
  expect(await sdk.suppressions.import({ entries })).toMatchObject({ ...expected, dryRun: false });
  expect(await sdk.suppressions.get("old@example.com")).toMatchObject({ scope: "all", source: "import", note: "kept" });
  expect(await sdk.suppressions.get("new@example.com")).toMatchObject({ reason: "bounce", scope: "all" });
  expect(await sdk.suppressions.import({ entries })).toMatchObject({ created: 0, widened: 0, unchanged: 4 });
});

test("an import takes a thousand entries", async () => {
  await using world = await createWorld();
  const entries = Array.from({ length: 1000 }, (_, i) => ({ email: `r${i}@example.com` }));
  expect(await world.sdk.suppressions.import({ entries })).toMatchObject({ created: 1000, failed: [] });
  const gone = await world.sdk.suppressions.remove({ entries: [...entries.map((e) => e.email.toUpperCase()).slice(1), "r0@example.com"] });
  expect(gone).toEqual({ removed: 1000, unsubscribed: 0, failed: [] });
});

test("a removal reports unknown entries by index", async () => {
  await using world = await createWorld();
  const made = await world.sdk.suppressions.create({ email: "ada@example.com" });
  expect(await world.sdk.suppressions.remove({ entries: ["nobody@example.com", made.id, "ada@example.com"] })).toMatchObject({
    removed: 1,
    failed: [{ index: 0, entry: "nobody@example.com", code: "not_found" }],
  });
});

test("a suppression from any source changes the status of the contact", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const name of ["manual", "import", "bounced", "complained", "marketing"])
    await sdk.contacts.create({ email: `${name}@${name.endsWith("ed") ? "simulator.mailsvc.test" : "example.com"}` });
  await sdk.suppressions.create({ email: "MANUAL@example.com" });
  await sdk.suppressions.create({ email: "marketing@example.com", scope: "marketing", reason: "unsubscribe" });
  await sdk.suppressions.import({ entries: [{ email: "import@example.com", reason: "complaint" }] });
  await sdk.emails.send({
    from: "a@acme.test",
    subject: "Hi",
    text: "x",
    to: ["bounced@simulator.mailsvc.test", "complained@simulator.mailsvc.test"],
  });
  await world.clock.advance("1h");
  const statuses = Object.fromEntries((await sdk.contacts.list()).data.map((c) => [c.email.split("@")[0], c.status]));
  expect(statuses).toEqual({
    manual: "UNSUBSCRIBED",
    marketing: "UNSUBSCRIBED",
    import: "COMPLAINED",
    bounced: "BOUNCED",
    complained: "COMPLAINED",
  });
  await sdk.suppressions.delete("manual@example.com");
  expect((await sdk.contacts.list({ search: "manual" })).data[0]?.status).toBe("UNSUBSCRIBED");
});

test("a dry run changes no contact", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "ada@example.com" });
  await world.sdk.suppressions.import({ entries: [{ email: "ada@example.com" }], dryRun: true });
  expect((await world.sdk.contacts.list()).data[0]?.status).toBe("SUBSCRIBED");
});

test("suppressions of other workspaces cannot be seen, and each endpoint needs its permission", async () => {
  await using world = await createWorld();
  await world.sdk.suppressions.create({ email: "ada@example.com" });
  const other = await secondWorkspace(world);
  const seen = await ask(world, { method: "GET", path: at, key: other.apiKey });
  expect(await seen.text()).not.toContain("ada@example.com");
  expect((await ask(world, { method: "GET", path: `${at}/ada@example.com`, key: other.apiKey })).status).toBe(404);
  expect((await ask(world, { path: `${at}/remove`, key: other.apiKey, body: { entries: ["ada@example.com"] } })).status).toBe(200);
  expect((await world.sdk.suppressions.list()).pagination.total).toBe(1);
  const reader = await keyFor(world, "suppressions:read");
  expect((await ask(world, { path: `${at}/import`, key: reader, body: { entries: [{ email: "b@example.com" }] } })).status).toBe(403);
});

test("events of suppressions do not contain the address", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.suppressions.create({ email: "ada@example.com", scope: "marketing" });
  await sdk.suppressions.create({ email: "ada@example.com", scope: "marketing" });
  await sdk.suppressions.import({ entries: [{ email: "ada@example.com" }, { email: "bob@example.com" }] });
  await sdk.suppressions.delete("ada@example.com");
  await sdk.suppressions.remove({ entries: ["bob@example.com"] });
  const { read } = world.app.deps.db;
  const events = await read.select().from(read.t.events).orderBy(read.t.events.sequence);
  expect(events.map((e) => `${e.type} ${e.data?.scope} ${e.data?.source}`)).toEqual([
    "suppression.added marketing api",
    "suppression.added all import",
    "suppression.added all import",
    "suppression.removed all import",
    "suppression.removed all import",
  ]);
  expect(JSON.stringify(events)).not.toContain("example.com");
});

test("the history of an email contains its own events only", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "bounced@simulator.mailsvc.test", tags: ["a"] });
  await world.sdk.segments.create({ name: "s", rules: { field: "status", operator: "equals", value: "BOUNCED" } });
  const sent = await world.sdk.emails.send({ from: "a@acme.test", subject: "Hi", text: "x", to: "bounced@simulator.mailsvc.test" });
  await world.clock.advance("1h");
  expect((await world.sdk.emails.get(sent.id)).events.map((e) => e.type)).toEqual(["email.queued", "email.bounced"]);
});
