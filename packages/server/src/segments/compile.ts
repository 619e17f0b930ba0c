import {
  type ContactStatus,
  customName,
  durationMs,
  findNegated,
  instantMs,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { and, eq, exists, gt, gte, inArray, lt, lte, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { tagKey } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { SqlDialect } from "../db/dialect.ts";
import { listAddressForms } from "../lib/address-forms.ts";
import { type DecidedOperator, decide, formatDateText, isRuleFieldOf, type RuleFieldOf } from "./evaluate.ts";

/** Context for compiling a rule. */
export interface RuleContext {
  q: Tx | Reader;
  workspaceId: string;
  /** The instant (ms) that `withinLast` counts from. */
  now: number;
  /** The `seq`s of all lists of the workspace, by their ids. */
  listSeqs: ReadonlyMap<string, number>;
}

type Value = SegmentCondition["value"];

/**
 * A rule as an SQL condition on `contacts`: true for contacts that match, false or null for others. All values are bound.
 * `matches` in `evaluate.ts` decides the same for one contact.
 */
export function compileRule(context: RuleContext, rule: SegmentRule): SQL {
  if ("all" in rule) return and(...rule.all.map((r) => compileRule(context, r))) as SQL;
  if ("any" in rule) return or(...rule.any.map((r) => compileRule(context, r))) as SQL;
  if ("not" in rule) return context.q.sqlDialect.notTrue(compileRule(context, rule.not));
  return compileCondition(context, rule);
}

// Every condition is true, false or null, and null if the contact lacks what it compares. `and` and `or` of such conditions are
// true exactly where they should be; only negation maps null to true (`notTrue`).

function toArray(value: Value): (string | number)[] {
  return [value].flat() as (string | number)[];
}

/** A text in SQL, and the forms of the values, any of which may match. */
type CompareText = (dialect: SqlDialect, have: SQLWrapper, forms: readonly SQLWrapper[]) => SQL;

const isOneOf: CompareText = (_, have, forms) => sql`${have} in (${sql.join([...forms], sql`, `)})`;

const ON_TEXT: Readonly<Record<DecidedOperator<"text">, CompareText>> = {
  exists: (_, have) => sql`${have} is not null`,
  equals: isOneOf,
  in: isOneOf,
  contains: (dialect, have, forms) => or(...forms.map((form) => dialect.holds(have, form))) as SQL,
  startsWith: (dialect, have, forms) => or(...forms.map((form) => dialect.starts(have, form))) as SQL,
  endsWith: (dialect, have, forms) => or(...forms.map((form) => dialect.ends(have, form))) as SQL,
};

function compileText({ q: { sqlDialect } }: RuleContext, text: SQLWrapper, operator: RuleOperator, value: Value): SQL {
  if (operator === "exists") return sql`${text} is not null`;
  const forms = toArray(value).map((v) => sqlDialect.fold(sqlDialect.text(String(v))));
  return decide(ON_TEXT, operator)(sqlDialect, sqlDialect.fold(text), forms);
}

/** Addresses are stored in the form they are compared in, and an index has them. */
function compileEmail({ q: { sqlDialect, t } }: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { emailKey } = t.contacts;
  if (operator === "startsWith") return or(...listAddressForms(String(value)).map((form) => sqlDialect.startsKey(emailKey, form))) as SQL;
  const forms = toArray(value).flatMap((v) => listAddressForms(String(v)).map((form) => sqlDialect.text(form)));
  return decide(ON_TEXT, operator)(sqlDialect, emailKey, forms);
}

/** A column of instants, the value, and what turns an instant (ms) into what the column holds. */
type CompareTime = (column: SQLWrapper, value: Value, now: number, at: (ms: number) => string | number) => SQL;

const ON_TIME: Readonly<Record<DecidedOperator<"instant"> | "withinNext", CompareTime>> = {
  exists: (column) => sql`${column} is not null`,
  before: (column, value, _, at) => sql`${column} < ${at(instantMs(String(value)))}`,
  after: (column, value, _, at) => sql`${column} > ${at(instantMs(String(value)))}`,
  withinLast: (column, value, now, at) => sql`${column} between ${at(now - durationMs(String(value)))} and ${at(now)}`,
  withinNext: (column, value, now, at) => sql`(${column} > ${at(now)} and ${column} <= ${at(now + durationMs(String(value)))})`,
};

/** A condition on a custom field, by the name of the field. */
type CompareCustom = (context: RuleContext, name: string, value: Value) => SQL;

const ofText =
  (operator: DecidedOperator<"text">): CompareCustom =>
  (context, name, value) =>
    compileText(context, context.q.sqlDialect.jsonText(context.q.t.contacts.customFields, name), operator, value);

const ofNumber =
  (compare: (have: SQL, wanted: Value) => SQL): CompareCustom =>
  ({ q }, name, value) =>
    compare(q.sqlDialect.jsonNumber(q.t.contacts.customFields, name), value);

const ofDate =
  (operator: keyof typeof ON_TIME): CompareCustom =>
  ({ q, now }, name, value) => {
    const { sqlDialect, t } = q;
    return ON_TIME[operator](sqlDialect.dateText(sqlDialect.jsonText(t.contacts.customFields, name)), value, now, formatDateText);
  };

const ON_CUSTOM: Readonly<Record<DecidedOperator<"custom">, CompareCustom>> = {
  exists: ({ q }, name) => q.sqlDialect.jsonHas(q.t.contacts.customFields, name),
  equals: (context, name, value) => {
    const { sqlDialect, t } = context.q;
    if (typeof value === "number") return ofNumber(eq)(context, name, value);
    if (typeof value !== "boolean") return ofText("equals")(context, name, value);
    const flag = sqlDialect.jsonFlag(t.contacts.customFields, name);
    return value ? sql`(${flag}) is true` : sql`(${flag}) is false`;
  },
  in: (context, name, value) => {
    const texts = toArray(value).filter((v) => typeof v === "string");
    const numbers = toArray(value).filter((v) => typeof v === "number");
    return or(
      texts.length > 0 ? ofText("in")(context, name, texts) : undefined,
      numbers.length > 0 ? ofNumber((have) => inArray(have, numbers))(context, name, value) : undefined,
    ) as SQL;
  },
  contains: ofText("contains"),
  startsWith: ofText("startsWith"),
  endsWith: ofText("endsWith"),
  before: ofDate("before"),
  after: ofDate("after"),
  withinLast: ofDate("withinLast"),
  withinNext: ofDate("withinNext"),
  gt: ofNumber(gt),
  gte: ofNumber(gte),
  lt: ofNumber(lt),
  lte: ofNumber(lte),
};

/** The tags or lists that are wanted; null where any will do. */
const ON_SET: Readonly<Record<DecidedOperator<"set">, (value: Value) => readonly string[] | null>> = {
  exists: () => null,
  contains: (value) => [String(value)],
  in: (value) => toArray(value).map(String),
};

function compileTags({ q, workspaceId }: RuleContext, wanted: readonly string[] | null): SQL {
  const { contactTags: t, contacts } = q.t;
  // The tag index starts with the tag, so whether a contact has any is read from the contact itself.
  if (wanted === null) return sql`cast(${contacts.tags} as text) <> '[]'`;
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(t.tagKey, wanted.map(tagKey)), eq(t.contactSeq, contacts.seq))),
  );
}

