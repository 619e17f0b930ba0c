import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../test/property-runs.ts";
import { expectCountsToBeTrue } from "../../test/recount.ts";
import { ask } from "../../test/scenario.ts";
import { fold } from "../lib/fold.ts";
import { seededRandom } from "../lib/random.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { BLOCK, CountChanges, FOLD_JOB } from "./counters.ts";
import { insertContacts } from "./store.ts";
import { buildContact, saveContacts } from "./write.ts";

const FIRST = [
  "Ada",
  "Grace",
  "Łukasz",
  "Søren",
  "José",
  "王",
  "Ünal",
  "O'Neil",
  "Straße",
  "ΣΟΦΙΑ",
  "İpek",
  "50%_off",
  "back\\slash",
  '"quoted"',
  "Emoji 👩‍💻",
];
const LAST = ["Lovelace", "Hopper", "Żuraw", "Ørsted", "Núñez", "小明", "Yılmaz", "d'Arc", "WEISS", "Σοφός", "a*b", "x-y", "", "é"];

interface Person {
  email: string;
  firstName: string | null;
  lastName: string | null;
  tags: string[];
  status: "SUBSCRIBED" | "UNSUBSCRIBED";
}

/** People by chance, some of them by names of many scripts. */
const people = (n: number, seed: number): Person[] => {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)] as T;
  return Array.from({ length: n }, (_, i) => ({
    email: `${pick(["ada", "grace", "info", "jörg", "x.y+z"])}${i}@${pick(["example.com", "mail.test", "bücher.example"])}`,
    firstName: random.fraction() < 0.8 ? pick(FIRST) : null,
    lastName: random.fraction() < 0.8 ? pick(LAST) || null : null,
    tags: ["VIP", "beta", "Ünïcode"].filter(() => random.fraction() < 0.3),
    status: random.fraction() < 0.3 ? "UNSUBSCRIBED" : "SUBSCRIBED",
  }));
};

const fill = async (world: TestWorld, rows: readonly Person[]): Promise<void> => {
  for (let i = 0; i < rows.length; i += 1000) {
    const outcome = await world.sdk.contacts.import({ rows: rows.slice(i, i + 1000) });
    expect(outcome.errors).toEqual([]);
  }
};

const ascii = (email: string): string => email.replace("bücher", "xn--bcher-kva");

const folded = new WeakMap<Person, readonly string[]>();

/** Texts of a person that search reads. Each is searched many times, so it is folded once. */
const searchedTexts = (p: Person): readonly string[] => {
  const texts = folded.get(p) ?? [ascii(p.email), p.email, p.firstName ?? "", p.lastName ?? ""].map(fold);
  folded.set(p, texts);
  return texts;
};

/** Expected results of a search, found by reading everything; newest first. */
const oracle = (rows: readonly Person[], { search, status, tag }: { search: string; status?: string; tag?: string }): string[] => {
  const term = fold(search.trim());
  return rows
    .filter(
      (p) =>
        searchedTexts(p).some((text) => text.includes(term)) &&
        (status === undefined || p.status === status) &&
        (tag === undefined || p.tags.some((t) => fold(t) === fold(tag))),
    )
    .map((p) => ascii(p.email))
    .reverse();
};

// More than are read one by one before the index is asked.
const N = 6600;

