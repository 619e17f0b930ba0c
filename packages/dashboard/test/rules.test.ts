import { RULE_FIELDS, RULE_LIMITS, RULE_OPERATORS, type SegmentRule, SegmentRuleSchema } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildRule, countLevels, type GroupNode, isWhole, mayNest, parseRule } from "../src/parts/rules/tree.ts";
import { changePart, type Details, joinFacts, listFacts, pickDetails } from "../src/parts/rules/values.ts";
import { FIELD_CHOICES, FIELD_WORDS } from "../src/parts/rules/words.ts";

const condition = fc.constantFrom<SegmentRule>(
  { field: "tags", operator: "contains", value: "vip" },
  { field: "status", operator: "in", value: ["BOUNCED"] },
  { field: "customFields.orders", operator: "gte", value: 5 },
  { field: "opened", operator: "exists", value: false, within: "30d", campaign: "camp_a" },
  { field: "did.purchase", operator: "gte", value: 2, where: { not: { field: "value", operator: "gt", value: 50 } } },
);

/** Rules of up to four levels. */
const rules = fc.letrec<{ rule: SegmentRule }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    condition,
    fc.record({ all: fc.array(tie("rule"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie("rule"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie("rule") }),
  ),
})).rule;

/** True if a contact matches a rule whose conditions hold for the fields in `truths`. */
function matches(rule: SegmentRule, truths: ReadonlySet<string>): boolean {
  if ("all" in rule) return rule.all.every((one) => matches(one, truths));
  if ("any" in rule) return rule.any.some((one) => matches(one, truths));
  return "not" in rule ? !matches(rule.not, truths) : truths.has(rule.field);
}

test("a rule that is opened and saved means the same, and is valid where it was", () => {
  const sets = [[], ["tags"], ["status"], ["tags", "status"], ["customFields.orders"], ["tags", "customFields.orders"]].map(
    (one) => new Set(one),
  );
  fc.assert(
    fc.property(rules, (rule) => {
      const { rule: built } = buildRule(parseRule(rule));
      for (const truths of sets) expect(matches(built, truths)).toBe(matches(rule, truths));
      expect(SegmentRuleSchema.safeParse(built).success).toBe(true);
      expect(buildRule(parseRule(built)).rule).toEqual(built);
    }),
  );
});

test("every part of a rule is found by the path that the server names", () => {
  const { places } = buildRule(
    parseRule({
      all: [{ field: "tags", operator: "contains", value: "" }, { not: { any: [{ all: [] }, { field: "email", operator: "exists" }] } }],
    }),
  );
  expect([...places.keys()]).toEqual(["rules", "rules.all[0]", "rules.all[1]", "rules.all[1].not.any[0]", "rules.all[1].not.any[1]"]);
});

test("the fields and operators to choose from are those of the contract, and each change is complete or waits for a value", () => {
  expect(FIELD_CHOICES.toSorted()).toEqual(Object.keys(RULE_FIELDS).toSorted());
  expect(Object.values(FIELD_WORDS)).not.toContain("");
  for (const [field, kind] of [
    ...Object.entries(RULE_FIELDS),
    ["customFields.plan", "custom"] as const,
    ["did.purchase", "count"] as const,
  ])
    for (const operator of RULE_OPERATORS[kind]) {
      const part = changePart({ field: "tags", operator: "contains", value: "vip" }, { field, operator });
      expect(part).toMatchObject({ field, operator });
      const whole = isWhole({ kind: "condition", id: 1, ...part, details: {} });
      const rule = { field: part.field, operator: part.operator, value: part.value };
      // The contract accepts a rule exactly when it counts as complete.
      expect(`${field} ${operator}: ${SegmentRuleSchema.safeParse(rule).success}`).toBe(`${field} ${operator}: ${whole}`);
    }
});

test("groups can be nested as deep as the contract allows, and no deeper", () => {
  const group: GroupNode = { kind: "group", id: 1, mode: "any", nodes: [] };
  let depth = 0;
  while (mayNest(group, depth)) depth += countLevels(group);
  const nest = (levels: number): SegmentRule =>
    levels === 0 ? { field: "tags", operator: "contains", value: "vip" } : { any: [nest(levels - 1)] };
  expect(depth + 1).toBe(RULE_LIMITS.depth);
  expect(SegmentRuleSchema.safeParse(nest(depth + 1)).success).toBe(true);
  expect(SegmentRuleSchema.safeParse(nest(depth + 2)).success).toBe(false);
  // A group with a negation takes two levels.
  expect(mayNest({ ...group, mode: "none" }, RULE_LIMITS.depth - 2)).toBe(false);
});

test("what people did is narrowed by parts that its field has, and waits for their values", () => {
  const node = (field: string, details: Details) => isWhole({ kind: "condition", id: 1, field, operator: "exists", value: true, details });
  expect(node("opened", { within: "30d", campaign: "camp_a" })).toBe(true);
  expect([node("opened", { within: "d" }), node("opened", { campaign: "" }), node("did.", {})]).toEqual([false, false, false]);
  const where = (value: number | undefined) => node("did.purchase", { where: { field: "value", operator: "gt", value } });
  expect([where(5), where(undefined)]).toEqual([true, false]);
  expect(pickDetails({ within: "1d", campaign: "camp_a", where: { field: "url", operator: "exists" } }, "did.purchase")).toEqual({
    within: "1d",
    where: { field: "url", operator: "exists" },
  });
  expect(pickDetails({ within: "1d" }, "tags")).toEqual({});
  // Facts that all have to hold can be changed one by one; other rules about facts stay as they are.
  const fact = { field: "value", operator: "gt", value: 5 } as const;
  for (const facts of [[], [fact], [fact, fact]]) {
    const joined = joinFacts(facts);
    expect(joined === undefined ? [] : listFacts(joined)).toEqual(facts);
  }
  expect(listFacts({ any: [fact] })).toBe(null);
});
