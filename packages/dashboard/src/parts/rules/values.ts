import type { EventCondition, EventFilter, FieldKind, RuleOperator, RuleValueKind, SegmentCondition } from "@mailsvc/sdk/contract";
import { detailsOf, kindOfField, OPERATORS, trackedName } from "@mailsvc/sdk/contract/facts";

export type Value = SegmentCondition["value"];

interface Part {
  readonly field: string;
  readonly operator: RuleOperator;
  readonly value: Value;
}

/** Kind of input for an operator. */
type Entry =
  | "nothing"
  | "text"
  | "number"
  | "date"
  | "duration"
  | "status"
  | "list"
  | "typed"
  | "texts"
  | "statuses"
  | "lists"
  | "typedTexts";

const ENTRIES: Readonly<Record<RuleValueKind, (field: string, kind: FieldKind | null) => Entry>> = {
  flag: () => "nothing",
  number: () => "number",
  instant: () => "date",
  duration: () => "duration",
  several: (field, kind) => (kind === "status" ? "statuses" : field === "lists" ? "lists" : isFree(kind) ? "typedTexts" : "texts"),
  same: (_, kind) => (kind === "status" ? "status" : kind === "count" ? "number" : isFree(kind) ? "typed" : "text"),
  part: (field) => (field === "lists" ? "list" : "text"),
};

function isFree(kind: FieldKind | null): boolean {
  return kind === "custom" || kind === "fact";
}

/** Returns the kind of input for a field's operator. */
export function entryOf(field: string, operator: RuleOperator, kind = kindOfField(field)): Entry {
  return ENTRIES[OPERATORS[operator].takes](field, kind);
}

const EMPTY: Readonly<Record<Entry, Value>> = {
  nothing: true,
  text: "",
  number: undefined,
  date: "",
  duration: "30d",
  status: "SUBSCRIBED",
  list: "",
  typed: "",
  texts: [],
  statuses: [],
  lists: [],
  typedTexts: [],
};

/** The condition with another field or operator: the value stays where it still fits. */
export function changePart(part: Part, change: Partial<Pick<Part, "field" | "operator">>): Part {
  const field = change.field ?? part.field;
  const kind = kindOfField(field) ?? "custom";
  const sameKind = kindOfField(part.field) === kind && (kind !== "set" || part.field === field);
  const operator = change.operator ?? (sameKind ? part.operator : FIRST[kind]);
  const [before, now] = [entryOf(part.field, part.operator), entryOf(field, operator)];
  const value = before === now && sameKind ? part.value : EMPTY[now];
  return { field, operator, value };
}

/** The operator that most people want of a kind of field. */
const FIRST: Readonly<Record<FieldKind, RuleOperator>> = {
  text: "contains",
  status: "equals",
  instant: "withinLast",
  set: "contains",
  custom: "equals",
  count: "exists",
  fact: "equals",
};

/** A new condition. */
export function newCondition(): Part & { readonly details: Details } {
  return { field: "tags", operator: "contains", value: "", details: {} };
}

/** True if a condition is complete, apart from its further parts. The server validates it. */
export function isComplete({ field, operator, value }: Part, kind = kindOfField(field)): boolean {
  if (field === "customFields." || trackedName(field) === "" || field === "properties.") return false;
  const entry = entryOf(field, operator, kind);
  if (entry === "nothing") return true;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== "";
}

/** The number and the unit of a duration such as `30d`; null for one of several units. */
export function parseDuration(text: Value): { readonly n: string; readonly unit: string } | null {
  const [, n, unit] = /^(\d*)([smhd])$/.exec(String(text)) ?? [];
  return n === undefined || unit === undefined ? null : { n, unit };
}

/** Further parts of a condition on what people did: what is counted. */
export type Details = Pick<SegmentCondition, "within" | "campaign" | "template" | "where">;

/** The further parts that a condition on a field can have, of those that are given. */
export function pickDetails(details: Details, field: string): Details {
  return Object.fromEntries(detailsOf(field).flatMap((name) => (details[name] === undefined ? [] : [[name, details[name]]])));
}

/** True if the further parts of a condition are complete. The server validates them. */
export function isNarrowed({ within, campaign, template, where }: Details): boolean {
  if (within !== undefined && parseDuration(within)?.n === "") return false;
  if (campaign === "" || template === "") return false;
  const facts = where === undefined ? [] : listFacts(where);
  return facts === null || facts.every(({ field, operator, value }) => isComplete({ field, operator, value }, "fact"));
}

/** The facts of a `where` that all have to hold; null for one with other groups, which only its JSON shows. */
export function listFacts(where: EventFilter): readonly EventCondition[] | null {
  const rules = "all" in where ? where.all : [where];
  return rules.every((one): one is EventCondition => "field" in one) ? rules : null;
}

/** The `where` of facts that all have to hold. */
export function joinFacts(facts: readonly EventCondition[]): EventFilter | undefined {
  const [only] = facts;
  return facts.length <= 1 ? only : { all: [...facts] };
}

/** A fact with another field or operator: the value stays where it still fits. */
export function changeFact(fact: EventCondition, change: Partial<Pick<EventCondition, "field" | "operator">>): EventCondition {
  const next = { ...fact, ...change };
  const [before, now] = [entryOf(fact.field, fact.operator, "fact"), entryOf(next.field, next.operator, "fact")];
  return { ...next, value: before === now ? fact.value : EMPTY[now] };
}