test("a search finds what a full scan finds, in every script and length", async () => {
  await using world = await createWorld();
  const rows = people(N, 7);
  await fill(world, rows);
  const texts = rows.flatMap((p) => [ascii(p.email), p.email, p.firstName ?? "", p.lastName ?? ""]).filter((text) => text !== "");
  const part = fc.tuple(fc.constantFrom(...texts), fc.nat(20), fc.integer({ min: 1, max: 9 })).map(([text, from, length]) => {
    const characters = [...text];
    const at = from % characters.length;
    return characters.slice(at, at + length).join("");
  });
  const other = fc.constantFrom(
    "%",
    "_",
    "%_",
    "\\",
    '"',
    "'",
    "*",
    "''",
    "zzzz",
    "AND",
    '" OR "',
    "ß",
    "ss",
    "SS",
    "ς",
    "Σ",
    "i",
    "İ",
    "1",
    "99",
    "@",
    ".com",
    "小",
    "👩",
  );
  const some = fc.record({
    search: fc
      .tuple(fc.oneof({ weight: 4, arbitrary: part }, { weight: 1, arbitrary: other }), fc.boolean())
      .map(([s, loud]) => (loud ? s.toUpperCase() : s)),
    status: fc.option(fc.constantFrom("SUBSCRIBED", "UNSUBSCRIBED"), { nil: undefined, freq: 3 }),
    tag: fc.option(fc.constantFrom("vip", "BETA", "ÜNÏCODE", "nobody"), { nil: undefined, freq: 3 }),
    limit: fc.constantFrom(1, 20, 100),
  });
  await fc.assert(
    fc.asyncProperty(some, async ({ limit, search, status, tag }) => {
      if (search.trim() === "") return;
      const wanted = oracle(rows, { search, ...(status && { status }), ...(tag && { tag }) });
      const query = { search, limit, ...(status && { status: status as "SUBSCRIBED" }), ...(tag && { tag }) };
      const first = await world.sdk.contacts.list(query);
      expect([search, first.data.map((c) => c.email)]).toEqual([search, wanted.slice(0, limit)]);
      expect(first.pagination).toMatchObject({
        total: wanted.length,
        totalPages: Math.ceil(wanted.length / limit),
        hasMore: wanted.length > limit,
      });
      expect(first.pagination.totalIsMinimum).toBeUndefined();
      const second = await world.sdk.contacts.list({ ...query, page: 2 });
      expect(second.data.map((c) => c.email)).toEqual(wanted.slice(limit, 2 * limit));
      if (!first.pagination.nextCursor) return;
      const next = await world.sdk.contacts.list({ ...query, cursor: first.pagination.nextCursor });
      expect(next.data).toEqual(second.data);
    }),
    { numRuns: propertyRuns(150), seed: 11 },
  );
});

test("among more than 20,000 contacts the hits are the same, and counted up to 200", async () => {
  await using world = await createWorld();
  const rows = people(20_500, 8).map((p, i) => ({ ...p, lastName: i % 4000 === 17 ? "Zvířátko" : p.lastName }));
  await fill(world, rows);
  for (const search of ["ada1", "zvíř", "Ář", "z", "e.com", "ada20499@", "nobody at all", "šč", "ß"]) {
    const wanted = oracle(rows, { search });
    const first = await world.sdk.contacts.list({ search, limit: 30 });
    expect([search, first.data.map((c) => c.email)]).toEqual([search, wanted.slice(0, 30)]);
    const { total, totalIsMinimum, hasMore } = first.pagination;
    expect(hasMore).toBe(wanted.length > 30);
    if (totalIsMinimum) expect(total).toBeLessThanOrEqual(Math.min(200, wanted.length));
    else expect(total).toBe(wanted.length);
    const second = await world.sdk.contacts.list({ search, limit: 30, page: 2 });
    expect(second.data.map((c) => c.email)).toEqual(wanted.slice(30, 60));
    if (first.pagination.nextCursor)
      expect((await world.sdk.contacts.list({ search, limit: 30, cursor: first.pagination.nextCursor })).data).toEqual(second.data);
  }
  const all = await world.sdk.contacts.export({ search: "grace" }).toArray();
  expect(all.map((c) => c.email)).toEqual(oracle(rows, { search: "grace" }));
  const deep = await ask(world, { method: "GET", path: "/api/v1/contacts?search=e&page=1000" });
  expect([deep.status, await deep.json()]).toMatchObject([400, { error: { details: [{ path: "page", code: "too_deep" }] } }]);
});

