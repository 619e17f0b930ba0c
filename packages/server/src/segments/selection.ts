import type { SegmentRule } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { SeqWindow } from "./actions.ts";
import type { RuleContext } from "./compile.ts";
import { pickAll, pickSource } from "./source.ts";

/** Contacts compared by one query: a few ms where each is looked up, and not many more where all are found at once. */
function windowSize(q: Reader): number {
  return q.sqlDialect.findsManyAtOnce ? 20_000 : 5000;
}

/**
 * The `seq`s of all contacts that match a rule, of all contacts of the workspace without one. Reads a few thousand contacts at a time, so
 * that a caller can let others run between two of its results.
 */
export async function* listMatching(context: RuleContext, rule: SegmentRule | null): AsyncGenerator<readonly number[]> {
  const { q } = context;
  const { from, seq, scope, rest, few } = rule === null ? pickAll(context) : pickSource(rule, context);
  for (let after = 0; ; ) {
    const [end] = few
      ? []
      : await q
          .select({ seq })
          .from(from)
          .where(and(scope, gt(seq, after)))
          .orderBy(asc(seq))
          .limit(1)
          .offset(windowSize(q) - 1);
    const window = end && toWindow(q, after, end.seq);
    const [row] = await q
      .select({ seqs: sql<string | null>`${q.sqlDialect.joinNumbers(seq)}` })
      .from(from)
      .where(and(scope, gt(seq, after), end && lte(seq, end.seq), rest(window)));
    yield row?.seqs ? row.seqs.split(",").map(Number) : [];
    if (!end) return;
    after = end.seq;
  }
}

/**
 * The window of some contacts, for rules about what people did; undefined where most contacts between its ends are of other workspaces,
 * whose actions would be read for nothing, and where the database had better look up each contact.
 */
export function toWindow(q: Reader, after: number, last: number, contacts = windowSize(q)): SeqWindow | undefined {
  return q.sqlDialect.findsManyAtOnce && last - after <= 2 * contacts ? { after, last } : undefined;
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
    .execute({ workspaceId, after, skipped: windowSize(read) - 1 });
  return row?.seq ?? null;
}