function compileLists({ q, listSeqs }: RuleContext, wanted: readonly string[] | null): SQL {
  const { listMembers: t, contacts } = q.t;
  const seqs = wanted === null ? [...listSeqs.values()] : wanted.flatMap((id) => listSeqs.get(id) ?? []);
  if (seqs.length === 0) return sql`1 = 0`;
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.contactSeq, contacts.seq), eq(t.status, "MEMBER"), inArray(t.listSeq, seqs))),
  );
}

/** Some instants are columns of the contact, those of its engagement are elsewhere. */
function compileInstant({ q, now }: RuleContext, field: RuleFieldOf<"instant">, operator: RuleOperator, value: Value): SQL {
  const { engagement: t, contacts } = q.t;
  const compare = (column: SQLWrapper): SQL => decide(ON_TIME, operator)(column, value, now, (ms) => ms);
  if (field === "createdAt" || field === "updatedAt") return compare(contacts[field]);
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.contactSeq, contacts.seq), compare(t[field]))),
  );
}

function compileStatus({ q }: RuleContext, value: Value): SQL {
  return inArray(q.t.contacts.status, toArray(value) as ContactStatus[]);
}

const ON_STATUS: Readonly<Record<DecidedOperator<"status">, typeof compileStatus>> = { equals: compileStatus, in: compileStatus };

function compileCondition(context: RuleContext, { field, operator, value }: SegmentCondition): SQL {
  const { q } = context;
  const negated = findNegated(operator);
  if (negated) return q.sqlDialect.notTrue(compileCondition(context, { field, operator: negated, value }));
  if (operator === "exists" && value === false) return q.sqlDialect.notTrue(compileCondition(context, { field, operator }));
  const custom = customName(field);
  if (custom !== null) return decide(ON_CUSTOM, operator)(context, custom, value);
  if (field === "email") return compileEmail(context, operator, value);
  if (isRuleFieldOf(field, "text")) return compileText(context, q.t.contacts[field], operator, value);
  if (isRuleFieldOf(field, "instant")) return compileInstant(context, field, operator, value);
  if (isRuleFieldOf(field, "status")) return decide(ON_STATUS, operator)(context, value);
  if (field === "tags") return compileTags(context, decide(ON_SET, operator)(value));
  if (field === "lists") return compileLists(context, decide(ON_SET, operator)(value));
  throw new Error(`No contact has the field ${field}.`);
}
