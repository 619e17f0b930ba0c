import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";

test("contacts are listed by list and segment, together with status, tag and search, and counted", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const rows = Array.from({ length: 130 }, (_, i) => ({
    email: `p${i}@example.com`,
    firstName: i % 2 === 0 ? "Even" : "Odd",
    tags: i % 3 === 0 ? ["vip"] : [],
    customFields: { n: i },
    status: i % 10 === 0 ? "UNSUBSCRIBED" : "SUBSCRIBED",
  }));
  await sdk.contacts.import({ rows });
  const list = await sdk.lists.create({ name: "Half" });
  await sdk.lists.add(list.id, { contacts: rows.slice(0, 65).map(({ email }) => email) });
  const small = await sdk.segments.create({ name: "Small", rules: { field: "customFields.n", operator: "lt", value: 100 } });
  const recent = await sdk.segments.create({ name: "Recent", rules: { field: "createdAt", operator: "withinLast", value: "1d" } });
  await world.settle();
  const numbers = async (query: Parameters<typeof sdk.contacts.list>[0]) => {
    const { data, pagination } = await sdk.contacts.list({ ...query, limit: 100 });
    expect(pagination.total).toBe(data.length + 100 * (pagination.page - 1));
    return data.map(({ email }) => Number(/\d+/.exec(email)?.[0]));
  };
  const wanted = (fits: (i: number) => boolean) =>
    rows
      .map((_, i) => i)
      .filter(fits)
      .reverse();
  expect(await numbers({ list: list.id })).toEqual(wanted((i) => i < 65));
  expect(await numbers({ segment: small.id })).toEqual(wanted((i) => i < 100));
  expect(await numbers({ list: list.id, segment: recent.id, tag: "VIP" })).toEqual(wanted((i) => i < 65 && i % 3 === 0));
  expect(await numbers({ segment: small.id, status: "UNSUBSCRIBED", search: "even" })).toEqual(wanted((i) => i < 100 && i % 10 === 0));
  expect(await numbers({ segment: small.id, list: list.id, search: "ODD" })).toEqual(wanted((i) => i < 65 && i % 2 === 1));
  expect(await numbers({ segment: recent.id, search: "p12" })).toEqual(wanted((i) => `p${i}@`.includes("p12")));
  const pages: string[] = [];
  for await (const { email } of sdk.contacts.export({ segment: recent.id, limit: 50 })) pages.push(email);
  expect(pages).toEqual(rows.map(({ email }) => email).reverse());
  const second = await sdk.contacts.list({ segment: recent.id, page: 2, limit: 100 });
  expect(second.data.map(({ email }) => email)).toEqual(pages.slice(100));
  expect(second.pagination).toMatchObject({ total: 130, totalPages: 2, hasMore: false });
});

test("a list or segment that does not exist, or is deleted, is named as what is wrong", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.segments.create({ name: "Gone", rules: { field: "tags", operator: "contains", value: "vip" } });
  await sdk.segments.delete(id);
  const refused = (query: { list?: string; segment?: string }) => expect(sdk.contacts.list(query)).rejects;
  await refused({ segment: id }).toMatchObject({ status: 400, details: [{ path: "segment", code: "unknown_segment" }] });
  await refused({ list: "list_nothing" }).toMatchObject({ status: 400, details: [{ path: "list", code: "unknown_list" }] });
});

test("more than 10,000 matches are not counted, and the page and the preview say so", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (let from = 0; from <= 10_000; from += 1000)
    await sdk.contacts.import({
      rows: Array.from({ length: from === 10_000 ? 1 : 1000 }, (_, i) => ({
        email: `p${from + i}@example.com`,
        customFields: { n: from + i },
      })),
    });
  const rules = (value: number) => ({ field: "customFields.n", operator: "lt", value }) as const;
  expect(await sdk.segments.preview({ rules: rules(10_001), limit: 1 })).toMatchObject({
    count: 10_000,
    countIsMinimum: true,
    contacts: [{ email: "p10000@example.com" }],
  });
  const exact = await sdk.segments.preview({ rules: rules(10_000), limit: 0 });
  expect([exact.count, "countIsMinimum" in exact]).toEqual([10_000, false]);
  const { id } = await sdk.segments.create({ name: "New", rules: { field: "createdAt", operator: "withinLast", value: "1d" } });
  await world.settle();
  for (const page of [await sdk.contacts.list({ segment: id, limit: 1 }), await sdk.segments.contacts(id, { limit: 1 })])
    expect(page.pagination).toMatchObject({ total: 10_000, totalIsMinimum: true, hasMore: true });
  expect((await sdk.segments.get(id)).memberCount).toBe(10_001);
});
