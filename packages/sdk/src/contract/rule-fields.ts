import { mapContactTexts } from "./contact-fields.ts";
import { limits } from "./limits.ts";

// Fields and operators of segment rules, without their schema: forms that build rules load only this.

export const RULE_LIMITS = limits("segments", "The rules of a segment", {
  depth: [8, "levels of nested groups"],
  conditions: [100, "conditions"],
  values: [100, "values of one condition"],
  text: [500, "a value", "characters"],
  fieldName: [100, "name of a custom field, a property or an event of yours", "characters"],
  times: [1_000_000, "times that somebody did something"],
});

/** The kind of a field, which decides its operators. A count is of what a contact did; a fact is of one such event. */
export type FieldKind = "text" | "status" | "instant" | "set" | "custom" | "count" | "fact";

/** The fields of conditions, besides `customFields.<name>` and `did.<name>`. */
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
  received: "count",
  opened: "count",
  clicked: "count",
  replied: "count",
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
const NUMBER = ["gt", "gte", "lt", "lte"] as const;
const INSTANT = ["before", "after", "withinLast", "notWithinLast", "exists"] as const;

/** The operators of each kind of field. */
export const RULE_OPERATORS = {
  text: TEXT,
  status: ["equals", "notEquals", "in", "notIn"],
  instant: INSTANT,
  set: ["contains", "notContains", "in", "notIn", "exists"],
  custom: [...TEXT, ...NUMBER, "before", "after", "withinLast", "notWithinLast", "withinNext"],
  count: ["exists", "gte", "gt", "lte", "lt", "equals", "notEquals"],
  fact: [...TEXT, ...NUMBER, "before", "after"],
} as const satisfies Readonly<Record<FieldKind, readonly RuleOperator[]>>;

/** The operator that a negative one negates; null for others. */
export function findNegated(operator: RuleOperator): RuleOperator | null {
  const known: { readonly takes: RuleValueKind; readonly not?: RuleOperator } = OPERATORS[operator];
  return known.not ?? null;
}

export const ALL_OPERATORS = Object.keys(OPERATORS) as RuleOperator[];

const CUSTOM = "customFields.";
const DID = "did.";
const PROPERTIES = "properties.";

/** The fields of an event that a filter may name, besides `properties.<name>`. A field an event does not have matches only negative operators. */
export const EVENT_FIELDS = ["value", "currency", "url", "campaignId"] as const;

/** One condition on an event. */
export interface EventCondition {
  field: (typeof EVENT_FIELDS)[number] | `properties.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
}

/** A rule tree about an event, as segments have about contacts. */
export type EventFilter = { all: EventFilter[] } | { any: EventFilter[] } | { not: EventFilter } | EventCondition;

/** Further parts of a condition on what people did, which tell what is counted. */
export const RULE_DETAILS = ["within", "campaign", "template", "where"] as const;
export type RuleDetail = (typeof RULE_DETAILS)[number];

/** One condition on a contact. */
export interface SegmentCondition {
  field: RuleField | `customFields.${string}` | `did.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
  /** For what people did: only within this duration before now, such as `30d`. */
  within?: string | undefined;
  /** For what people did with mail: only that of the campaign with this id. */
  campaign?: string | undefined;
  /** Likewise, of the template with this slug. */
  template?: string | undefined;
  /** For events of your own and clicks: only those with these facts. */
  where?: EventFilter | undefined;
}

/** A rule tree: `all` and `any` combine rules, `not` negates one, everything else is a condition. */
export type SegmentRule = { all: SegmentRule[] } | { any: SegmentRule[] } | { not: SegmentRule } | SegmentCondition;

/** The name of a custom field; null for built-in fields. */
export function customName(field: string): string | null {
  return nameAfter(CUSTOM, field);
}

/** The name of the event of your own that a condition counts; null for other fields. */
export function trackedName(field: string): string | null {
  return nameAfter(DID, field);
}

/** The name of a property; null for the other fields of events. */
export function propertyName(field: string): string | null {
  return nameAfter(PROPERTIES, field);
}

function nameAfter(prefix: string, field: string): string | null {
  return field.startsWith(prefix) ? field.slice(prefix.length) : null;
}

/** The kind of a field; null if there is no such field. */
export function kindOfField(field: string): FieldKind | null {
  if (customName(field) !== null) return "custom";
  if (trackedName(field) !== null) return "count";
  return Object.hasOwn(RULE_FIELDS, field) ? RULE_FIELDS[field as RuleField] : null;
}

/** The kind of a fact that `where` may name in conditions on a field; null if there is no such fact. */
export function kindOfFact(field: string, fact: string): FieldKind | null {
  if (trackedName(field) !== null) return fact === "value" || fact === "currency" || propertyName(fact) !== null ? "fact" : null;
  return field === "clicked" && fact === "url" ? "fact" : null;
}

/** The further parts that a condition on a field may have. */
export function detailsOf(field: string): readonly RuleDetail[] {
  if (kindOfField(field) !== "count") return [];
  if (trackedName(field) !== null) return ["within", "where"];
  return field === "clicked" ? RULE_DETAILS : ["within", "campaign", "template"];
}
