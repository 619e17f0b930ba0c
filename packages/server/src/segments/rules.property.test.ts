import {
  CONTACT_STATUSES,
  type ContactStatus,
  listRuleErrors,
  RULE_FIELDS,
  RULE_OPERATORS,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { and, asc, eq } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assumeContactHeld } from "../db/held.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { loadCounts } from "./actions.ts";
import { compileRule } from "./compile.ts";
import { loadContactViews } from "./contact-view.ts";
import { matches } from "./evaluate.ts";
import { buildRuleContext } from "./query.ts";

// Words that are hard for one of the two: other scripts and cases, what LIKE and GLOB take for signs, quotes, nothing.
const WORDS = [
  "Ada",
  "ADA",
  "ada",
  "Straße",
  "STRASSE",
  "İzmir",
  "é",
  "e\u0301",
  "ΣΑΣ",
  "σας",
  "100%",
  "a_c",
  "abc",
  "[a]",
  "*",
  "'; --",
  '"q"',
  "\\",
  "ß",
  "K",
  "😀",
  "0",
  "5",
  "2026-01-10",
  "2026-01-10T12:00:00Z",
  "2026-01-10T12:00:00.000Z",
  "2025-12-31",
  "2026-02-31",
  "2026-13-45",
  "2024-02-29",
  "2023-02-29",
  "2026-01-10T24:00:00Z",
  "2026-01-10T12:00:60Z",
  "not-a-date",
];
const KEYS = ["plan", "n", "when", "flag", "hasOwnProperty", "a.b", "$", "[0]", "toString", "sp ace"];
const NUMBERS = [0, -0, 1, 5, -1.5, 0.1, 0.30000000000000004, 1e21, 1e308, 5e-324, 9007199254740992, 123456789.123];
const DURATIONS = ["1h", "1d", "30d", "36500d"];
const DATES = ["2026-01-10", "2026-01-10T12:00:00Z", "2026-01-10T13:00:00+01:00", "1999-01-01"];

const word = fc.constantFrom(...WORDS);
const custom = fc.dictionary(
  fc.constantFrom(...KEYS),
  fc.oneof(word, fc.constantFrom(...NUMBERS), fc.boolean(), fc.constant(null), fc.constant([1]), fc.constant({ x: "Ada" })),
  {
    maxKeys: 5,
    noNullPrototype: true,
  },
);
const person = fc.record({
  firstName: fc.option(word),
  lastName: fc.option(word),
  phone: fc.option(fc.constantFrom("+49 1", "0")),
  tags: fc.uniqueArray(fc.constantFrom("vip", "Straße", "e\u0301", "x_y"), { maxLength: 3 }),
  customFields: custom,
  status: fc.constantFrom(...CONTACT_STATUSES),
  lists: fc.subarray([0, 1]),
  engaged: fc.option(fc.record({ sent: fc.option(fc.integer({ min: 0, max: 40 })), opened: fc.option(fc.integer({ min: 0, max: 40 })) })),
});

const condition = (listIds: readonly string[]): fc.Arbitrary<SegmentCondition> =>
  fc.constantFrom(...Object.keys(RULE_FIELDS), ...KEYS.map((k) => `customFields.${k}`)).chain((field) => {
    const kind = field.startsWith("customFields.") ? "custom" : RULE_FIELDS[field as keyof typeof RULE_FIELDS];
    const ids = fc.constantFrom(...listIds, "list_unknown");
    if (kind === "count")
      return fc.record({
        field: fc.constant(field as SegmentCondition["field"]),
        operator: fc.constantFrom("gte", "lt", "equals", "notEquals"),
        value: fc.integer({ min: 0, max: 2 }),
      });
    const one =
      kind === "status"
        ? fc.constantFrom<string | number>(...CONTACT_STATUSES)
        : field === "lists"
          ? ids
          : field === "tags"
            ? fc.constantFrom("VIP", "strasse", "é", "none")
            : field === "email"
              ? fc.constantFrom(
                  "p1@example.com",
                  "P1@EXAMPLE.com",
                  "p1",
                  "@example",
                  ".com",
                  "%",
                  "p0@bücher.example",
                  '"p5"@BU\u0308CHER.example',
                  "@bücher.example",
                  "bücher",
                  "p10@xn--bcher-kva",
                )
              : word;
    const single = kind === "custom" ? fc.oneof(one, fc.constantFrom(...NUMBERS)) : one;
    return fc.constantFrom(...RULE_OPERATORS[kind]).chain((operator): fc.Arbitrary<SegmentCondition> => {
      const make = <V extends SegmentCondition["value"]>(value: fc.Arbitrary<V>): fc.Arbitrary<SegmentCondition> =>
        value.map((v) => ({ field, operator, value: v }) as SegmentCondition);
      if (operator === "exists") return make(fc.constantFrom(true, false, undefined));
      if (operator === "in" || operator === "notIn") return make(fc.array(single, { minLength: 1, maxLength: 4 }));
      if (operator === "gt" || operator === "gte" || operator === "lt" || operator === "lte") return make(fc.constantFrom(...NUMBERS));
      if (operator === "before" || operator === "after") return make(fc.constantFrom(...DATES));
      if (operator === "withinLast" || operator === "notWithinLast" || operator === "withinNext")
        return make(fc.constantFrom(...DURATIONS));
      return make(kind === "custom" && (operator === "equals" || operator === "notEquals") ? fc.oneof(single, fc.boolean()) : one);
    });
  });

