import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { type CounterChange, incrementCounters } from "../counters/counters.ts";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { type ContactEvent, recordOfContacts } from "../events/events.ts";
import type { Tables } from "../schema.ts";
import { loadContactViews } from "./contact-view.ts";
import { matches } from "./evaluate.ts";

export type SegmentRow = Tables["segments"]["$inferSelect"];

/** Why contacts are compared with rules: they changed, the rules did, or time went by. Stands in the event. */
export type Cause = "contact" | "rules" | "time";

const ph = sql.placeholder;

/** The segments of a workspace. */
export function listActiveSegments(tx: Tx, workspaceId: string): Promise<SegmentRow[]> {
  return tx
    .prepared("segments_of", (q, { segments: t }) =>
      q
        .select()
        .from(t)
        .where(and(eq(t.workspaceId, ph("workspaceId")), isNull(t.deletedAt)))
        .prepare("segments_of"),
    )
    .execute({ workspaceId });
}

/**
 * Brings the membership of some contacts up to date, and tells of those that entered and left: exactly once for each
 * change, since the row that says who is in changes in the same transaction. A thousand contacts at most.
 */
export async function updateMembership(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  segments: readonly SegmentRow[],
  seqs: readonly number[],
  cause: Cause,
): Promise<void> {
  if (segments.length === 0 || seqs.length === 0) return;
  const { segmentMembers: m, contacts: c } = tx.t;
  // Rules look at rows of several tables. Two transactions that change different ones for one contact must not miss each
  // other: both write the contact, so the later one runs again and sees what the earlier one did.
  await tx
    .update(c)
    .set({ workspaceId })
    .where(and(eq(c.workspaceId, workspaceId), inArray(c.seq, [...seqs])));
  const known = await loadContactViews(tx, workspaceId, seqs);
  const before = await tx
    .select({ segment: m.segmentSeq, contact: m.contactSeq })
    .from(m)
    .where(
      and(
        inArray(
          m.segmentSeq,
          segments.map((s) => s.seq),
        ),
        inArray(m.contactSeq, [...seqs]),
      ),
    );
  const members = new Set(before.map(({ segment, contact }) => `${segment} ${contact}`));
  const now = deps.clock.now();
  const events: ContactEvent[] = [];
  for (const segment of segments) {
    const entered: number[] = [];
    const left: number[] = [];
    for (const [seq, { contact, facts }] of known) {
      const was = members.has(`${segment.seq} ${seq}`);
      const is = matches(facts, segment.rules, now);
      if (was === is) continue;
      (is ? entered : left).push(seq);
      events.push({
        workspaceId,
        type: is ? "segment.entered" : "segment.left",
        contactId: contact.id,
        at: now,
        data: { segmentId: segment.id, cause },
      });
    }
    await tx.insertAll(
      m,
      entered.map((contactSeq) => ({ segmentSeq: segment.seq, contactSeq, enteredAt: now })),
    );
    if (left.length > 0) await tx.delete(m).where(and(eq(m.segmentSeq, segment.seq), inArray(m.contactSeq, left)));
    const changes: CounterChange[] = [
      ...entered.map((seq): CounterChange => ({ kind: "MEMBER", seq, by: 1 })),
      ...left.map((seq): CounterChange => ({ kind: "MEMBER", seq, by: -1 })),
    ];
    await incrementCounters(tx, segment.id, changes);
  }
  await recordOfContacts(tx, events);
}

// Numbers in one list of a query.
const CHUNK = 500;

/** Lets the segments of a workspace follow contacts that have changed. Costs one look where there are no segments. */
export async function syncMembership(tx: Tx, deps: Deps, workspaceId: string, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  const segments = await listActiveSegments(tx, workspaceId);
  for (let i = 0; segments.length > 0 && i < seqs.length; i += CHUNK)
    await updateMembership(tx, deps, workspaceId, segments, seqs.slice(i, i + CHUNK), "contact");
}
