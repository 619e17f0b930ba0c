import { kindOfField, type SegmentRule } from "@mailsvc/sdk/contract";
import { and, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { tagKey } from "../contacts/contacts.ts";
import { finds } from "../db/dialect.ts";
import { findDoers, type SeqWindow } from "./actions.ts";
import { compileRule, type RuleContext } from "./compile.ts";

/** Source of matches: an index with candidates ordered by `seq`, and the condition to check for each. */
export interface Source {
  from: SQL;
  seq: SQL<number>;
  /** The range of the index. */
  scope: SQL | undefined;
  /**
   * The rest of the rule, also for the candidates of a window alone. Only a source of contacts makes use of a window: asked about the
   * contact of another row, a database would look through all of the window again.
   */
  rest: (window?: SeqWindow) => SQL | undefined;
  /** True if an index finds the few candidates directly, without a scan. */
  few: boolean;
}

/** All contacts of the workspace. */
export function pickAll({ q, workspaceId }: RuleContext): Source {
  const { contacts: c } = q.t;
  return { from: sql`${c}`, seq: sql`${c.seq}`.mapWith(Number), scope: eq(c.workspaceId, workspaceId), rest: () => undefined, few: false };
}

/** The stored members of a segment that match all of some rules, and a further condition on contacts. */
export function pickMembers(segmentSeq: number, rules: readonly SegmentRule[], context: RuleContext, also?: SQL): Source {
  const { segmentMembers: m } = context.q.t;
  const rest = ofContact(context, m.contactSeq, compileAll(context, rules, also));
  return {
    from: sql`${m}`,
    seq: sql`${m.contactSeq}`.mapWith(Number),
    scope: eq(m.segmentSeq, segmentSeq),
    rest: () => rest,
    few: false,
  };
}

function compileAll(context: RuleContext, rules: readonly SegmentRule[], also: SQL | undefined): SQL | undefined {
  return and(...rules.map((rule) => compileRule(context, rule)), also);
}

/** A condition on contacts as one on rows that name a contact. */
function ofContact({ q }: RuleContext, seq: SQLWrapper, condition: SQL | undefined): SQL | undefined {
  const { contacts: c } = q.t;
  return (
    condition &&
    finds(
      q
        .select({ one: sql`1` })
        .from(c)
        .where(and(eq(c.seq, seq), condition)),
    )
  );
}

/**
 * Picks the index: that of a tag or list which every match has, if the rule requires one, else all contacts. `also` is a further
 * condition on contacts.
 */
export function pickSource(rule: SegmentRule, context: RuleContext, also?: SQL): Source {
  const { q, workspaceId, listSeqs } = context;
  const { contacts: c, contactTags: t, listMembers: m } = q.t;
  const rules = "all" in rule ? rule.all : [rule];
  const at = rules.some(comparesAddress)
    ? -1
    : rules.findIndex(
        (r) => "field" in r && r.operator === "contains" && (r.field === "tags" || (r.field === "lists" && listSeqs.has(String(r.value)))),
      );
  const found = rules[at];
  const others = rules.filter((_, i) => i !== at);
  if (found === undefined || !("field" in found))
    return {
      from: sql`${c}`,
      seq: sql`${c.seq}`.mapWith(Number),
      scope: eq(c.workspaceId, workspaceId),
      rest: (window) => compileAll({ ...context, window }, others, also),
      few: rules.some(comparesAddress),
    };
  if (found.field === "tags")
    return {
      from: sql`${t}`,
      seq: sql`${t.contactSeq}`.mapWith(Number),
      scope: and(eq(t.workspaceId, workspaceId), eq(t.tagKey, tagKey(String(found.value)))),
      rest: () => ofContact(context, t.contactSeq, compileAll(context, others, also)),
      few: false,
    };
  return {
    from: sql`${m}`,
    seq: sql`${m.contactSeq}`.mapWith(Number),
    scope: and(eq(m.listSeq, listSeqs.get(String(found.value)) as number), eq(m.status, "MEMBER")),
    rest: () => ofContact(context, m.contactSeq, compileAll(context, others, also)),
    few: false,
  };
}

/**
 * The same; where the rule requires that people did something which was done seldom, the actions find them. `pickSource` looks at all
 * contacts for that, which takes a second for a million.
 */
export async function findSource(rule: SegmentRule, context: RuleContext, also?: SQL): Promise<Source> {
  const rules = "all" in rule ? rule.all : [rule];
  const source = pickSource(rule, context, also);
  if (source.few) return source;
  for (const [at, one] of rules.entries()) {
    const doers = "field" in one && kindOfField(one.field) === "count" ? await findDoers(context, one) : null;
    if (doers === null) continue;
    const others = rules.filter((_, i) => i !== at);
    const rest = ofContact(context, doers.seq, compileAll(context, others, also));
    return { ...doers, scope: undefined, rest: () => rest, few: true };
  }
  return source;
}

function comparesAddress(rule: SegmentRule): boolean {
  return "field" in rule && rule.field === "email" && (rule.operator === "equals" || rule.operator === "in");
}
