import {
  addressKey,
  type ContactStatus,
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
import { formatDateText, POSITIVE } from "./evaluate.ts";

/** What a rule is compiled for. */
export interface RuleContext {
  q: Tx | Reader;
  workspaceId: string;
  /** ms; what `withinLast` counts from. */
  now: number;
  /** The numbers of all lists of the workspace, by their ids. */
  listSeqs: ReadonlyMap<string, number>;
}

type EngagementField = "lastSentAt" | "lastDeliveredAt" | "lastOpenedAt" | "lastClickedAt";

type Value = SegmentCondition["value"];

const COMPARE = { gt, gte, lt, lte } as const;

/**
 * A rule as a condition on the rows of `contacts`: true where it is fulfilled, false or null elsewhere. All values
 * are bound. `evaluate.ts` says the same of one contact.
 */
export function compileRule(context: RuleContext, rule: SegmentRule): SQL {
  if ("all" in rule) return and(...rule.all.map((r) => compileRule(context, r))) as SQL;
  if ("any" in rule) return or(...rule.any.map((r) => compileRule(context, r))) as SQL;
  if ("not" in rule) return context.q.sqlDialect.notTrue(compileRule(context, rule.not));
  return ofCondition(context, rule);
}

function list(value: Value): (string | number)[] {
  return value as (string | number)[];
}

// Every condition is written so that it is true, false or null, and null where the contact lacks what it asks for. Of
// such conditions `and` and `or` are true exactly where they should be; only turning one round must make false of null.

function ofText(
  { q: { sqlDialect: words } }: RuleContext,
  have: SQLWrapper,
  operator: RuleOperator,
  value: Value,
  form: (text: string) => SQLWrapper,
): SQL {
  switch (operator) {
    case "equals":
      return sql`${have} = ${form(String(value))}`;
    case "contains":
      return words.holds(have, form(String(value)));
    case "startsWith":
      return words.starts(have, form(String(value)));
    case "endsWith":
      return words.ends(have, form(String(value)));
    case "in":
      return sql`${have} in (${sql.join(
        list(value).map((v) => form(String(v))),
        sql`, `,
      )})`;
    default:
      return sql`${have} is not null`;
  }
}

function ofFolded(context: RuleContext, text: SQLWrapper, operator: RuleOperator, value: Value): SQL {
  return operator === "exists"
    ? sql`${text} is not null`
    : ofText(context, context.q.sqlDialect.fold(text), operator, value, (v) => context.q.sqlDialect.fold(context.q.sqlDialect.text(v)));
}

/** Addresses are stored in the form they are compared in, and an index has them. */
function ofEmail(context: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { emailKey } = context.q.t.contacts;
  if (operator === "startsWith") return context.q.sqlDialect.startsKey(emailKey, addressKey(String(value)));
  return ofText(context, emailKey, operator, value, (v) => context.q.sqlDialect.text(addressKey(v)));
}

function ofInstant(
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

function ofCustom(context: RuleContext, name: string, operator: RuleOperator, value: Value): SQL {
  const { sqlDialect: words, t } = context.q;
  const fields = t.contacts.customFields;
  switch (operator) {
    case "exists":
      return words.jsonHas(fields, name);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return COMPARE[operator](words.jsonNumber(fields, name), value);
    case "before":
    case "after":
    case "withinLast":
    case "withinNext":
      return ofInstant(context, words.dateText(words.jsonText(fields, name)), operator, value, formatDateText);
    case "equals":
      if (typeof value === "boolean")
        return value ? sql`(${words.jsonFlag(fields, name)}) is true` : sql`(${words.jsonFlag(fields, name)}) is false`;
      return typeof value === "number"
        ? eq(words.jsonNumber(fields, name), value)
        : ofFolded(context, words.jsonText(fields, name), operator, value);
    case "in": {
      const texts = list(value).filter((v) => typeof v === "string");
      const numbers = list(value).filter((v) => typeof v === "number");
      return or(
        texts.length > 0 ? ofFolded(context, words.jsonText(fields, name), "in", texts) : undefined,
        numbers.length > 0 ? inArray(words.jsonNumber(fields, name), numbers) : undefined,
      ) as SQL;
    }
    default:
      return ofFolded(context, words.jsonText(fields, name), operator, value);
  }
}

function ofTags({ q, workspaceId }: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { contactTags: t, contacts } = q.t;
  // The index of tags leads with the tag; whether there is any at all stands in the contact.
  if (operator === "exists") return sql`cast(${contacts.tags} as text) <> '[]'`;
  const keys = operator === "in" ? list(value) : [String(value)];
  const wanted = inArray(
    t.tagKey,
    keys.map((v) => tagKey(String(v))),
  );
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), wanted, eq(t.contactSeq, contacts.seq))),
  );
}

function ofLists({ q, listSeqs }: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { listMembers: t, contacts } = q.t;
  const ids = operator === "in" ? list(value) : [String(value)];
  const seqs = operator === "exists" ? [...listSeqs.values()] : ids.flatMap((id) => listSeqs.get(String(id)) ?? []);
  if (seqs.length === 0) return sql`1 = 0`;
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(and(eq(t.contactSeq, contacts.seq), eq(t.status, "MEMBER"), inArray(t.listSeq, seqs))),
  );
}

function ofEngagement(context: RuleContext, field: EngagementField, operator: RuleOperator, value: Value): SQL {
  const { q } = context;
  const { engagement: t, contacts } = q.t;
  return exists(
    q
      .select({ one: sql`1` })
      .from(t)
      .where(
        and(
          eq(t.contactSeq, contacts.seq),
          ofInstant(context, t[field], operator, value, (ms) => ms),
        ),
      ),
  );
}

function ofCondition(context: RuleContext, { field, operator, value }: SegmentCondition): SQL {
  const { q } = context;
  const { contacts } = q.t;
  const positive = POSITIVE[operator];
  if (positive) return q.sqlDialect.notTrue(ofCondition(context, { field, operator: positive, value }));
  if (operator === "exists" && value === false) return q.sqlDialect.notTrue(ofCondition(context, { field, operator }));
  const custom = customName(field);
  if (custom !== null) return ofCustom(context, custom, operator, value);
  switch (field) {
    case "email":
      return ofEmail(context, operator, value);
    case "firstName":
    case "lastName":
    case "phone":
      return ofFolded(context, contacts[field], operator, value);
    case "status":
      return inArray(contacts.status, [value].flat() as ContactStatus[]);
    case "createdAt":
    case "updatedAt":
      return ofInstant(context, contacts[field], operator, value, (ms) => ms);
    case "tags":
      return ofTags(context, operator, value);
    case "lists":
      return ofLists(context, operator, value);
    default:
      return ofEngagement(context, field as EngagementField, operator, value);
  }
}
