import { z } from "zod";
import { durationMs } from "./dev.ts";

/** Bounds of a rule tree. */
export const RULE_LIMITS = {
  /** Groups inside each other. */
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

/** What kind of thing a field holds. */
export type FieldKind = "text" | "status" | "instant" | "set" | "custom";

/** The fields a condition may look at; besides them `customFields.<name>`. */
export const RULE_FIELDS = {
  email: "text",
  firstName: "text",
  lastName: "text",
  phone: "text",
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

const TEXT = ["equals", "notEquals", "contains", "notContains", "startsWith", "endsWith", "in", "notIn", "exists"] as const;
const INSTANT = ["before", "after", "withinLast", "notWithinLast", "exists"] as const;

/** What may be asked of each kind of field. */
export const RULE_OPERATORS = {
  text: TEXT,
  status: ["equals", "notEquals", "in", "notIn"],
  instant: INSTANT,
  set: ["contains", "notContains", "in", "notIn", "exists"],
  custom: [...TEXT, "gt", "gte", "lt", "lte", "before", "after", "withinLast", "notWithinLast", "withinNext"],
} as const satisfies Record<FieldKind, readonly string[]>;
export type RuleOperator = (typeof RULE_OPERATORS)[FieldKind][number];

export const ALL_OPERATORS = [...new Set(Object.values(RULE_OPERATORS).flat())] as RuleOperator[];

const STATUSES = ["SUBSCRIBED", "UNSUBSCRIBED", "BOUNCED", "COMPLAINED"];
const CUSTOM = "customFields.";

/** One question about a contact. */
export interface SegmentCondition {
  field: RuleField | `customFields.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
}

/** A rule tree: `all` and `any` hold rules, `not` turns one round, everything else is a condition. */
export type SegmentRule = { all: SegmentRule[] } | { any: SegmentRule[] } | { not: SegmentRule } | SegmentCondition;

/** The name of a custom field; null for fields every contact has. */
export function customName(field: string): string | null {
  return field.startsWith(CUSTOM) ? field.slice(CUSTOM.length) : null;
}

/** What kind of thing a field holds; null for one that does not exist. */
export function kindOfField(field: string): FieldKind | null {
  return customName(field) !== null ? "custom" : Object.hasOwn(RULE_FIELDS, field) ? RULE_FIELDS[field as RuleField] : null;
}

/** Milliseconds of a date (`2026-01-31`, midnight UTC) or an instant with its zone; NaN for anything else. */
export function instantMs(text: string): number {
  return /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
}

interface Fault {
  path: (string | number)[];
  code: string;
  message: string;
}

type Plain = Readonly<Record<string, unknown>>;

const TEXT_VALUE = `a text of 1 to ${RULE_LIMITS.text} characters`;
// Longer than anybody keeps contacts; beyond it lies the end of what a Date can say.
const MAX_DURATION = 100 * 365 * 86_400_000;

// Enough to go on with.
const MAX_FAULTS = 20;

const GROUPS = ["all", "any", "not"] as const;

/** What is wrong with a rule tree; nothing when it is one. Looks no further once the tree is too deep or too large. */
export function ruleFaults(root: unknown): Fault[] {
  const faults: Fault[] = [];
  const report = (fault: Fault): void => void faults.push(fault);
  let conditions = 0;
  const visit = (rule: unknown, path: (string | number)[], depth: number): void => {
    if (conditions > RULE_LIMITS.conditions || faults.length > MAX_FAULTS) return;
    if (!isPlain(rule)) {
      report({
        path,
        code: rule === undefined ? "required" : "invalid_type",
        message: `A rule is an object: { all }, { any }, { not } or { field, operator, value }; not ${quote(rule)}.`,
      });
      return;
    }
    const group = GROUPS.find((name) => Object.hasOwn(rule, name));
    if (group === undefined) {
      conditions += 1;
      if (conditions > RULE_LIMITS.conditions)
        report({
          path: [],
          code: "too_many_conditions",
          message: `A rule tree holds at most ${RULE_LIMITS.conditions} conditions. Use in for many values of one field.`,
        });
      else checkCondition(rule, path, report);
      return;
    }
    for (const key of Object.keys(rule))
      if (key !== group)
        report({
          path: [...path, key.slice(0, 60)],
          code: "unknown_field",
          message: `Beside ${group} there stands nothing else; put ${quote(key)} into a rule of its own.`,
        });
    if (depth >= RULE_LIMITS.depth) {
      report({ path, code: "too_deep", message: `Groups may stand at most ${RULE_LIMITS.depth} deep inside each other.` });
      return;
    }
    const inner = rule[group];
    if (group === "not") visit(inner, [...path, "not"], depth + 1);
    else if (!Array.isArray(inner) || inner.length === 0)
      report({
        path: [...path, group],
        code: Array.isArray(inner) ? "too_small" : "invalid_type",
        message: `${group} takes an array of at least one rule.`,
      });
    else for (let i = 0; i < inner.length && conditions <= RULE_LIMITS.conditions; i += 1) visit(inner[i], [...path, group, i], depth + 1);
  };
  visit(root, [], 0);
  return faults;
}

const ref = { $ref: "#/$defs/SegmentRule" };
const example: SegmentRule = {
  all: [
    { field: "status", operator: "equals", value: "SUBSCRIBED" },
    {
      any: [
        { field: "tags", operator: "contains", value: "vip" },
        { field: "customFields.orders", operator: "gte", value: 5 },
      ],
    },
    { field: "lastOpenedAt", operator: "withinLast", value: "30d" },
  ],
};

/** A rule tree, checked: faults carry the path to the place, a code and what to do. */
export const SegmentRuleSchema = z
  .custom<SegmentRule>()
  .superRefine((rule, ctx) => {
    for (const { path, code, message } of ruleFaults(rule)) ctx.addIssue({ code: "custom", path, message, params: { code } });
  })
  .meta({
    id: "SegmentRule",
    description:
      "A rule tree. { all: [rules] }, { any: [rules] } and { not: rule } combine rules; { field, operator, value } is a condition. " +
      "Texts are compared without regard to case. What a contact lacks fulfils only negative operators.",
    anyOf: [
      { type: "object", properties: { all: { type: "array", minItems: 1, items: ref } }, required: ["all"], additionalProperties: false },
      { type: "object", properties: { any: { type: "array", minItems: 1, items: ref } }, required: ["any"], additionalProperties: false },
      { type: "object", properties: { not: ref }, required: ["not"], additionalProperties: false },
      {
        type: "object",
        properties: {
          field: { type: "string", description: `${Object.keys(RULE_FIELDS).join(", ")} or customFields.<name>` },
          operator: { type: "string", enum: ALL_OPERATORS },
          value: {
            description: "What the operator takes: a text, number, true or false, an array for in and notIn, a duration for withinLast",
          },
        },
        required: ["field", "operator"],
        additionalProperties: false,
      },
    ],
    examples: [example],
  });

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 60);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= RULE_LIMITS.text;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

// What one of the databases cannot hold as text.
function unstorable(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

/** Whether one value fits an operator: null when it does, else what is needed. */
function wanted(kind: FieldKind, operator: RuleOperator, value: unknown): string | null {
  switch (operator) {
    case "exists":
      return value === undefined || typeof value === "boolean" ? null : "true or false";
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return isNumber(value) ? null : "a number";
    case "before":
    case "after":
      return typeof value === "string" && !Number.isNaN(instantMs(value)) ? null : "a date such as 2026-01-31, or 2026-01-31T09:30:00Z";
    case "withinLast":
    case "notWithinLast":
    case "withinNext":
      return typeof value === "string" &&
        /^(?:\d{1,9}(?:s|m|h|d))+$/.test(value) &&
        durationMs(value) > 0 &&
        durationMs(value) <= MAX_DURATION
        ? null
        : "a duration such as 30d or 12h, of 100 years at most";
    default:
      if (kind === "status") return STATUSES.includes(value as string) ? null : `one of ${STATUSES.join(", ")}`;
      if (kind === "custom" && (operator === "equals" || operator === "notEquals"))
        return isText(value) || isNumber(value) || typeof value === "boolean" ? null : `${TEXT_VALUE}, a number, true or false`;
      if (kind === "custom" && (operator === "in" || operator === "notIn"))
        return isText(value) || isNumber(value) ? null : `${TEXT_VALUE}, or a number`;
      return isText(value) ? null : TEXT_VALUE;
  }
}

function checkValue(kind: FieldKind, operator: RuleOperator, value: unknown, path: (string | number)[], report: (f: Fault) => void): void {
  const one = (v: unknown, at: (string | number)[]): void => {
    const needed = wanted(kind, operator, v);
    const name = at.slice(path.length - 1).join(".");
    if (needed !== null)
      report({
        path: at,
        code: v === undefined ? "required" : "invalid_value",
        message: `${operator} takes ${needed}; ${name} is ${quote(v)}.`,
      });
    else if (typeof v === "string" && unstorable(v))
      report({ path: at, code: "invalid_characters", message: "A value holds no U+0000 and no halves of characters." });
  };
  if (operator !== "in" && operator !== "notIn") {
    one(value, path);
    return;
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > RULE_LIMITS.values) {
    report({
      path,
      code: value === undefined ? "required" : Array.isArray(value) ? (value.length === 0 ? "too_small" : "too_big") : "invalid_type",
      message: `${operator} takes an array of 1 to ${RULE_LIMITS.values} values.`,
    });
    return;
  }
  for (const [i, v] of value.entries()) one(v, [...path, i]);
}

function checkCondition(rule: Plain, path: (string | number)[], report: (f: Fault) => void): void {
  for (const key of Object.keys(rule))
    if (key !== "field" && key !== "operator" && key !== "value")
      report({
        path: [...path, key.slice(0, 60)],
        code: "unknown_field",
        message: `A condition has field, operator and value, and no ${quote(key)}.`,
      });
  const { field, operator } = rule;
  const kind = typeof field === "string" ? kindOfField(field) : null;
  if (typeof field !== "string" || kind === null) {
    report({
      path: [...path, "field"],
      code: field === undefined ? "required" : "unknown_rule_field",
      message: `There is no field ${quote(field)}: use ${Object.keys(RULE_FIELDS).join(", ")} or customFields.<name>.`,
    });
    return;
  }
  const name = customName(field);
  if (name !== null && (name === "" || name.length > RULE_LIMITS.fieldName || /["\\\p{Cc}]/u.test(name) || !name.isWellFormed()))
    report({
      path: [...path, "field"],
      code: "invalid_field_name",
      message: `The name of a custom field has 1 to ${RULE_LIMITS.fieldName} characters, without quotes, backslashes and control characters.`,
    });
  const known: readonly string[] = RULE_OPERATORS[kind];
  if (typeof operator !== "string" || !known.includes(operator)) {
    report({
      path: [...path, "operator"],
      code: operator === undefined ? "required" : "unknown_operator",
      message: `${field.slice(0, 60)} knows the operators ${known.join(", ")}; not ${quote(operator)}.`,
    });
    return;
  }
  checkValue(kind, operator as RuleOperator, rule.value, [...path, "value"], report);
}
