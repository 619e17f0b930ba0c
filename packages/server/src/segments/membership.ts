import { and, eq, inArray, isNull } from "drizzle-orm";
import { type ContactRow, lockContacts } from "../contacts/contacts.ts";
import { type CounterChange, incrementCounters } from "../counters/counters.ts";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { assumeContactHeld, type HeldContactSeq } from "../db/held.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import { behaveAsNew, loadContactViews, toView } from "./contact-view.ts";
import type { SegmentDeps } from "./deps.ts";
import { listConditions, matches } from "./evaluate.ts";
import type { SegmentTables } from "./tables.ts";

export type SegmentRow = SegmentTables["segments"]["$inferSelect"];

/** Reason contacts are compared with rules: the contact changed, the rules did, or time passed. Part of the events. */
type Cause = "contact" | "rules" | "time";

/** A change of contacts. */
interface Change {
  readonly cause: Cause;
  /** True if nobody enters an automation because of it. */
  readonly startsNothing: boolean;
}

/** The segments of a workspace that are not deleted. */
function listActiveSegments(tx: Tx, workspaceId: string): Promise<SegmentRow[]> {
  return tx
    .prepared("list_active_segments", (q, { segments: t }, arg) =>
      q
        .select()
        .from(t)
        .where(and(eq(t.workspaceId, arg("workspaceId")), isNull(t.deletedAt))),
    )
    .execute({ workspaceId });
}

/** The segments of a workspace whose rules name one of some fields. */
async function listSegmentsNaming(tx: Tx, workspaceId: string, fields: ReadonlySet<string>): Promise<SegmentRow[]> {
  const { segmentFields: f, segments: t } = tx.t;
  const named = await findRows(tx, f, { workspaceId, field: [...fields] });
  return named.length === 0 ? [] : findRows(tx, t, { seq: [...new Set(named.map(({ segmentSeq }) => segmentSeq))] });
}

/** Notes which fields the rules of a segment name; none for one that is deleted. */
export async function storeFields(tx: Tx, { seq, workspaceId, rules }: SegmentRow, deleted = false): Promise<void> {
  const { segmentFields: f } = tx.t;
  await tx.delete(f).where(eq(f.segmentSeq, seq));
  const fields = deleted ? [] : [...new Set(listConditions(rules).map(({ field }) => field))];
  await tx.insertAll(
    f,
    fields.map((field) => ({ workspaceId, field, segmentSeq: seq })),
  );
}

/**
 * Updates the members of segments for some contacts, a thousand at most, and records `segment.entered` and `segment.left`.
 * Each change is recorded exactly once, since the membership row changes in the same transaction. Nobody enters an automation because
 * rules were written.
 */
export async function updateMembership(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  segments: readonly SegmentRow[],
  seqs: readonly number[],
  cause: Cause,
  startsNothing = cause === "rules",
): Promise<void> {
  if (segments.length === 0 || seqs.length === 0) return;
  const { segmentMembers: m } = tx.t;
  // Rules read several tables. Two transactions that change different tables for one contact would miss each other, so both write
  // the contact: the later one collides, runs again, and sees what the earlier one did.
  await lockContacts(tx, workspaceId, seqs);
  const at = deps.clock.now();
  const rules = segments.map((segment) => segment.rules);
  const [loaded, current] = await Promise.all([loadContactViews(tx, workspaceId, seqs, rules, at), listMembers(tx, segments, seqs)]);
  const members = new Set(current.map(({ segment, contact }) => `${segment} ${contact}`));
  const events: NewEvent[] = [];
  for (const segment of segments) {
    const entered: HeldContactSeq[] = [];
    const left: HeldContactSeq[] = [];
    for (const { contact, view } of loaded.values()) {
      const { id, seq } = assumeContactHeld(contact);
      const before = members.has(`${segment.seq} ${seq}`);
      const now = matches(view, segment.rules, at);
      if (before === now) continue;
      (now ? entered : left).push(seq);
      events.push({
        workspaceId,
        type: now ? "segment.entered" : "segment.left",
        contactId: id,
        at,
        data: { segmentId: segment.id, cause },
        startsNothing,
      });
    }
    await tx.insertAll(
      m,
      entered.map((contactSeq) => ({ segmentSeq: segment.seq, contactSeq, enteredAt: at })),
    );
    if (left.length > 0) await tx.delete(m).where(and(eq(m.segmentSeq, segment.seq), inArray(m.contactSeq, left)));
    const count = (seqs: readonly number[], by: number): CounterChange[] => seqs.map((seq) => ({ kind: "MEMBER", seq, by }));
    await incrementCounters(tx, segment.id, [...count(entered, 1), ...count(left, -1)]);
  }
  await recordEvents(tx, deps, events);
}

