import { CONTACT_TEXTS, mapContactTexts } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../test/any-character.ts";
import { propertyRuns } from "../../test/property-runs.ts";
import { expectCountsToBeTrue } from "../../test/recount.ts";
import { ask, type Scenario, scenarios } from "../../test/scenario.ts";
import { listContactEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { importContacts } from "./import.ts";

const PATH = "/api/v1/contacts/import";
const numbered = (n: number) => Array.from({ length: n }, (_, i) => ({ email: `r${i}@example.com` }));

const bad = (name: string, body: unknown, ...details: string[]): Scenario => ({
  name,
  path: PATH,
  body,
  status: 400,
  code: "validation_error",
  details,
});

scenarios(
  "imports that are not valid",
  [
    bad("no rows", {}, "rows required"),
    bad("an empty array", { rows: [] }, "rows too_small"),
    bad("rows that are no array", { rows: { email: "a@example.com" } }, "rows invalid_type"),
    bad("1,001 rows", { rows: numbered(1001) }, "rows too_big"),
    bad("an unknown mode", { rows: numbered(1), mode: "replace" }, "mode invalid_value"),
    bad("a dry run that is a text", { rows: numbered(1), dryRun: "yes" }, "dryRun invalid_type"),
    bad("an unknown field", { rows: numbered(1), lists: "x" }, "lists unknown_field"),
  ],
  { afterwards: async (world) => expect((await world.sdk.contacts.list()).pagination.total).toBe(0) },
);

const emails = async ({ sdk }: TestWorld) => (await sdk.contacts.list({ limit: 100 })).data.map((c) => c.email).reverse();

describe("an import", () => {
  test("imports valid rows, and reports invalid ones by row and field", async () => {
    await using world = await createWorld();
    const outcome = await world.sdk.contacts.import({
      rows: [
        { email: "a@example.com", firstName: "A" },
        { email: "nobody" },
        "a text",
        null,
        { firstName: "B" },
        { email: "c@example.com", firstName: "x".repeat(101), tags: [""], plan: "pro" },
        { email: "d@example.com", status: "BOUNCED" },
        { email: "e@example.com", tags: ["x"] },
      ],
    });
    expect(outcome).toMatchObject({ created: 2, updated: 0, unchanged: 0, skipped: 0, failed: 6, suppressed: 0, dryRun: false });
    expect(outcome.results).toEqual(["created", "failed", "failed", "failed", "failed", "failed", "failed", "created"]);
    expect(outcome.errors.map((e) => `${e.index} ${e.path} ${e.code}`)).toEqual([
      "1 email invalid_email",
      "2  invalid_type",
      "3  invalid_type",
      "4 email required",
      "5 firstName too_big",
      "5 tags[0] too_small",
      "5 plan unknown_field",
      "6 status invalid_value",
    ]);
    for (const { message } of outcome.errors) expect(message).toMatch(/[.…]$/);
    expect(await emails(world)).toEqual(["a@example.com", "e@example.com"]);
  });

  test("updates existing contacts, or skips them", async () => {
    await using world = await createWorld();
    const before = await world.sdk.contacts.create({ email: "a@example.com", firstName: "A", customFields: { x: 1 } });
    const rows = [{ email: "A@Example.com", firstName: "Z", customFields: { y: 2 } }, { email: "b@example.com" }];
    expect(await world.sdk.contacts.import({ rows, mode: "skip" })).toMatchObject({
      created: 1,
      skipped: 1,
      results: ["skipped", "created"],
    });
    expect((await world.sdk.contacts.list({ search: "a@" })).data).toEqual([before]);
    expect(await world.sdk.contacts.import({ rows })).toMatchObject({ updated: 1, unchanged: 1, results: ["updated", "unchanged"] });
    expect(await world.sdk.contacts.get(before.id)).toMatchObject({ firstName: "Z", customFields: { x: 1, y: 2 }, email: "a@example.com" });
    expect(await world.sdk.contacts.import({ rows })).toMatchObject({ unchanged: 2 });
  });

  test("applies several rows about one address in order", async () => {
    await using world = await createWorld();
    const rows = [
      { email: "a@example.com", firstName: "1" },
      { email: "A@example.com", lastName: "2" },
      { email: "a@EXAMPLE.com", firstName: "3" },
    ];
    expect((await world.sdk.contacts.import({ rows })).results).toEqual(["created", "updated", "updated"]);
    expect((await world.sdk.contacts.list()).data).toMatchObject([{ firstName: "3", lastName: "2" }]);
    await expectCountsToBeTrue(world);
  });

  test("does not subscribe contacts that are suppressed or unsubscribed", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "bounced@example.com", reason: "bounce" });
    await world.sdk.contacts.upsert({ email: "left@example.com", status: "UNSUBSCRIBED" });
    const rows = ["bounced", "left", "new"].map((name) => ({ email: `${name}@example.com`, status: "SUBSCRIBED" }));
    expect(await world.sdk.contacts.import({ rows })).toMatchObject({ created: 2, unchanged: 1, suppressed: 1 });
    const statuses = Object.fromEntries((await world.sdk.contacts.list()).data.map((c) => [c.email, c.status]));
    expect(statuses).toEqual({ "bounced@example.com": "BOUNCED", "left@example.com": "UNSUBSCRIBED", "new@example.com": "SUBSCRIBED" });
  });

  test("with dryRun reports what would happen, and stores nothing", async () => {
    await using world = await createWorld();
    const made = await world.sdk.contacts.create({ email: "a@example.com" });
    const rows = [{ email: "a@example.com", firstName: "A" }, { email: "b@example.com" }, { email: "no" }];
    const dry = await world.sdk.contacts.import({ rows, dryRun: true });
    expect((await world.sdk.contacts.list()).data).toEqual([made]);
    expect(await listContactEvents(world.app.deps.db.read, made.id)).toHaveLength(1);
    expect(await world.sdk.contacts.import({ rows })).toEqual({ ...dry, dryRun: false });
  });

  test("fails only the row that would make a contact too large", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.create({ email: "a@example.com", customFields: { a: "x".repeat(10_000) } });
    const rows = [{ email: "a@example.com", customFields: { b: "x".repeat(10_000) } }, { email: "b@example.com" }];
    expect(await world.sdk.contacts.import({ rows })).toMatchObject({
      created: 1,
      failed: 1,
      errors: [{ index: 0, path: "customFields", code: "too_big" }],
    });
  });

  test("is the source in the events of its contacts", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.import({ rows: [{ email: "a@example.com", tags: ["x"] }] });
    const [contact] = (await world.sdk.contacts.list()).data;
    expect(await listContactEvents(world.app.deps.db.read, contact?.id ?? "")).toMatchObject([
      { type: "contact.created", data: { source: "import", tagsAdded: ["x"] } },
    ]);
  });

  test("sent twice with one Idempotency-Key responds the same and acts once", async () => {
    await using world = await createWorld();
    const body = { rows: numbered(3) };
    const post = () => ask(world, { path: PATH, body, headers: { "idempotency-key": "k" } });
    const [first, second] = [await post(), await post()];
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await second.json()).toEqual(await first.json());
  });
});

