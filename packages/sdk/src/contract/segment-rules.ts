import { CONTACT_STATUSES } from "./contact-fields.ts";
import { durationMs } from "./duration.ts";
import {
  ALL_OPERATORS,
  customName,
  detailsOf,
  type FieldKind,
  kindOfFact,
  kindOfField,
  OPERATORS,
  propertyName,
  RULE_DETAILS,
  RULE_FIELDS,
  RULE_LIMITS,
  RULE_OPERATORS,
  type RuleDetail,
  type RuleOperator,
  type RuleValueKind,
  type SegmentRule,
  trackedName,
} from "./rule-fields.ts";
import * as z from "./zod.ts";

/** A date that exists, as the text of a regular expression that JavaScript and Postgres read alike. */
export const DATE_PATTERN =
  "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))" +
  "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";

/** Hours and minutes, likewise. */
export const HOUR_PATTERN = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";

const INSTANT_TEXT = new RegExp(`^${DATE_PATTERN}(?:T${HOUR_PATTERN}(?::[0-5][0-9](?:[.][0-9]{1,9})?)?(?:Z|[+-]${HOUR_PATTERN}))?$`);

/** Milliseconds of a date (`2026-01-31`, midnight UTC) or an instant with its zone; NaN for anything else, `2026-02-30` too. */
export function instantMs(text: string): number {
  return INSTANT_TEXT.test(text) ? Date.parse(text) : Number.NaN;
}

interface RuleError {
  path: (string | number)[];
  code: string;
  message: string;
}

type Plain = Readonly<Record<string, unknown>>;

const TEXT_VALUE = `a text of 1 to ${RULE_LIMITS.text} characters`;
// Far beyond the age of any contact, and well within the range of Date.
const MAX_DURATION = 100 * 365 * 86_400_000;

// More are not collected.
const MAX_ERRORS = 20;

const GROUPS = ["all", "any", "not"] as const;

/** The fields that the conditions of a rule tree may name. */
export interface RuleFields {
  /** The kind of a field; null if there is no such field. */
  kindOf(field: string): FieldKind | null;
  /** The part of a field's name that its user chose; null if there is none. */
  customNameOf(field: string): string | null;
  /** The fields there are, for messages. */
  readonly known: string;
  /** The further parts that a condition on a field may have; none when absent. */
  readonly detailsOf?: (field: string) => readonly RuleDetail[];
}

const CONTACT_FIELDS: RuleFields = {
  kindOf: kindOfField,
  customNameOf: (field) => customName(field) ?? trackedName(field),
  known: `${Object.keys(RULE_FIELDS).join(", ")}, customFields.<name> or did.<name>`,
  detailsOf,
};

const DETAIL_SCHEMAS = {
  within: { type: "string" as const, description: "A duration before now, such as 30d" },
  campaign: { type: "string" as const, description: "Its id" },
  template: { type: "string" as const, description: "Its slug" },
  where: { type: "object" as const, description: "A rule about value, currency or properties.<name>; of clicked, about url" },
};

/** The facts that `where` may name in conditions on a field. */
function factsOf(field: string): RuleFields {
  return {
    kindOf: (fact) => kindOfFact(field, fact),
    customNameOf: propertyName,
    known: field === "clicked" ? "url" : "value, currency or properties.<name>",
  };
}

/** The errors of a rule tree; empty if it is valid. Stops once the tree is too deep or too large. */
export function listRuleErrors(root: unknown, fields: RuleFields = CONTACT_FIELDS): RuleError[] {
  const errors: RuleError[] = [];
  const report = (error: RuleError): void => void errors.push(error);
  let conditions = 0;
  const visit = (rule: unknown, path: (string | number)[], depth: number, fields: RuleFields): void => {
    if (conditions > RULE_LIMITS.conditions || errors.length > MAX_ERRORS) return;
    if (!isPlain(rule)) {
      report({
        path,
        code: rule === undefined ? "required" : "invalid_type",
        message: `A rule must be an object: { all }, { any }, { not } or { field, operator, value }; received ${quote(rule)}.`,
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
          message: `A rule tree can have at most ${RULE_LIMITS.conditions} conditions. Use in for many values of one field.`,
        });
      else if (checkCondition(rule, path, fields, report) && rule.where !== undefined)
        visit(rule.where, [...path, "where"], depth + 1, factsOf(String(rule.field)));
      return;
    }
    for (const key of Object.keys(rule))
      if (key !== group)
        report({
          path: [...path, key.slice(0, 60)],
          code: "unknown_field",
          message: `A rule with ${group} has no other keys. Put ${quote(key)} into its own rule.`,
        });
    if (depth >= RULE_LIMITS.depth) {
      report({ path, code: "too_deep", message: `Groups can be nested at most ${RULE_LIMITS.depth} levels deep.` });
      return;
    }
    const inner = rule[group];
    if (group === "not") visit(inner, [...path, "not"], depth + 1, fields);
    else if (!Array.isArray(inner) || inner.length === 0)
      report({
        path: [...path, group],
        code: Array.isArray(inner) ? "too_small" : "invalid_type",
        message: `${group} must be an array of at least one rule.`,
      });
    else
      for (let i = 0; i < inner.length && conditions <= RULE_LIMITS.conditions; i += 1)
        visit(inner[i], [...path, group, i], depth + 1, fields);
  };
  visit(root, [], 0, fields);
  return errors;
}

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
    { field: "did.purchase", operator: "gte", value: 2, within: "90d", where: { field: "value", operator: "gt", value: 50 } },
  ],
};

