import type { FieldKind, RuleField, RuleOperator } from "@mailsvc/sdk/contract";
import { customName, labelContactText, mapContactTexts, RULE_FIELDS, trackedName } from "@mailsvc/sdk/contract/facts";
import type { Mode } from "./tree.ts";

/** The fields of rules as people call them. */
export const FIELD_WORDS: Readonly<Record<RuleField, string>> = {
  tags: "Tags",
  lists: "Lists",
  status: "Status",
  email: "Email address",
  externalId: "Your own id",
  ...mapContactTexts(labelContactText),
  createdAt: "Added",
  updatedAt: "Changed",
  lastSentAt: "Last email sent",
  lastDeliveredAt: "Last email delivered",
  lastOpenedAt: "Last opened an email",
  lastClickedAt: "Last clicked a link",
  received: "Received an email",
  opened: "Opened an email",
  clicked: "Clicked a link",
  replied: "Replied to an email",
};

const OPERATORS: Readonly<Record<RuleOperator, string>> = {
  equals: "is",
  notEquals: "is not",
  contains: "contains",
  notContains: "does not contain",
  startsWith: "begins with",
  endsWith: "ends with",
  in: "is one of",
  notIn: "is none of",
  exists: "has any value",
  gt: "is more than",
  gte: "is at least",
  lt: "is less than",
  lte: "is at most",
  before: "is before",
  after: "is after",
  withinLast: "is within the last",
  notWithinLast: "is not within the last",
  withinNext: "is within the next",
};

const OF_KIND: Partial<Readonly<Record<FieldKind, Partial<Record<RuleOperator, string>>>>> = {
  set: { contains: "include", notContains: "do not include", in: "include one of", notIn: "include none of" },
  instant: {
    before: "before",
    after: "after",
    withinLast: "within the last",
    notWithinLast: "not within the last",
  },
  count: { equals: "exactly", notEquals: "not exactly", gt: "more than", gte: "at least", lt: "less than", lte: "at most" },
};

/** An operator of a kind of field as people say it. `exists` with false is the opposite of what it says with true. */
export function operatorWords(kind: FieldKind, operator: RuleOperator, value: unknown): string {
  if (operator === "exists") {
    const any =
      kind === "count"
        ? ["at least once", "never"]
        : kind === "instant"
          ? ["ever", "never"]
          : kind === "set"
            ? ["are not empty", "are empty"]
            : ["has any value", "has no value"];
    return (value === false ? any[1] : any[0]) ?? "";
  }
  return OF_KIND[kind]?.[operator] ?? OPERATORS[operator];
}

/** Words for the mode of a group. */
export const MODE_WORDS: Readonly<Record<Mode, string>> = {
  all: "all of these",
  any: "any of these",
  none: "none of these",
  notAll: "not all of these",
};

/** The fields to choose from, in the order of their words. */
export const FIELD_CHOICES = (Object.keys(FIELD_WORDS) as RuleField[]).filter((field) => Object.hasOwn(RULE_FIELDS, field));

/** Returns the label of a field; a custom field's own name. */
export function fieldWords(field: string): string {
  return customName(field) ?? trackedName(field) ?? FIELD_WORDS[field as RuleField] ?? field;
}