test("exported contacts equal the imported ones, with any content", async () => {
  await using world = await createWorld();
  const line = (maxLength: number) =>
    fc.option(
      fc
        .string({ unit: anyCharacter, maxLength: Math.min(60, maxLength) })
        .map((s) => s.replace(/[\p{Cc}\u2028\u2029]/gu, "").trim())
        .filter((s) => s.length <= maxLength && s !== ""),
      { nil: null },
    );
  const value = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 50 }).map((s) => s.replaceAll("\0", "")),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.integer(), { maxLength: 3 }),
  );
  const field = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
    .filter((s) => !/[\p{Cc}\u2028\u2029]/u.test(s) && !/^(?:__proto__|constructor|prototype)$/.test(s));
  const person = fc.record({
    ...mapContactTexts((text) => line(CONTACT_TEXTS[text].maxLength)),
    language: fc.constantFrom(null, "de", "pt-BR", "zh-Hant"),
    tags: fc.uniqueArray(fc.stringMatching(/^[a-zé][a-z0-9 _-]{0,18}[a-z0-9]$/), { maxLength: 5, selector: (t) => t.toUpperCase() }),
    customFields: fc.dictionary(field, value, { maxKeys: 5 }),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(person, { minLength: 1, maxLength: 20 }), async (persons) => {
      run += 1;
      const rows = persons.map((p, i) => ({ email: `r${run}-${i}@example.com`, externalId: `r${run}:${i}`, ...p }));
      expect((await world.sdk.contacts.import({ rows })).errors).toEqual([]);
      const out = (await world.sdk.contacts.export({ search: `r${run}-` }).toArray()).reverse();
      // A custom field that is null is none.
      const stored = rows.map(({ customFields, ...row }) => ({
        ...row,
        customFields: Object.fromEntries(Object.entries(customFields).filter(([, value]) => value !== null)),
      }));
      expect(out.map(({ id: _i, status: _s, createdAt: _c, updatedAt: _u, ...rest }) => rest)).toEqual(stored);
      expect((await world.sdk.contacts.import({ rows })).unchanged).toBe(rows.length);
    }),
    { numRuns: propertyRuns(25), seed: 5 },
  );
  await expectCountsToBeTrue(world);
});

test("a large import lets the event loop serve others while it writes, and is still all or nothing", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  const [{ id: workspaceId } = { id: "" }] = await deps.db.read.select().from(deps.db.read.t.workspaces);
  const rowsWith = (tag: string) =>
    numbered(200).map(({ email }, i) => ({ contact: { email, tags: Array.from({ length: 50 }, (_, j) => `${tag} ${i} ${j}`) } }));
  const importInOne = (tag: string, end: () => void = () => {}) =>
    deps.db.tx(async (tx) => {
      const result = await importContacts(tx, deps, workspaceId, rowsWith(tag), { mode: "upsert", dryRun: false, startAutomations: false });
      end();
      return result;
    });
  /** The turns of the event loop during some work. */
  const countTurns = async (work: () => Promise<unknown>): Promise<number> => {
    let turns = 0;
    let running = true;
    const turn = (): void => {
      turns += 1;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    await work();
    running = false;
    return turns;
  };
  const fail = (): never => {
    throw new Error("boom");
  };
  await expect(importInOne("a", fail)).rejects.toThrow("boom");
  expect((await world.sdk.contacts.list()).pagination.total).toBe(0);
  expect(await countTurns(() => importInOne("a"))).toBeGreaterThan(20);
  expect(await countTurns(() => importInOne("b"))).toBeGreaterThan(20);
  expect((await world.sdk.contacts.list({ tag: "A 199 49" })).pagination.total).toBe(0);
  expect((await world.sdk.contacts.list({ tag: "B 199 49" })).data).toMatchObject([{ email: "r199@example.com" }]);
  await expectCountsToBeTrue(world);
});
