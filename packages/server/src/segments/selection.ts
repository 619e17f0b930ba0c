import type { SegmentRule } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, lte } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { compileRule } from "./compile.ts";

/** Rules as they were at an instant (ms), with the `seq`s of the lists they name. */
export interface PinnedRules {
  readonly workspaceId: string;
  readonly rules: SegmentRule;
  readonly listSeqs: Readonly<Record<string, number>>;
  readonly now: number;
}

/** Ids of the lists that rules name. */
export function listNamedLists(rule: SegmentRule): string[] {
  if ("all" in rule) return rule.all.flatMap(listNamedLists);
  if ("any" in rule) return rule.any.flatMap(listNamedLists);
  if ("not" in rule) return listNamedLists(rule.not);
  return rule.field === "lists" && rule.value !== undefined ? [rule.value].flat().map(String) : [];
}

// Contacts compared by one query: some ms.
const WINDOW = 5000;

/**
 * The `seq`s of contacts that match, among the next some thousand after `after` and up to `last`, oldest first, and where to continue;
 * null at the end.
 */
export async function selectMatching(
  read: Reader,
  { workspaceId, rules, listSeqs, now }: PinnedRules,
  { after, last, limit }: { after: number; last: number; limit: number },
): Promise<{ seqs: number[]; next: number | null }> {
  const { contacts: t } = read.t;
  const range = and(eq(t.workspaceId, workspaceId), gt(t.seq, after), lte(t.seq, last));
  const [end] = await read
    .select({ seq: t.seq })
    .from(t)
    .where(range)
    .orderBy(asc(t.seq))
    .limit(1)
    .offset(WINDOW - 1);
  const matching = compileRule({ q: read, workspaceId, now, listSeqs: new Map(Object.entries(listSeqs)) }, rules);
  const rows = await read
    .select({ seq: t.seq })
    .from(t)
    .where(and(range, end && lte(t.seq, end.seq), matching))
    .orderBy(asc(t.seq))
    .limit(limit);
  const seqs = rows.map(({ seq }) => seq);
  return { seqs, next: seqs.length === limit ? (seqs.at(-1) as number) : (end?.seq ?? null) };
}
