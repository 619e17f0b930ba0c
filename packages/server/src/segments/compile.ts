import {
  CONTACT_TEXT_FIELDS,
  type ContactStatus,
  type ContactTextField,
  customName,
  durationMs,
  instantMs,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { and, eq, exists, gt, gte, inArray, lt, lte, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { tagKey } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { listAddressForms } from "../lib/address-forms.ts";
import { formatDateText, POSITIVE } from "./evaluate.ts";

/** What a rule is compiled against. */
export interface RuleContext {
  q: Tx | Reader;
  workspaceId: string;
  /** The instant (ms) that `withinLast` counts from. */
  now: number;
  /** The `seq`s of all lists of the workspace, by their ids. */
  listSeqs: ReadonlyMap<string, number>;
}

type EngagementField = "lastSentAt" | "lastDeliveredAt" | "lastOpenedAt" | "lastClickedAt";

type Value = SegmentCondition["value"];

const COMPARE = { gt, gte, lt, lte } as const;

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

/** `listForms` returns the SQL forms of a value, any of which may match. */
function compileComparison(
  { q: { sqlDialect } }: RuleContext,
  have: SQLWrapper,
  operator: RuleOperator,
  value: Value,
  listForms: (text: string) => SQLWrapper[],
): SQL {
  if (operator === "exists") return sql`${have} is not null`;
  const forms = toArray(value).flatMap((v) => listForms(String(v)));
  const anyOf = (compare: (form: SQLWrapper) => SQL): SQL => or(...forms.map(compare)) as SQL;
  switch (operator) {
    case "contains":
      return anyOf((form) => sqlDialect.holds(have, form));
    case "startsWith":
      return anyOf((form) => sqlDialect.starts(have, form));
    case "endsWith":
      return anyOf((form) => sqlDialect.ends(have, form));
    default:
      return sql`${have} in (${sql.join(forms, sql`, `)})`;
  }
}

function compileText(context: RuleContext, text: SQLWrapper, operator: RuleOperator, value: Value): SQL {
  if (operator === "exists") return sql`${text} is not null`;
  const { sqlDialect } = context.q;
  return compileComparison(context, sqlDialect.fold(text), operator, value, (v) => [sqlDialect.fold(sqlDialect.text(v))]);
}

/** Addresses are stored in the form they are compared in, and an index has them. */
function compileEmail(context: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { sqlDialect, t } = context.q;
  const { emailKey } = t.contacts;
  if (operator === "startsWith") return or(...listAddressForms(String(value)).map((form) => sqlDialect.startsKey(emailKey, form))) as SQL;
  return compileComparison(context, emailKey, operator, value, (v) => listAddressForms(v).map((form) => sqlDialect.text(form)));
}

function compileInstant(
  { now }: RuleContext,
  column: SQLWrapper,
  operator: RuleOperator,
  value: Value,
  at: (ms: number) => string | number,
): SQL {
  switch (operator) {
    case "before":
      return sql`${column} < ${at(instantMs(String(value)))}`;
    case "after":
      return sql`${column} > ${at(instantMs(String(value)))}`;
    case "withinLast":
      return sql`${column} between ${at(now - durationMs(String(value)))} and ${at(now)}`;
    case "withinNext":
      return sql`(${column} > ${at(now)} and ${column} <= ${at(now + durationMs(String(value)))})`;
    default:
      return sql`${column} is not null`;
  }
}

function compileCustomField(context: RuleContext, name: string, operator: RuleOperator, value: Value): SQL {
  const { sqlDialect, t } = context.q;
  const fields = t.contacts.customFields;
  switch (operator) {
    case "exists":
      return sqlDialect.jsonHas(fields, name);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return COMPARE[operator](sqlDialect.jsonNumber(fields, name), value);
    case "before":
    case "after":
    case "withinLast":
    case "withinNext":
      return compileInstant(context, sqlDialect.dateText(sqlDialect.jsonText(fields, name)), operator, value, formatDateText);
    case "equals":
      if (typeof value === "boolean")
        return value ? sql`(${sqlDialect.jsonFlag(fields, name)}) is true` : sql`(${sqlDialect.jsonFlag(fields, name)}) is false`;
      return typeof value === "number"
        ? eq(sqlDialect.jsonNumber(fields, name), value)
        : compileText(context, sqlDialect.jsonText(fields, name), operator, value);
    case "in": {
      const texts = toArray(value).filter((v) => typeof v === "string");
      const numbers = toArray(value).filter((v) => typeof v === "number");
      return or(
        texts.length > 0 ? compileText(context, sqlDialect.jsonText(fields, name), "in", texts) : undefined,
        numbers.length > 0 ? inArray(sqlDialect.jsonNumber(fields, name), numbers) : undefined,
      ) as SQL;
    }
    default:
      return compileText(context, sqlDialect.jsonText(fields, name), operator, value);
  }
}

function compileTags({ q, workspaceId }: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { contactTags: t, contacts } = q.t;
  // The tag index starts with the tag, so whether a contact has any is read from the contact itself.
  if (operator === "exists") return sql`cast(${contacts.tags} as text) <> '[]'`;
  const wanted = inArray(
    t.tagKey,
    toArray(value).map((v) => tagKey(String(v))),
  );
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), wanted, eq(t.contactSeq, contacts.seq))),
  );
}

function compileLists({ q, listSeqs }: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { listMembers: t, contacts } = q.t;
  const seqs = operator === "exists" ? [...listSeqs.values()] : toArray(value).flatMap((id) => listSeqs.get(String(id)) ?? []);
  if (seqs.length === 0) return sql`1 = 0`;
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.contactSeq, contacts.seq), eq(t.status, "MEMBER"), inArray(t.listSeq, seqs))),
  );
}

function compileEngagement(context: RuleContext, field: EngagementField, operator: RuleOperator, value: Value): SQL {
  const { q } = context;
  const { engagement: t, contacts } = q.t;
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(
        and(
          eq(t.contactSeq, contacts.seq),
          compileInstant(context, t[field], operator, value, (ms) => ms),
        ),
      ),
  );
}

function compileCondition(context: RuleContext, { field, operator, value }: SegmentCondition): SQL {
  const { q } = context;
  const { contacts } = q.t;
  const positive = POSITIVE[operator];
  if (positive) return q.sqlDialect.notTrue(compileCondition(context, { field, operator: positive, value }));
  if (operator === "exists" && value === false) return q.sqlDialect.notTrue(compileCondition(context, { field, operator }));
  const custom = customName(field);
  if (custom !== null) return compileCustomField(context, custom, operator, value);
  if (isTextField(field)) return compileText(context, contacts[field], operator, value);
  switch (field) {
    case "email":
      return compileEmail(context, operator, value);
    case "status":
      return inArray(contacts.status, toArray(value) as ContactStatus[]);
    case "createdAt":
    case "updatedAt":
      return compileInstant(context, contacts[field], operator, value, (ms) => ms);
    case "tags":
      return compileTags(context, operator, value);
    case "lists":
      return compileLists(context, operator, value);
    default:
      return compileEngagement(context, field as EngagementField, operator, value);
  }
}

function isTextField(field: string): field is ContactTextField {
  return (CONTACT_TEXT_FIELDS as readonly string[]).includes(field);
}