const rule = (listIds: readonly string[]): fc.Arbitrary<SegmentRule> =>
  fc.letrec<{ rule: SegmentRule }>((tie) => ({
    rule: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      { weight: 4, arbitrary: condition(listIds) },
      { weight: 1, arbitrary: fc.record({ all: fc.array(tie("rule"), { minLength: 1, maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ any: fc.array(tie("rule"), { minLength: 1, maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ not: tie("rule") }) },
    ),
  })).rule;

/** Contacts of all kinds, with lists and what mail knows of them; some fields written past the API, which would tidy them. */
/** Every fifth address has an international domain. */
const emailOf = (i: number): string => `p${i}@${i % 5 === 0 ? "bücher.example" : "example.com"}`;

const fill = async (world: TestWorld): Promise<{ listIds: string[]; seqs: number[] }> => {
  const { deps } = world.app;
  const lists = [await world.sdk.lists.create({ name: "one" }), await world.sdk.lists.create({ name: "two" })];
  const people = fc.sample(person, { numRuns: 60, seed: 7 });
  for (const [i, { firstName, lastName, phone, tags, customFields }] of people.entries())
    await world.sdk.contacts.create({
      email: emailOf(i),
      firstName,
      lastName,
      phone,
      tags,
      customFields: customFields as Record<string, string>,
    });
  for (const [k, list] of lists.entries()) {
    const contacts = people.flatMap((p, i) => (p.lists.includes(k) ? [emailOf(i)] : []));
    await world.sdk.lists.add(list.id, { contacts });
  }
  const { contacts: t } = deps.db.read.t;
  const rows = await deps.db.read.select({ seq: t.seq }).from(t).orderBy(asc(t.seq));
  const day = (n: number | null): number | null => (n === null ? null : deps.clock.now() - n * 86_400_000);
  await deps.db.tx(async (tx) => {
    for (const [i, { status, engaged }] of people.entries()) {
      const seq = rows[i]?.seq as number;
      await tx
        .update(tx.t.contacts)
        .set({ status: status as ContactStatus, createdAt: deps.clock.now() - i * 43_200_000 })
        .where(eq(tx.t.contacts.seq, seq));
      if (engaged)
        await tx.insert(tx.t.engagement).values({
          contactSeq: assumeContactHeld({ id: "", seq }).seq,
          lastSentAt: day(engaged.sent),
          lastDeliveredAt: null,
          lastOpenedAt: day(engaged.opened),
          lastClickedAt: null,
        });
    }
  });
  return { listIds: lists.map((l) => l.id), seqs: rows.map((r) => r.seq) };
};

test("a rule in SQL finds the contacts that match it one by one", async () => {
  await using world = await createWorld({ now: "2026-01-20T00:00:00.000Z" });
  const { listIds, seqs } = await fill(world);
  const { deps } = world.app;
  const { read } = deps.db;
  const context = await buildRuleContext(read, deps, world.workspaceId);
  const known = await loadContactViews(read, world.workspaceId, seqs, [], context.now);
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(rule(listIds), async (tree) => {
      expect(listRuleErrors(JSON.parse(JSON.stringify(tree)))).toEqual([]);
      const countsOf = await loadCounts(context, seqs, [tree]);
      const { contacts: c } = read.t;
      const found = await read
        .select({ seq: c.seq })
        .from(c)
        .where(and(eq(c.workspaceId, world.workspaceId), compileRule(context, tree)))
        .orderBy(asc(c.seq));
      const viewOf = (seq: number) => ({ ...(known.get(seq) as NonNullable<ReturnType<typeof known.get>>).view, counts: countsOf(seq) });
      const wanted = seqs.filter((seq) => matches(viewOf(seq), tree, context.now));
      expect(found.map((r) => r.seq)).toEqual(wanted);
      matched += wanted.length;
    }),
    { numRuns: 1500, seed: 11 },
  );
  // Rules that match no contact would prove nothing.
  expect(matched).toBeGreaterThan(10_000);
});