function listMembers(tx: Tx, segments: readonly SegmentRow[], seqs: readonly number[]): Promise<{ segment: number; contact: number }[]> {
  return tx
    .prepared("members_among_contacts", (q, { segmentMembers: t }, arg) =>
      q
        .select({ segment: t.segmentSeq, contact: t.contactSeq })
        .from(t)
        .where(and(tx.sqlDialect.amongNumbers(t.segmentSeq, arg("segments")), tx.sqlDialect.amongNumbers(t.contactSeq, arg("seqs")))),
    )
    .execute({ segments: JSON.stringify(segments.map(({ seq }) => seq)), seqs: JSON.stringify(seqs) });
}

// Contacts per query.
const CHUNK = 500;

/** Updates the members of all segments of a workspace after contacts changed. Costs one lookup if there are no segments. */
export async function syncMembership(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  seqs: readonly number[],
  startsNothing = false,
): Promise<void> {
  if (seqs.length > 0)
    await updateAll(tx, deps, workspaceId, await listActiveSegments(tx, workspaceId), seqs, { cause: "contact", startsNothing });
}

/** The events of segments that contacts would enter if they were stored as they are given; those with `seq` 0 are new. */
export async function foreseeEntered(
  tx: Tx,
  deps: Pick<SegmentDeps, "clock">,
  workspaceId: string,
  contacts: readonly ContactRow[],
): Promise<NewEvent[]> {
  const segments = await listActiveSegments(tx, workspaceId);
  if (segments.length === 0 || contacts.length === 0) return [];
  const seqs = contacts.flatMap(({ seq }) => (seq === 0 ? [] : [seq]));
  const at = deps.clock.now();
  const rules = segments.map((segment) => segment.rules);
  const [loaded, current] = await Promise.all([loadContactViews(tx, workspaceId, seqs, rules, at), listMembers(tx, segments, seqs)]);
  const members = new Set(current.map(({ segment, contact }) => `${segment} ${contact}`));
  const newcomer = behaveAsNew(rules);
  return contacts.flatMap((contact): NewEvent[] => {
    const view = toView(contact, loaded.get(contact.seq)?.view ?? newcomer);
    return segments.flatMap(({ seq, id, rules }) =>
      members.has(`${seq} ${contact.seq}`) || !matches(view, rules, at)
        ? []
        : [
            {
              workspaceId,
              type: "segment.entered",
              contactId: assumeContactHeld(contact).id,
              at,
              data: { segmentId: id, cause: "contact" },
            },
          ],
    );
  });
}

/**
 * The same for the segments whose rules name one of the fields that changed, and no others: with a segment of tags, each mail of a
 * campaign cost 300 µs of Postgres for the row of its contact, and a third of the transactions ran twice.
 */
export async function syncMembershipBy(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  seqs: readonly number[],
  changed: ReadonlySet<string>,
  how: Change = { cause: "contact", startsNothing: false },
): Promise<void> {
  if (seqs.length === 0) return;
  await updateAll(tx, deps, workspaceId, await listSegmentsNaming(tx, workspaceId, changed), seqs, how);
}

async function updateAll(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  segments: readonly SegmentRow[],
  seqs: readonly number[],
  { cause, startsNothing }: Change,
): Promise<void> {
  for (let i = 0; segments.length > 0 && i < seqs.length; i += CHUNK)
    await updateMembership(tx, deps, workspaceId, segments, seqs.slice(i, i + CHUNK), cause, startsNothing);
}