/** A validated rule tree. Each error has the path to its place, a code and what to do. */
export const SegmentRuleSchema = z
  .custom<SegmentRule>()
  .superRefine((rule, ctx) => {
    for (const { path, code, message } of listRuleErrors(rule)) ctx.addIssue({ code: "custom", path, message, params: { code } });
  })
  .meta({
    id: "SegmentRule",
    description:
      "A rule tree. { all: [rules] }, { any: [rules] } and { not: rule } combine rules; { field, operator, value } is a condition. " +
      "Texts are compared case-insensitively. A field the contact does not have matches only negative operators. " +
      "received, opened, clicked, replied and did.<event> count what the contact did, narrowed by within, campaign, template or where.",
    anyOf: describeRules("SegmentRule", CONTACT_FIELDS),
    examples: [example],
  });

/** The JSON schemas of the forms of a rule tree whose schema has this id. */
export function describeRules(id: string, { known, detailsOf: details }: RuleFields) {
  const ref = { $ref: `#/$defs/${id}` };
  const group = (name: string, inner: object) => ({
    type: "object" as const,
    properties: { [name]: inner },
    required: [name],
    additionalProperties: false,
  });
  return [
    group("all", { type: "array", minItems: 1, items: ref }),
    group("any", { type: "array", minItems: 1, items: ref }),
    group("not", ref),
    {
      type: "object" as const,
      properties: {
        field: { type: "string" as const, description: known },
        operator: { type: "string" as const, enum: ALL_OPERATORS },
        value: {
          description: "What the operator takes: a text, number, true or false, an array for in and notIn, a duration for withinLast",
        },
        ...(details && DETAIL_SCHEMAS),
      },
      required: ["field", "operator"],
      additionalProperties: false,
    },
  ];
}

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

