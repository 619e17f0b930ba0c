import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";

const A = "/api/v1/contacts";

test("an address with an international domain is found by either spelling of it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.create({ email: "b@münchen.example", tags: ["x"] });
  await sdk.contacts.create({ email: "b@munchen.example" });
  await sdk.suppressions.create({ email: "gone@münchen.example" });
  const list = await sdk.lists.create({ name: "one" });
  await sdk.lists.add(list.id, { contacts: ['"b"@MÜNCHEN.example'] });
  const spellings = [
    '"b"@münchen.example',
    "b@münchen.example",
    "B@MÜNCHEN.EXAMPLE",
    "b@mu\u0308nchen.example",
    "b@xn--mnchen-3ya.example",
  ];
  for (const search of [...spellings, "münchen", "ünch", "xn--mnchen"]) {
    expect([search, (await sdk.contacts.list({ search })).data.map((c) => c.id)]).toEqual([search, [id]]);
    expect([search, (await sdk.lists.contacts(list.id, { search })).data.length]).toEqual([search, 1]);
  }
  for (const search of ["@münchen", "MÜNCHEN.example"])
    expect((await sdk.suppressions.list({ search })).data).toMatchObject([{ email: "gone@xn--mnchen-3ya.example" }]);
  const rules = [
    ...spellings.map((value) => ({ operator: "equals", value })),
    ...spellings.map((value) => ({ operator: "in", value: ["x@example.com", value] })),
    { operator: "endsWith", value: "@münchen.example" },
    { operator: "endsWith", value: "MÜNCHEN.example" },
    { operator: "contains", value: "münchen" },
    { operator: "startsWith", value: "b@münchen" },
    { operator: "startsWith", value: '"b"@münchen.example' },
  ] as const;
  for (const rule of rules) {
    const found = await sdk.segments.preview({ rules: { field: "email", ...rule } as never });
    expect([rule, found.count, found.contacts[0]?.id]).toEqual([rule, 1, id]);
  }
});

test("in production, addresses under reserved top-level domains are refused", async () => {
  await using world = await createWorld({ dev: false });
  for (const domain of ["x.invalid", "printer.local", "localhost.localhost", "abc.onion", "X.INVALID"]) {
    const refused = await ask(world, { path: A, body: { email: `ada@${domain}` } });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: "validation_error", details: [{ path: "email", code: "reserved_domain" }] } },
    ]);
  }
  const rows = ["ada@x.invalid", "ada@x.test", "ada@x.example", "ada@x.internal", "ada@local.example"].map((email) => ({ email }));
  expect(await world.sdk.contacts.import({ rows })).toMatchObject({
    created: 4,
    failed: 1,
    errors: [{ index: 0, code: "reserved_domain" }],
  });
  await using dev = await createWorld();
  await dev.sdk.contacts.create({ email: "ada@x.invalid" });
});

test("search and tags treat the Turkish dotless i as an i", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "a@example.com", firstName: "Işık", lastName: "Yıldız", tags: ["Kış"] });
  for (const search of ["yıldız", "YILDIZ", "yildiz", "ışık", "isik", "IŞIK"])
    expect([search, (await world.sdk.contacts.list({ search: search.replace("isik", "işik") })).data.map((c) => c.id)]).toEqual([
      search,
      [id],
    ]);
  expect((await world.sdk.contacts.list({ tag: "KIŞ" })).pagination.total).toBe(1);
});
