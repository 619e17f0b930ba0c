import {
  addressKey,
  customName,
  durationMs,
  instantMs,
  kindOfField,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { tagKey } from "../contacts/contacts.ts";
import { fold } from "../lib/fold.ts";

/** What rules may ask of a contact. Instants are milliseconds since 1970. */
export interface ContactView {
  /** In the form addresses are compared in. */
  email: string;
  firstName: string | null;
  lastName: string | null;
  phone: string | null;
  status: string;
  createdAt: number;
  updatedAt: number;
  lastSentAt: number | null;
  lastDeliveredAt: number | null;
  lastOpenedAt: number | null;
  lastClickedAt: number | null;
  /** In the form tags are compared in. */
  tags: readonly string[];
  /** Ids of the lists it is a confirmed member of. */
  lists: readonly string[];
  customFields: Readonly<Record<string, unknown>>;
}

// A date, or an instant in UTC, as custom fields hold them; in this form their order as texts is their order in time.
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3})?Z)?$/;

/** A custom date in one form, so that comparing texts compares times; null for what is no date. */
export function toDateText(text: string): string | null {
  return !DATE.test(text) ? null : text.length === 10 ? `${text}T00:00:00.000Z` : text.length === 20 ? `${text.slice(0, 19)}.000Z` : text;
}

/** The same form of an instant. */
export function formatDateText(ms: number): string {
  return new Date(ms).toISOString();
}

type Value = SegmentCondition["value"];

/** The positive form of a negative operator: `notX` holds exactly where `X` does not. */
export const POSITIVE: Readonly<Partial<Record<RuleOperator, RuleOperator>>> = {
  notEquals: "equals",
  notContains: "contains",
  notIn: "in",
  notWithinLast: "withinLast",
};

/**
 * Whether a contact fulfils a rule at an instant. `compile.ts` says the same in SQL, for many contacts at once; a
 * property test holds the two together.
 */
export function matches(facts: ContactView, rule: SegmentRule, now: number): boolean {
  if ("all" in rule) return rule.all.every((r) => matches(facts, r, now));
  if ("any" in rule) return rule.any.some((r) => matches(facts, r, now));
  if ("not" in rule) return !matches(facts, rule.not, now);
  return ofCondition(facts, rule, now);
}

/** Every condition of a tree. */
export function listConditions(rule: SegmentRule): SegmentCondition[] {
  if ("all" in rule) return rule.all.flatMap(listConditions);
  if ("any" in rule) return rule.any.flatMap(listConditions);
  return "not" in rule ? listConditions(rule.not) : [rule];
}

const RELATIVE: ReadonlySet<RuleOperator> = new Set<RuleOperator>(["withinLast", "notWithinLast", "withinNext"]);

/** True for rules whose outcome changes by the passing of time alone. */
export function isTimed(rule: SegmentRule): boolean {
  return listConditions(rule).some((c) => RELATIVE.has(c.operator));
}

/** The lists a rule names. */
export function listsIn(rule: SegmentRule): string[] {
  return listConditions(rule).flatMap(({ field, value }) => (field === "lists" && value !== undefined ? [value].flat().map(String) : []));
}

function ofText(text: string | null, operator: RuleOperator, value: Value, form = fold): boolean {
  if (text === null) return false;
  const have = form(text);
  switch (operator) {
    case "equals":
      return have === form(String(value));
    case "contains":
      return have.includes(form(String(value)));
    case "startsWith":
      return have.startsWith(form(String(value)));
    case "endsWith":
      return have.endsWith(form(String(value)));
    case "in":
      return (value as string[]).some((v) => form(v) === have);
    default:
      return true;
  }
}

function compare<T extends number | string>(
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

function ofInstant(at: number | null, operator: RuleOperator, value: Value, now: number): boolean {
  return (
    at !== null &&
    compare(
      at,
      operator,
      (v) => instantMs(String(v)),
      value,
      (ms) => now - ms,
    )
  );
}

function ofSet(set: readonly string[], operator: RuleOperator, value: Value): boolean {
  if (operator === "contains") return set.includes(String(value));
  if (operator === "in") return (value as string[]).some((v) => set.includes(v));
  return set.length > 0;
}

function tagKeysIn(value: Value): Value {
  return Array.isArray(value) ? value.map((v) => tagKey(String(v))) : tagKey(String(value));
}

function ofNumber(have: number, operator: RuleOperator, value: number): boolean {
  if (operator === "gt") return have > value;
  if (operator === "gte") return have >= value;
  return operator === "lt" ? have < value : have <= value;
}

function ofCustom(have: unknown, operator: RuleOperator, value: Value, now: number): boolean {
  switch (operator) {
    case "exists":
      return have !== undefined && have !== null;
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return typeof have === "number" && ofNumber(have, operator, value as number);
    case "before":
    case "after":
    case "withinLast":
    case "withinNext": {
      const text = typeof have === "string" ? toDateText(have) : null;
      return (
        text !== null &&
        compare(
          text,
          operator,
          (v) => formatDateText(instantMs(String(v))),
          value,
          (ms) => formatDateText(now - ms),
        )
      );
    }
    case "in":
      return (value as (string | number)[]).some((v) => ofCustom(have, "equals", v, now));
    case "equals":
      return typeof value === "string" ? typeof have === "string" && fold(have) === fold(value) : have === value;
    default:
      return typeof have === "string" && ofText(have, operator, value);
  }
}

function ofCondition(facts: ContactView, { field, operator, value }: SegmentCondition, now: number): boolean {
  const positive = POSITIVE[operator];
  if (positive) return !ofCondition(facts, { field, operator: positive, value }, now);
  if (operator === "exists" && value === false) return !ofCondition(facts, { field, operator }, now);
  const custom = customName(field);
  if (custom !== null)
    return ofCustom(Object.hasOwn(facts.customFields, custom) ? facts.customFields[custom] : undefined, operator, value, now);
  const have = facts[field as keyof ContactView];
  switch (field === "email" ? "email" : kindOfField(field)) {
    case "email":
      return ofText(facts.email, operator, value, addressKey);
    case "instant":
      return ofInstant(have as number | null, operator, value, now);
    case "set":
      return ofSet(have as readonly string[], operator, field === "tags" ? tagKeysIn(value) : value);
    case "status":
      return operator === "in" ? (value as string[]).includes(String(have)) : have === value;
    default:
      return ofText(have as string | null, operator, value);
  }
}