// Text that one of the databases cannot store.
function unstorable(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

/** The values that operators take, by their kind: their name in messages, and the check of one. */
const NEEDED: Readonly<Record<RuleValueKind, (kind: FieldKind) => { readonly needs: string; readonly fits: (value: unknown) => boolean }>> =
  {
    flag: () => ({ needs: "true or false", fits: (value) => value === undefined || typeof value === "boolean" }),
    number: (kind) => (kind === "count" ? TIMES : { needs: "a number", fits: isNumber }),
    instant: () => ({
      needs: "an existing date such as 2026-01-31, or 2026-01-31T09:30:00Z",
      fits: (value) => typeof value === "string" && !Number.isNaN(instantMs(value)),
    }),
    duration: () => ({ needs: "a duration such as 30d or 12h, of 100 years at most", fits: isDuration }),
    same: (kind) =>
      kind === "custom" || kind === "fact"
        ? {
            needs: `${TEXT_VALUE}, a number, true or false`,
            fits: (value) => isText(value) || isNumber(value) || typeof value === "boolean",
          }
        : ofContact(kind),
    // One of them.
    several: (kind) =>
      kind === "custom" || kind === "fact"
        ? { needs: `${TEXT_VALUE}, or a number`, fits: (value) => isText(value) || isNumber(value) }
        : ofContact(kind),
    part: () => ({ needs: TEXT_VALUE, fits: isText }),
  };

const TIMES = {
  needs: `a whole number of times, 0 to ${RULE_LIMITS.times}`,
  fits: (value: unknown) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= RULE_LIMITS.times,
};

function ofContact(kind: FieldKind) {
  if (kind === "count") return TIMES;
  if (kind !== "status") return { needs: TEXT_VALUE, fits: isText };
  return {
    needs: `one of ${CONTACT_STATUSES.join(", ")}`,
    fits: (value: unknown) => (CONTACT_STATUSES as readonly unknown[]).includes(value),
  };
}

function isDuration(value: unknown): boolean {
  if (typeof value !== "string" || !/^(?:\d{1,9}(?:s|m|h|d))+$/.test(value)) return false;
  return durationMs(value) > 0 && durationMs(value) <= MAX_DURATION;
}

function checkValue(
  kind: FieldKind,
  operator: RuleOperator,
  value: unknown,
  path: (string | number)[],
  report: (f: RuleError) => void,
): void {
  const { takes } = OPERATORS[operator];
  const { needs, fits } = NEEDED[takes](kind);
  const one = (v: unknown, at: (string | number)[]): void => {
    const name = at.slice(path.length - 1).join(".");
    if (!fits(v))
      report({
        path: at,
        code: v === undefined ? "required" : "invalid_value",
        message: `${operator} takes ${needs}; ${name} is ${quote(v)}.`,
      });
    else if (typeof v === "string" && unstorable(v))
      report({ path: at, code: "invalid_characters", message: "A value cannot contain U+0000 or lone surrogates." });
  };
  if (takes !== "several") {
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

/** Reports what is wrong with a condition, apart from its `where`; false if that cannot be judged. */
function checkCondition(rule: Plain, path: (string | number)[], fields: RuleFields, report: (f: RuleError) => void): boolean {
  const { field, operator } = rule;
  const details = typeof field === "string" ? (fields.detailsOf?.(field) ?? []) : [];
  for (const key of Object.keys(rule))
    if (!["field", "operator", "value", ...details].includes(key))
      report({
        path: [...path, key.slice(0, 60)],
        code: "unknown_field",
        message: explainKey(key, field, details),
      });
  const kind = typeof field === "string" ? fields.kindOf(field) : null;
  if (typeof field !== "string" || kind === null) {
    report({
      path: [...path, "field"],
      code: field === undefined ? "required" : "unknown_rule_field",
      message: `Unknown field ${quote(field)}. Use ${fields.known}.`,
    });
    return false;
  }
  const name = fields.customNameOf(field);
  const [unusable, which] = kind === "count" ? [CONTROLS, ""] : [IN_PATHS, "quotes, backslashes and "];
  if (name !== null && (name === "" || name.length > RULE_LIMITS.fieldName || unusable.test(name) || !name.isWellFormed()))
    report({
      path: [...path, "field"],
      code: "invalid_field_name",
      message: `The name of a field must have 1 to ${RULE_LIMITS.fieldName} characters, without ${which}control characters.`,
    });
  const known: readonly string[] = RULE_OPERATORS[kind];
  if (typeof operator !== "string" || !known.includes(operator)) {
    report({
      path: [...path, "operator"],
      code: operator === undefined ? "required" : "unknown_operator",
      message: `${field.slice(0, 60)} takes the operators ${known.join(", ")}; received ${quote(operator)}.`,
    });
    return false;
  }
  checkValue(kind, operator as RuleOperator, rule.value, [...path, "value"], report);
  for (const detail of details) if (detail !== "where") checkDetail(detail, rule[detail], [...path, detail], report);
  return details.includes("where");
}

// Names of custom fields and properties are part of paths into JSON.
const IN_PATHS = /["\\\p{Cc}]/u;
const CONTROLS = /\p{Cc}/u;

function explainKey(key: string, field: unknown, details: readonly RuleDetail[]): string {
  const isDetail = (RULE_DETAILS as readonly string[]).includes(key);
  if (isDetail && typeof field === "string") return `${field.slice(0, 60)} takes no ${key}. Remove it.`;
  return `A condition has ${["field", "operator", ...details].join(", ")} and value. Remove ${quote(key)}.`;
}

function checkDetail(
  detail: Exclude<RuleDetail, "where">,
  value: unknown,
  path: (string | number)[],
  report: (f: RuleError) => void,
): void {
  if (value === undefined) return;
  if (detail === "within") {
    const { needs, fits } = NEEDED.duration("count");
    if (!fits(value)) report({ path, code: "invalid_value", message: `within takes ${needs}; it is ${quote(value)}.` });
  } else if (!isText(value) || unstorable(value))
    report({
      path,
      code: "invalid_value",
      message: `${detail} takes the ${detail === "template" ? "slug of a template" : "id of a campaign"}; it is ${quote(value)}.`,
    });
}
