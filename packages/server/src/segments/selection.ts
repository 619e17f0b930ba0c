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

// Contacts compared by one query: a few ms.
const WINDOW = 5000;
// Times the number of contacts that are wanted: those compared first.
const NEAR = 2;

/**
 * The `seq`s of contacts that match, among the next a few thousand after `after` and up to `last`, oldest first, and where to continue;
 * null at the end.
 */
export async function selectMatching(
  read: Reader,
  { workspaceId, rules, listSeqs, now }: PinnedRules,
  { after, last, limit }: { after: number; last: number; limit: number },
): Promise<{ seqs: number[]; next: number | null }> {
  const { contacts: t } = read.t;
  const matching = compileRule({ q: read, workspaceId, now, listSeqs: new Map(Object.entries(listSeqs)) }, rules);
  const select = async (end: number): Promise<number[]> => {
    const rows = await read
      .select({ seq: t.seq })
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), gt(t.seq, after), lte(t.seq, end), matching))
      .orderBy(asc(t.seq))
      .limit(limit);
    return rows.map(({ seq }) => seq);
  };
  // Where most contacts match, the next few are enough; to count a few thousand would take longer than to read these.
  const near = await select(Math.min(last, after + NEAR * limit));
  if (near.length === limit) return { seqs: near, next: near.at(-1) as number };
  const end = await findWindowEnd(read, workspaceId, after);
  const seqs = await select(end === null ? last : Math.min(last, end));
  if (seqs.length === limit) return { seqs, next: seqs.at(-1) as number };
  return { seqs, next: end === null || end >= last ? null : end };
}

/** Up to which `seq` one query compares contacts after a `seq`; null if it can compare all that are left. */
export async function findWindowEnd(read: Reader, workspaceId: string, after: number): Promise<number | null> {
  const [row] = await read
    .prepared("end_of_window", (q, { contacts: t }, arg) =>
      q
        .select({ seq: t.seq })
        .from(t)
        .where(and(eq(t.workspaceId, arg("workspaceId")), gt(t.seq, arg("after"))))
        .orderBy(asc(t.seq))
        .limit(1)
        .offset(arg("skipped")),
    )
    .execute({ workspaceId, after, skipped: WINDOW - 1 });
  return row?.seq ?? null;
}