test("a search with control characters is refused", async () => {
  await using world = await createWorld();
  const refused = await ask(world, { method: "GET", path: "/api/v1/contacts?search=a%0Ab" });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { details: [{ path: "search", code: "invalid_characters" }] } },
  ]);
  expect((await ask(world, { method: "GET", path: `/api/v1/contacts?search=${"x".repeat(201)}` })).status).toBe(400);
});

test("an empty search is no filter", async () => {
  await using world = await createWorld();
  await fill(world, people(3, 1));
  expect((await world.sdk.contacts.list({ search: "  " })).pagination.total).toBe(3);
});

test("a changed contact is found by its new name, not by the old one", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com", firstName: "Byron" });
  await world.sdk.contacts.update(id, { firstName: "Lovelace" });
  expect((await world.sdk.contacts.list({ search: "velac" })).pagination.total).toBe(1);
  expect((await world.sdk.contacts.list({ search: "yro" })).pagination.total).toBe(0);
  await world.sdk.contacts.delete(id);
  expect((await world.sdk.contacts.list({ search: "velac" })).pagination.total).toBe(0);
});

test("pages list every contact exactly once while others are added and deleted", async () => {
  await using world = await createWorld();
  const rows = people(150, 3);
  await fill(world, rows);
  for (const query of [
    {},
    { tag: "vip" },
    { status: "SUBSCRIBED" as const },
    { search: "a" },
    { tag: "beta", status: "UNSUBSCRIBED" as const },
  ]) {
    const there = new Set((await world.sdk.contacts.list({ ...query, limit: 100 }).toArray()).map((c) => c.id));
    const seen: string[] = [];
    let added = 0;
    for await (const page of world.sdk.contacts.list({ ...query, limit: 7 }).pages()) {
      seen.push(...page.data.map((c) => c.id));
      added += 1;
      const extra = await world.sdk.contacts.upsert({ email: `new${seen.length}-${added}@example.com`, firstName: "Ada", tags: ["vip"] });
      if (added % 2 === 0) await world.sdk.contacts.delete(extra.id);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => there.has(id))).toHaveLength(there.size);
  }
  const all = await world.sdk.contacts.list({ limit: 100 }).toArray();
  const pages = await Promise.all(Array.from({ length: 40 }, (_, i) => world.sdk.contacts.list({ page: i + 1, limit: 9 })));
  expect(pages.flatMap((p) => p.data.map((c) => c.id))).toEqual(all.map((c) => c.id));
  expect((await world.sdk.contacts.export({ limit: 50 }).toArray()).map((c) => c.id)).toEqual(all.map((c) => c.id));
  await expectCountsToBeTrue(world);
});

test("deep pages start at their block, and equal those counted from the top", async () => {
  await using world = await createWorld();
  const rows = people(3000, 5);
  await fill(world, rows);
  // Numbers far apart, as they are after many deletions or among many workspaces: several blocks.
  const { db } = world.app.deps;
  await db.tx(async (tx) => {
    const { contacts, contactTags, contactCounts } = tx.t;
    const all = await tx.select().from(contacts).orderBy(contacts.seq);
    await tx.delete(contacts);
    await tx.delete(contactTags);
    await tx.delete(contactCounts);
    const counts = new CountChanges();
    const far = all.map((row, i) => ({ ...row, seq: row.seq + Math.floor(i / 500) * 3 * BLOCK }));
    await insertContacts(tx, far);
    for (const row of far) counts.add(row, 1);
    await counts.write(tx);
  });
  const wanted = [...rows].reverse();
  for (const [filter, keep] of [
    [{}, () => true],
    [{ status: "UNSUBSCRIBED" as const }, (p: Person) => p.status === "UNSUBSCRIBED"],
    [{ tag: "Vip" }, (p: Person) => p.tags.includes("VIP")],
    [{ tag: "beta", status: "SUBSCRIBED" as const }, (p: Person) => p.tags.includes("beta") && p.status === "SUBSCRIBED"],
  ] as const) {
    const emails = wanted.filter(keep).map((p) => ascii(p.email));
    for (const page of [1, 2, 10, 55, 100, 149, 150, 151, 1_000_000]) {
      const { data, pagination } = await world.sdk.contacts.list({ ...filter, page, limit: 20 });
      expect(data.map((c) => c.email)).toEqual(emails.slice((page - 1) * 20, page * 20));
      expect(pagination).toMatchObject({ page, total: emails.length, hasMore: emails.length > page * 20 });
    }
  }
});

