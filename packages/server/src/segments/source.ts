import type { SegmentRule } from "@mailsvc/sdk/contract";
import { and, eq, exists, type SQL, sql } from "drizzle-orm";
import { tagKey } from "../contacts/contacts.ts";
import { compileRule, type RuleContext } from "./compile.ts";

/** Where to look for matches: an index with candidates ordered by `seq`, and the condition to check for each. */
export interface Source {
  from: SQL;
  seq: SQL<number>;
  /** The range of the index. */
  scope: SQL | undefined;
  /** The rest of the rule. */
  rest: SQL | undefined;
  /** True if an index finds the few candidates directly, without a scan. */
  few: boolean;
}

/** All contacts of the workspace. */
export function pickAll({ q, workspaceId }: RuleContext): Source {
  const { contacts: c } = q.t;
  return { from: sql`${c}`, seq: sql`${c.seq}`.mapWith(Number), scope: eq(c.workspaceId, workspaceId), rest: undefined, few: false };
}

/** Picks the index: that of a tag or list which every match has, if the rule requires one, else all contacts. */
export function pickSource(rule: SegmentRule, context: RuleContext): Source {
  const { q, workspaceId, listSeqs } = context;
  const { contacts: c, contactTags: t, listMembers: m } = q.t;
  const rules = "all" in rule ? rule.all : [rule];
  const at = rules.some(comparesAddress)
    ? -1
    : rules.findIndex(
        (r) => "field" in r && r.operator === "contains" && (r.field === "tags" || (r.field === "lists" && listSeqs.has(String(r.value)))),
      );
  const found = rules[at];
  const compiled = and(...rules.filter((_, i) => i !== at).map((r) => compileRule(context, r)));
  if (found === undefined || !("field" in found))
    return {
      from: sql`${c}`,
      seq: sql`${c.seq}`.mapWith(Number),
      scope: eq(c.workspaceId, workspaceId),
      rest: compiled,
      few: rules.some(comparesAddress),
    };
  const joined = (seq: typeof t.contactSeq | typeof m.contactSeq): SQL | undefined =>
    compiled &&
    exists(
      q
        .select({ one: sql`1` })
        .from(c)
        .where(and(eq(c.seq, seq), compiled)),
    );
  if (found.field === "tags")
    return {
      from: sql`${t}`,
      seq: sql`${t.contactSeq}`.mapWith(Number),
      scope: and(eq(t.workspaceId, workspaceId), eq(t.tagKey, tagKey(String(found.value)))),
      rest: joined(t.contactSeq),
      few: false,
    };
  return {
    from: sql`${m}`,
    seq: sql`${m.contactSeq}`.mapWith(Number),
    scope: and(eq(m.listSeq, listSeqs.get(String(found.value)) as number), eq(m.status, "MEMBER")),
    rest: joined(m.contactSeq),
    few: false,
  };
}

function comparesAddress(rule: SegmentRule): boolean {
  return "field" in rule && rule.field === "email" && (rule.operator === "equals" || rule.operator === "in");
}
