import type { FieldKind, RuleOperator, RuleValueKind, SegmentCondition } from "@mailsvc/sdk/contract";
import { kindOfField, OPERATORS } from "@mailsvc/sdk/contract/facts";

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
  several: (field, kind) => (kind === "status" ? "statuses" : field === "lists" ? "lists" : kind === "custom" ? "typedTexts" : "texts"),
  same: (_, kind) => (kind === "status" ? "status" : kind === "custom" ? "typed" : "text"),
  part: (field) => (field === "lists" ? "list" : "text"),
};

/** Returns the kind of input for a field's operator. */
export function entryOf(field: string, operator: RuleOperator): Entry {
  return ENTRIES[OPERATORS[operator].takes](field, kindOfField(field));
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
};

/** A new condition. */
export function newCondition(): Part {
  return { field: "tags", operator: "contains", value: "" };
}

/** True if a condition is complete. The server validates it. */
export function isComplete({ field, operator, value }: Part): boolean {
  if (field === "customFields.") return false;
  const entry = entryOf(field, operator);
  if (entry === "nothing") return true;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== "";
}

/** The number and the unit of a duration such as `30d`; null for one of several units. */
export function parseDuration(text: Value): { readonly n: string; readonly unit: string } | null {
  const [, n, unit] = /^(\d*)([smhd])$/.exec(String(text)) ?? [];
  return n === undefined || unit === undefined ? null : { n, unit };
}
