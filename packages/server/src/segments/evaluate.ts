import {
  type ContactTextField,
  customName,
  DATE_PATTERN,
  durationMs,
  HOUR_PATTERN,
  instantMs,
  kindOfField,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { tagKey } from "../contacts/contacts.ts";
import { listAddressForms } from "../lib/address-forms.ts";
import { fold } from "../lib/fold.ts";

/** What rules can ask about a contact. Instants in ms. */
export interface ContactView extends Readonly<Record<ContactTextField, string | null>> {
  /** As `addressKey` returns it. */
  email: string;
  status: string;
  createdAt: number;
  updatedAt: number;
  lastSentAt: number | null;
  lastDeliveredAt: number | null;
  lastOpenedAt: number | null;
  lastClickedAt: number | null;
  /** As `tagKey` returns them. */
  tags: readonly string[];
  /** Ids of the lists it is a member of; pending memberships do not count. */
  lists: readonly string[];
  customFields: Readonly<Record<string, unknown>>;
}

type Value = SegmentCondition["value"];

/** The operator that a negative one negates: `notX` is true exactly where `X` is not. */
export const POSITIVE: Readonly<Partial<Record<RuleOperator, RuleOperator>>> = {
  notEquals: "equals",
  notContains: "contains",
  notIn: "in",
  notWithinLast: "withinLast",
};

/**
 * Whether a contact matches a rule at an instant (ms). `compile.ts` does the same in SQL, for many contacts at once; a property
 * test keeps the two equal.
 */
export function matches(contact: ContactView, rule: SegmentRule, now: number): boolean {
  return matchesTree<SegmentCondition>(rule, (condition) => matchesCondition(contact, condition, now));
}

/** A tree of rules: `all`, `any`, `not`, or a condition. */
type Tree<Condition> = { all: Tree<Condition>[] } | { any: Tree<Condition>[] } | { not: Tree<Condition> } | Condition;

/** Whether a tree of rules is satisfied, given which of its conditions are. */
export function matchesTree<Condition extends object>(rule: Tree<Condition>, holds: (condition: Condition) => boolean): boolean {
  if ("all" in rule) return (rule.all as Tree<Condition>[]).every((r) => matchesTree(r, holds));
  if ("any" in rule) return (rule.any as Tree<Condition>[]).some((r) => matchesTree(r, holds));
  if ("not" in rule) return !matchesTree(rule.not as Tree<Condition>, holds);
  return holds(rule as Condition);
}

/** Whether a free value, such as that of a custom field, satisfies an operator. `undefined` for none. */
export function matchesFreeValue(have: unknown, operator: RuleOperator, value: Value, now: number): boolean {
  const positive = POSITIVE[operator];
  if (positive) return !matchesFreeValue(have, positive, value, now);
  if (operator === "exists" && value === false) return !matchesCustomField(have, operator, undefined, now);
  return matchesCustomField(have, operator, value, now);
}

/** All conditions of a rule tree. */
export function listConditions(rule: SegmentRule): SegmentCondition[] {
  if ("all" in rule) return rule.all.flatMap(listConditions);
  if ("any" in rule) return rule.any.flatMap(listConditions);
  return "not" in rule ? listConditions(rule.not) : [rule];
}

const RELATIVE: ReadonlySet<RuleOperator> = new Set<RuleOperator>(["withinLast", "notWithinLast", "withinNext"]);

/** True for rules whose result changes with time alone. */
export function isTimed(rule: SegmentRule): boolean {
  return listConditions(rule).some((c) => RELATIVE.has(c.operator));
}

// The format of dates in custom fields. Other texts, 2026-02-30 among them, are not dates.
const CALENDAR_DATE = new RegExp(`^${DATE_PATTERN}(?:T${HOUR_PATTERN}:[0-5][0-9](?:[.][0-9]{3})?Z)?$`);

/**
 * A date (midnight) or UTC instant of a custom field in one format, so that comparing the texts compares the times; null for
 * other texts. `dateText` of the SQL dialect does the same.
 */
function toDateText(text: string): string | null {
  if (!CALENDAR_DATE.test(text)) return null;
  return text.length === 10 ? `${text}T00:00:00.000Z` : text.length === 20 ? `${text.slice(0, 19)}.000Z` : text;
}

/** An instant (ms) in that format. */
export function formatDateText(ms: number): string {
  return new Date(ms).toISOString();
}

function matchesText(text: string | null, operator: RuleOperator, value: Value): boolean {
  if (text === null) return false;
  return operator === "exists" || compareText(fold(text), operator, value, (v) => [fold(v)]);
}

/** `listForms` returns the forms of a value, any of which may match. */
function compareText(have: string, operator: RuleOperator, value: Value, listForms: (value: string) => readonly string[]): boolean {
  const forms = [value].flat().flatMap((v) => listForms(String(v)));
  switch (operator) {
    case "contains":
      return forms.some((form) => have.includes(form));
    case "startsWith":
      return forms.some((form) => have.startsWith(form));
    case "endsWith":
      return forms.some((form) => have.endsWith(form));
    default:
      return forms.includes(have);
  }
}

function compareTime<T extends number | string>(
  have: T,
  operator: RuleOperator,
  wanted: (value: Value) => T,
  value: Value,
  ago: (ms: number) => T,
): boolean {
  switch (operator) {
    case "before":
      return have < wanted(value);
    case "after":
      return have > wanted(value);
    case "withinLast":
      return have >= ago(durationMs(String(value))) && have <= ago(0);
    case "withinNext":
      return have > ago(0) && have <= ago(-durationMs(String(value)));
    default:
      return true;
  }
}

function matchesInstant(at: number | null, operator: RuleOperator, value: Value, now: number): boolean {
  return (
    at !== null &&
    compareTime(
      at,
      operator,
      (v) => instantMs(String(v)),
      value,
      (ms) => now - ms,
    )
  );
}

function matchesSet(set: readonly string[], operator: RuleOperator, value: Value): boolean {
  if (operator === "contains") return set.includes(String(value));
  if (operator === "in") return (value as string[]).some((v) => set.includes(v));
  return set.length > 0;
}

function toTagKeys(value: Value): Value {
  return Array.isArray(value) ? value.map((v) => tagKey(String(v))) : tagKey(String(value));
}

function compareNumber(have: number, operator: RuleOperator, value: number): boolean {
  if (operator === "gt") return have > value;
  if (operator === "gte") return have >= value;
  return operator === "lt" ? have < value : have <= value;
}

function matchesCustomField(have: unknown, operator: RuleOperator, value: Value, now: number): boolean {
  switch (operator) {
    case "exists":
      return have !== undefined && have !== null;
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return typeof have === "number" && compareNumber(have, operator, value as number);
    case "before":
    case "after":
    case "withinLast":
    case "withinNext": {
      const text = typeof have === "string" ? toDateText(have) : null;
      return (
        text !== null &&
        compareTime(
          text,
          operator,
          (v) => formatDateText(instantMs(String(v))),
          value,
          (ms) => formatDateText(now - ms),
        )
      );
    }
    case "in":
      return (value as (string | number)[]).some((v) => matchesCustomField(have, "equals", v, now));
    case "equals":
      return typeof value === "string" ? typeof have === "string" && fold(have) === fold(value) : have === value;
    default:
      return typeof have === "string" && matchesText(have, operator, value);
  }
}

function matchesCondition(contact: ContactView, { field, operator, value }: SegmentCondition, now: number): boolean {
  const positive = POSITIVE[operator];
  if (positive) return !matchesCondition(contact, { field, operator: positive, value }, now);
  if (operator === "exists" && value === false) return !matchesCondition(contact, { field, operator }, now);
  const custom = customName(field);
  if (custom !== null)
    return matchesCustomField(Object.hasOwn(contact.customFields, custom) ? contact.customFields[custom] : undefined, operator, value, now);
  const have = contact[field as keyof ContactView];
  switch (field === "email" ? "email" : kindOfField(field)) {
    case "email":
      return operator === "exists" || compareText(contact.email, operator, value, listAddressForms);
    case "instant":
      return matchesInstant(have as number | null, operator, value, now);
    case "set":
      return matchesSet(have as readonly string[], operator, field === "tags" ? toTagKeys(value) : value);
    case "status":
      return operator === "in" ? (value as string[]).includes(String(have)) : have === value;
    default:
      return matchesText(have as string | null, operator, value);
  }
}
