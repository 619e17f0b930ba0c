import { mapContactTexts } from "./contact-fields.ts";

// Fields and operators of segment rules, without their schema: forms that build rules load only this.

/** Limits of a rule tree. */
export const RULE_LIMITS = {
  /** Levels of nested groups. */
  depth: 8,
  /** Conditions in the whole tree. */
  conditions: 100,
  /** Values of one `in` or `notIn`. */
  values: 100,
  /** Characters of a value. */
  text: 500,
  /** Characters of the name of a custom field. */
  fieldName: 100,
} as const;

/** The kind of a field, which decides its operators. */
export type FieldKind = "text" | "status" | "instant" | "set" | "custom";

/** The fields of conditions, besides `customFields.<name>`. */
export const RULE_FIELDS = {
  email: "text",
  externalId: "text",
  ...mapContactTexts(() => "text" as const),
  status: "status",
  createdAt: "instant",
  updatedAt: "instant",
  lastSentAt: "instant",
  lastDeliveredAt: "instant",
  lastOpenedAt: "instant",
  lastClickedAt: "instant",
  tags: "set",
  lists: "set",
} as const satisfies Record<string, FieldKind>;
export type RuleField = keyof typeof RULE_FIELDS;

/** The value that a condition has. `same` and `part` are compared with the contact's; `several` are values of `same`. */
export type RuleValueKind = "same" | "part" | "several" | "flag" | "instant" | "duration" | "number";

/** The operators of conditions: the value that each takes. One with `not` is true exactly where the operator that it names is not. */
export const OPERATORS = {
  equals: { takes: "same" },
  notEquals: { takes: "same", not: "equals" },
  contains: { takes: "part" },
  notContains: { takes: "part", not: "contains" },
  startsWith: { takes: "part" },
  endsWith: { takes: "part" },
  in: { takes: "several" },
  notIn: { takes: "several", not: "in" },
  exists: { takes: "flag" },
  before: { takes: "instant" },
  after: { takes: "instant" },
  withinLast: { takes: "duration" },
  notWithinLast: { takes: "duration", not: "withinLast" },
  gt: { takes: "number" },
  gte: { takes: "number" },
  lt: { takes: "number" },
  lte: { takes: "number" },
  withinNext: { takes: "duration" },
} as const satisfies Readonly<Record<string, { readonly takes: RuleValueKind; readonly not?: string }>>;
export type RuleOperator = keyof typeof OPERATORS;

const TEXT = ["equals", "notEquals", "contains", "notContains", "startsWith", "endsWith", "in", "notIn", "exists"] as const;
const INSTANT = ["before", "after", "withinLast", "notWithinLast", "exists"] as const;

/** The operators of each kind of field. */
export const RULE_OPERATORS = {
  text: TEXT,
  status: ["equals", "notEquals", "in", "notIn"],
  instant: INSTANT,
  set: ["contains", "notContains", "in", "notIn", "exists"],
  custom: [...TEXT, "gt", "gte", "lt", "lte", "before", "after", "withinLast", "notWithinLast", "withinNext"],
} as const satisfies Readonly<Record<FieldKind, readonly RuleOperator[]>>;

/** The operator that a negative one negates; null for others. */
export function findNegated(operator: RuleOperator): RuleOperator | null {
  const known: { readonly takes: RuleValueKind; readonly not?: RuleOperator } = OPERATORS[operator];
  return known.not ?? null;
}

export const ALL_OPERATORS = Object.keys(OPERATORS) as RuleOperator[];

const CUSTOM = "customFields.";

/** One condition on a contact. */
export interface SegmentCondition {
  field: RuleField | `customFields.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
}

/** A rule tree: `all` and `any` combine rules, `not` negates one, everything else is a condition. */
export type SegmentRule = { all: SegmentRule[] } | { any: SegmentRule[] } | { not: SegmentRule } | SegmentCondition;

/** The name of a custom field; null for built-in fields. */
export function customName(field: string): string | null {
  return field.startsWith(CUSTOM) ? field.slice(CUSTOM.length) : null;
}

/** The kind of a field; null if there is no such field. */
export function kindOfField(field: string): FieldKind | null {
  return customName(field) !== null ? "custom" : Object.hasOwn(RULE_FIELDS, field) ? RULE_FIELDS[field as RuleField] : null;
}
