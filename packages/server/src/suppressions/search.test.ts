import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

// More than are scanned without the index, and more than one page of each kind.
const SIZE = 6000;
const REQUEST = 1000;

/** Suppresses many addresses, each with its reason: every third one is `manual`, and few have their own domain. */
async function importMany({ sdk }: Pick<TestWorld, "sdk">, name: (i: number) => string): Promise<string[]> {
  const emails = Array.from({ length: SIZE }, (_, i) => name(i));
  for (let from = 0; from < SIZE; from += REQUEST)
    await sdk.suppressions.import({
      entries: emails
        .slice(from, from + REQUEST)
        .map((email, i) => ({ email, reason: i % 3 === 0 ? ("manual" as const) : ("bounce" as const) })),
    });
  return emails;
}

test("among thousands of suppressions a search finds the same as looking at each, newest first, page by page", async () => {
  await using world = await createWorld();
  const emails = await importMany(
    world,
    (i) => `person${i}@${i % 500 === 7 ? "rare.test" : i === 4242 ? "xn--mnchen-3ya.test" : "example.com"}`,
  );
  const other = await world.createWorkspace("Other");
  await other.sdk.suppressions.create({ email: "person1@rare.test" });
  const newestFirst = emails.toReversed();
  const { suppressions } = world.sdk;
  const search = async (query: Parameters<typeof suppressions.list>[0]) =>
    (await suppressions.list({ limit: 100, ...query }).toArray()).map(({ email }) => email);

  for (const text of ["rare.test", "person599", "n42@", "PERSON4242", "9@rare", "qqq", "q", "münchen"]) {
    const part = text === "münchen" ? "xn--mnchen-3ya" : text.toLowerCase();
    expect([text, await search({ search: text })]).toEqual([text, newestFirst.filter((email) => email.includes(part))]);
  }
  const { pagination } = await suppressions.list({ search: "rare.test", limit: 5 });
  expect(pagination).toMatchObject({ total: 12, totalPages: 3, hasMore: true });
  const common = await suppressions.list({ search: "person", page: 3, limit: 50 });
  expect(common.data.map(({ email }) => email)).toEqual(newestFirst.slice(100, 150));
  expect(common.pagination).toMatchObject({ total: 1000, totalIsMinimum: true, hasMore: true });
  const deepest = await suppressions.list({ search: "person", page: 11, limit: 100 });
  expect(deepest.data.map(({ email }) => email)).toEqual(newestFirst.slice(1000, 1100));
  await expect(suppressions.list({ search: "person", page: 12, limit: 100 })).rejects.toMatchObject({
    status: 400,
    details: [{ path: "page", code: "too_deep" }],
  });
  const manual = await search({ search: "rare.test", reason: "manual" });
  expect(manual).toEqual(newestFirst.filter((email) => email.includes("rare.test") && (emails.indexOf(email) % REQUEST) % 3 === 0));

  // A removed or erased address is not found; one that is added again is found as the newest.
  await suppressions.delete("person7@rare.test");
  await world.sdk.people.erase("person507@rare.test");
  expect(await search({ search: "person7@rare" })).toEqual([]);
  expect(await search({ search: "person507@rare" })).toEqual([]);
  await suppressions.create({ email: "person7@rare.test" });
  expect((await search({ search: "rare.test" }))[0]).toBe("person7@rare.test");
  expect((await other.sdk.suppressions.list({ search: "rare" })).pagination.total).toBe(1);
});
