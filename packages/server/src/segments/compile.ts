import {
  type ContactStatus,
  customName,
  findNegated,
  kindOfField,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { and, eq, inArray, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { tagKey } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { finds } from "../db/dialect.ts";
import { listAddressForms } from "../lib/address-text.ts";
import { compileCount, type SeqWindow } from "./actions.ts";
import { type DecidedOperator, decide, isRuleFieldOf, type RuleFieldOf } from "./evaluate.ts";
import { compileFreeValue, compileText, compileTree, ON_TEXT, ON_TIME, toArray } from "./free-values.ts";

/** Context for compiling a rule. */
export interface RuleContext {
  q: Tx | Reader;
  workspaceId: string;
  /** The instant (ms) that `withinLast` counts from. */
  now: number;
  /** The `seq`s of all lists of the workspace, by their ids. */
  listSeqs: ReadonlyMap<string, number>;
  /** The contacts that are compared, where that is known: one query finds what they did, instead of one for each. */
  window?: SeqWindow | undefined;
}

type Value = SegmentCondition["value"];

/**
 * A rule as an SQL condition on `contacts`: true for contacts that match, false or null for others. All values are bound.
 * `matches` in `evaluate.ts` decides the same for one contact.
 */
export function compileRule(context: RuleContext, rule: SegmentRule): SQL {
  return compileTree<SegmentCondition>(context.q, rule, (condition) => compileCondition(context, condition));
}

// Every condition is true, false or null, and null if the contact lacks what it compares. `and` and `or` of such conditions are
// true exactly where they should be; only negation maps null to true (`notTrue`).

/** Addresses are stored in the form they are compared in, and an index has them. */
function compileEmail({ q: { sqlDialect, t } }: RuleContext, operator: RuleOperator, value: Value): SQL {
  const { emailKey } = t.contacts;
  if (operator === "startsWith") return or(...listAddressForms(String(value)).map((form) => sqlDialect.startsKey(emailKey, form))) as SQL;
  const forms = toArray(value).flatMap((v) => listAddressForms(String(v)).map((form) => sqlDialect.text(form)));
  return decide(ON_TEXT, operator)(sqlDialect, emailKey, forms);
}

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
  return finds(
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
  return finds(
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
  return finds(
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

function compileCondition(context: RuleContext, condition: SegmentCondition): SQL {
  const { field, operator, value } = condition;
  const { q } = context;
  const negated = findNegated(operator);
  if (negated) return q.sqlDialect.notTrue(compileCondition(context, { ...condition, operator: negated }));
  if (operator === "exists" && value === false) return q.sqlDialect.notTrue(compileCondition(context, { ...condition, value: undefined }));
  const custom = customName(field);
  if (custom !== null) return compileFreeValue(context, q.t.contacts.customFields, custom, operator, value);
  if (kindOfField(field) === "count") return compileCount(context, condition);
  if (field === "email") return compileEmail(context, operator, value);
  if (isRuleFieldOf(field, "text")) return compileText(context, q.t.contacts[field], operator, value);
  if (isRuleFieldOf(field, "instant")) return compileInstant(context, field, operator, value);
  if (isRuleFieldOf(field, "status")) return decide(ON_STATUS, operator)(context, value);
  if (field === "tags") return compileTags(context, decide(ON_SET, operator)(value));
  if (field === "lists") return compileLists(context, decide(ON_SET, operator)(value));
  throw new Error(`No contact has the field ${field}.`);
}