test("a search beyond its last page reports the real total, among more than 20,000 contacts", async () => {
  await using world = await createWorld();
  const N = 21_000;
  const { deps } = world.app;
  // As import writes them, but at once.
  await deps.db.tx(async (tx) => {
    const rows = Array.from({ length: N }, (_, i) =>
      buildContact(deps, world.workspaceId, { email: `r${i}@${i % 5000 === 0 ? "rare" : "many"}.example` }, "SUBSCRIBED"),
    );
    await saveContacts(tx, deps, rows, [], { source: "import" });
  });
  const rare = await world.sdk.contacts.list({ search: "@rare" });
  expect([rare.data.length, rare.pagination.total]).toEqual([5, 5]);
  for (const page of [2, 3, 400]) {
    const { data, pagination } = await world.sdk.contacts.list({ search: "@rare", page });
    expect([page, data, pagination.total, pagination.totalPages, pagination.hasMore]).toEqual([page, [], 5, 1, false]);
  }
  expect((await world.sdk.contacts.list({ search: "@none", page: 50 })).pagination).toMatchObject({ total: 0, totalPages: 0 });
  const { pagination } = await world.sdk.contacts.list({ search: "@many", page: 30 });
  expect(pagination).toMatchObject({ total: 601, totalIsMinimum: true, hasMore: true });
});

test("counters equal a recount after random operations, folded or not", async () => {
  await using world = await createWorld();
  const { sdk, app } = world;
  const random = seededRandom(99);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)] as T;
  const tags = () => ["a", "A", "b", "c", "ü", "Ü"].filter(() => random.fraction() < 0.4);
  const email = () => `r${Math.floor(random.fraction() * 40)}@example.com`;
  const ignore = () => undefined;
  for (let i = 0; i < 300; i += 1) {
    const some = (await sdk.contacts.list({ limit: 100 })).data;
    const one = some.length > 0 ? pick(some) : null;
    await pick([
      () => sdk.contacts.create({ email: email(), tags: tags() }).catch(ignore),
      () => sdk.contacts.upsert({ email: email(), tags: tags() }),
      () =>
        sdk.contacts.import({
          rows: [{ email: email(), tags: tags() }, { email: email() }, { email: "no" }],
          mode: pick(["upsert", "skip"]),
        }),
      () => one && sdk.contacts.update(one.id, { tags: tags(), status: pick(["SUBSCRIBED", "UNSUBSCRIBED"]) }).catch(ignore),
      () => one && sdk.contacts.delete(one.id),
      () => one && sdk.suppressions.create({ email: one.email, reason: pick(["bounce", "complaint", "unsubscribe"]) }),
      () => app.deps.db.tx((tx) => app.deps.queue.enqueue(tx, { kind: FOLD_JOB, payload: {} })),
    ])();
    if (i % 50 === 49) {
      await world.settle();
      await expectCountsToBeTrue(world);
    }
  }
  await app.deps.db.tx((tx) => app.deps.queue.enqueue(tx, { kind: FOLD_JOB, payload: {} }));
  await world.settle();
  await expectCountsToBeTrue(world);
  const { contactCounts: t } = app.deps.db.read.t;
  const rows = await app.deps.db.read.select().from(t);
  expect(new Set(rows.map((r) => `${r.tagKey} ${r.status} ${r.block}`)).size).toBe(rows.length);
});
