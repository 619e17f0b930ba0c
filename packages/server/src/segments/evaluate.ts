import {
  type ContactTextField,
  customName,
  DATE_PATTERN,
  durationMs,
  type FieldKind,
  findNegated,
  HOUR_PATTERN,
  instantMs,
  kindOfField,
  OPERATORS,
  type RULE_FIELDS,
  type RULE_OPERATORS,
  type RuleField,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { tagKey } from "../contacts/contacts.ts";
import { listAddressForms } from "../lib/address-text.ts";
import { fold } from "../lib/fold.ts";

/** Fields of a contact that rules can test. Instants in ms. */
export interface ContactView extends Readonly<Record<ContactTextField, string | null>> {
  /** Address as `addressKey` returns it. */
  email: string;
  externalId: string | null;
  status: string;
  createdAt: number;
  updatedAt: number;
  lastSentAt: number | null;
  lastDeliveredAt: number | null;
  lastOpenedAt: number | null;
  lastClickedAt: number | null;
  /** Tags as `tagKey` returns them. */
  tags: readonly string[];
  /** Ids of the lists it is a member of; pending memberships do not count. */
  lists: readonly string[];
  customFields: Readonly<Record<string, unknown>>;
  /** The number of times it did what the conditions of rules count, by `toCountKey`. */
  counts: ReadonlyMap<string, number>;
}

type Value = SegmentCondition["value"];

/**
 * True if a contact matches a rule at an instant (ms). `compile.ts` does the same in SQL, for many contacts at once; a property
 * test keeps the two equal.
 */
export function matches(contact: ContactView, rule: SegmentRule, now: number): boolean {
  return matchesTree<SegmentCondition>(rule, (condition) => matchesCondition(contact, condition, now));
}

/** A tree of rules: `all`, `any`, `not`, or a condition. */
export type Tree<Condition> = { all: Tree<Condition>[] } | { any: Tree<Condition>[] } | { not: Tree<Condition> } | Condition;

/** True if a tree of rules is satisfied, given the conditions that hold. */
export function matchesTree<Condition extends object>(rule: Tree<Condition>, holds: (condition: Condition) => boolean): boolean {
  if ("all" in rule) return (rule.all as Tree<Condition>[]).every((r) => matchesTree(r, holds));
  if ("any" in rule) return (rule.any as Tree<Condition>[]).some((r) => matchesTree(r, holds));
  if ("not" in rule) return !matchesTree(rule.not as Tree<Condition>, holds);
  return holds(rule as Condition);
}

/** True if a free value, such as that of a custom field, satisfies an operator. `undefined` for no value. */
export function matchesFreeValue(have: unknown, operator: RuleOperator, value: Value, now: number): boolean {
  const negated = findNegated(operator);
  if (negated) return !matchesFreeValue(have, negated, value, now);
  if (operator === "exists" && value === false) return !matchesFreeValue(have, operator, undefined, now);
  return decide(ON_CUSTOM, operator)(have, value, now);
}

/** All conditions of a rule tree. */
export function listConditions(rule: SegmentRule): SegmentCondition[] {
  if ("all" in rule) return rule.all.flatMap(listConditions);
  if ("any" in rule) return rule.any.flatMap(listConditions);
  return "not" in rule ? listConditions(rule.not) : [rule];
}

/** True for rules whose result changes with time alone. */
export function isTimed(rule: SegmentRule): boolean {
  return listConditions(rule).some(({ operator, within }) => within !== undefined || OPERATORS[operator].takes === "duration");
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

/** The fields of a kind. */
export type RuleFieldOf<Kind extends FieldKind> = {
  [Field in RuleField]: (typeof RULE_FIELDS)[Field] extends Kind ? Field : never;
}[RuleField];

/** True for a field of a kind. */
export function isRuleFieldOf<Kind extends FieldKind>(field: string, kind: Kind): field is RuleFieldOf<Kind> {
  return customName(field) === null && kindOfField(field) === kind;
}

/** The operators of a kind of field that negate no other one: what has to be decided about it. */
export type DecidedOperator<Kind extends FieldKind> = Exclude<
  (typeof RULE_OPERATORS)[Kind][number],
  { [Name in RuleOperator]: (typeof OPERATORS)[Name] extends { readonly not: string } ? Name : never }[RuleOperator]
>;

/** Decisions about the operators of a kind of field. A missing one does not compile. */
type Decisions<Kind extends FieldKind, Decide> = Readonly<Record<DecidedOperator<Kind>, Decide>>;

/** Returns the decision about an operator. A condition that was validated has one. */
export function decide<Decide>(decisions: Readonly<Partial<Record<RuleOperator, Decide>>>, operator: RuleOperator): Decide {
  const found = decisions[operator];
  if (found === undefined) throw new Error(`No condition of this kind has the operator ${operator}.`);
  return found;
}

/** A text, and the forms of the values, any of which may match. */
type CompareText = (have: string, forms: readonly string[]) => boolean;

const ON_TEXT: Decisions<"text", CompareText> = {
  exists: () => true,
  equals: (have, forms) => forms.includes(have),
  in: (have, forms) => forms.includes(have),
  contains: (have, forms) => forms.some((form) => have.includes(form)),
  startsWith: (have, forms) => forms.some((form) => have.startsWith(form)),
  endsWith: (have, forms) => forms.some((form) => have.endsWith(form)),
};

function matchesText(have: string, operator: RuleOperator, value: Value, listForms = (text: string): readonly string[] => [fold(text)]) {
  return decide(ON_TEXT, operator)(
    have,
    [value].flat().flatMap((v) => listForms(String(v))),
  );
}

/** An instant, or what compares like one, the value as such, and `ago`, which gives the instant so many ms before now. */
type CompareTime = <T extends number | string>(have: T, value: Value, toTime: (value: Value) => T, ago: (ms: number) => T) => boolean;

const ON_TIME: Readonly<Record<Exclude<DecidedOperator<"instant">, "exists"> | "withinNext", CompareTime>> = {
  before: (have, value, toTime) => have < toTime(value),
  after: (have, value, toTime) => have > toTime(value),
  withinLast: (have, value, _, ago) => have >= ago(durationMs(String(value))) && have <= ago(0),
  withinNext: (have, value, _, ago) => have > ago(0) && have <= ago(-durationMs(String(value))),
};

function matchesInstant(at: number | null, operator: RuleOperator, value: Value, now: number): boolean {
  if (at === null) return false;
  if (operator === "exists") return true;
  return decide(ON_TIME, operator)(
    at,
    value,
    (v) => instantMs(String(v)),
    (ms) => now - ms,
  );
}

const ON_SET: Decisions<"set", (set: readonly string[], wanted: readonly string[]) => boolean> = {
  exists: (set) => set.length > 0,
  contains: (set, wanted) => wanted.some((one) => set.includes(one)),
  in: (set, wanted) => wanted.some((one) => set.includes(one)),
};

const ON_STATUS: Decisions<"status", (status: string, wanted: readonly string[]) => boolean> = {
  equals: (status, wanted) => wanted.includes(status),
  in: (status, wanted) => wanted.includes(status),
};

const ON_COUNT: Decisions<"count", (times: number, wanted: number) => boolean> = {
  exists: (times) => times > 0,
  equals: (times, wanted) => times === wanted,
  gt: (times, wanted) => times > wanted,
  gte: (times, wanted) => times >= wanted,
  lt: (times, wanted) => times < wanted,
  lte: (times, wanted) => times <= wanted,
};

/** Key of what a condition counts; null for conditions on other fields. */
export function toCountKey({ field, within, campaign, template, where }: SegmentCondition): string | null {
  return kindOfField(field) === "count" ? JSON.stringify([field, within, campaign, template, where]) : null;
}

type CompareFree = (have: unknown, value: Value, now: number) => boolean;

const ofNumber =
  (compare: (have: number, wanted: number) => boolean): CompareFree =>
  (have, value) =>
    typeof have === "number" && compare(have, value as number);

const ofText =
  (compare: CompareText): CompareFree =>
  (have, value) =>
    typeof have === "string" && compare(fold(have), [fold(String(value))]);

const ofDate =
  (compare: CompareTime): CompareFree =>
  (have, value, now) => {
    const text = typeof have === "string" ? toDateText(have) : null;
    return (
      text !== null &&
      compare(
        text,
        value,
        (v) => formatDateText(instantMs(String(v))),
        (ms) => formatDateText(now - ms),
      )
    );
  };

const equalsFree = (have: unknown, value: unknown): boolean =>
  typeof value === "string" ? typeof have === "string" && fold(have) === fold(value) : have === value;

const ON_CUSTOM: Decisions<"custom", CompareFree> = {
  exists: (have) => have !== undefined && have !== null,
  equals: equalsFree,
  in: (have, value) => (value as readonly (string | number)[]).some((v) => equalsFree(have, v)),
  contains: ofText(ON_TEXT.contains),
  startsWith: ofText(ON_TEXT.startsWith),
  endsWith: ofText(ON_TEXT.endsWith),
  before: ofDate(ON_TIME.before),
  after: ofDate(ON_TIME.after),
  withinLast: ofDate(ON_TIME.withinLast),
  withinNext: ofDate(ON_TIME.withinNext),
  gt: ofNumber((have, wanted) => have > wanted),
  gte: ofNumber((have, wanted) => have >= wanted),
  lt: ofNumber((have, wanted) => have < wanted),
  lte: ofNumber((have, wanted) => have <= wanted),
};

function matchesCondition(contact: ContactView, condition: SegmentCondition, now: number): boolean {
  const { field, operator, value } = condition;
  const negated = findNegated(operator);
  if (negated) return !matchesCondition(contact, { ...condition, operator: negated }, now);
  if (operator === "exists" && value === false) return !matchesCondition(contact, { ...condition, value: undefined }, now);
  const custom = customName(field);
  if (custom !== null)
    return decide(ON_CUSTOM, operator)(Object.hasOwn(contact.customFields, custom) ? contact.customFields[custom] : undefined, value, now);
  const key = toCountKey(condition);
  if (key !== null) return decide(ON_COUNT, operator)(readCount(contact, key), Number(value));
  const texts = [value].flat().map(String);
  if (field === "email") return matchesText(contact.email, operator, value, listAddressForms);
  if (isRuleFieldOf(field, "text")) {
    const have = contact[field];
    return have !== null && matchesText(fold(have), operator, value);
  }
  if (isRuleFieldOf(field, "instant")) return matchesInstant(contact[field], operator, value, now);
  if (isRuleFieldOf(field, "set")) return decide(ON_SET, operator)(contact[field], field === "tags" ? texts.map(tagKey) : texts);
  if (isRuleFieldOf(field, "status")) return decide(ON_STATUS, operator)(contact[field], texts);
  throw new Error(`No contact has the field ${field}.`);
}

/** The times that a contact did something. They are loaded with the contact, so that none is taken for never. */
function readCount({ counts }: ContactView, key: string): number {
  const times = counts.get(key);
  if (times === undefined) throw new Error(`The contact was loaded without the times of ${key}.`);
  return times;
}
