import type { ContactMembership, Page, Segment, SegmentRule, SegmentState } from "@mailsvc/sdk/contract";
import { MAX_SEGMENTS } from "@mailsvc/sdk/contract";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { ContactRow } from "../contacts/contacts.ts";
import { getCounters, incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { loadListSeqs } from "../lists/lists.ts";
import { loadContactViews } from "./contact-view.ts";
import { isTimed, matches } from "./evaluate.ts";
import { type SegmentRow, updateMembership } from "./membership.ts";
import { unknownLists } from "./unknown-lists.ts";

export { recordEngagement } from "./engagement.ts";
export { type SegmentRow, syncMembership } from "./membership.ts";

/** Compares all contacts with the rules of a segment; `jobs.ts` does it. */
export const WALK_JOB = "segments.walk";
/** Takes the members of a deleted segment away. */
export const CLEAR_SEGMENT_JOB = "segments.clear";

/** Contacts known to be in a segment. */
export async function countMembers(q: Tx | Reader, id: string): Promise<number> {
  return (await getCounters(q, [id])).get(id)?.get("MEMBER") ?? 0;
}

/** A segment that is not deleted. Throws ApiError not_found. */
export async function findSegment(q: Tx | Reader, workspaceId: string, id: string): Promise<SegmentRow> {
  const { segments: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id), isNull(t.deletedAt)));
  if (!row) throw notFound("segment", id);
  return row;
}

export async function getSegment(q: Tx | Reader, workspaceId: string, id: string): Promise<Segment> {
  return shown(q, await findSegment(q, workspaceId, id));
}

/** Refuses rules that name lists this workspace does not have. Throws ApiError validation_error. */
export async function checkLists(q: Tx | Reader, workspaceId: string, rules: SegmentRule): Promise<void> {
  const details = unknownLists(rules, await loadListSeqs(q, workspaceId));
  if (details.length > 0)
    throw new ApiError("validation_error", (details[0] as { message: string }).message, { details: details.slice(0, 20) });
}

/**
 * How long after its rules changed a segment is looked through once more: a transaction that began before, on another
 * server, has ended by then, and what it left behind is found.
 */
export const SECOND_ROUND = 60_000;

// Contacts compared in the transaction itself: some ms of work, and the answer is complete.
const SMALL = 250;

/** Creates a segment, and compares all contacts with its rules. Throws ApiError validation_error or conflict. */
export async function createSegment(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  input: { name: string; description?: string | null | undefined; rules: SegmentRule },
): Promise<Segment> {
  const { segments: t } = tx.t;
  await checkLists(tx, workspaceId, input.rules);
  // Each change of a contact is compared with all of them.
  if ((await tx.$count(t, and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt)))) >= MAX_SEGMENTS)
    throw new ApiError("conflict", `A workspace has at most ${MAX_SEGMENTS} segments. Delete one first.`);
  const now = deps.clock.now();
  const [seq = 0] = await tx.nextNumbers(t, 1);
  const row: SegmentRow = {
    seq,
    id: deps.ids("seg"),
    workspaceId,
    name: input.name,
    description: input.description ?? null,
    rules: input.rules,
    timed: isTimed(input.rules),
    state: "BUILDING",
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  await tx.insert(t).values(row);
  return built(tx, deps, row);
}

/** Changes what was sent of a segment; with new rules its contacts are compared again. Throws ApiError not_found or validation_error. */
export async function updateSegment(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  id: string,
  input: { name?: string | undefined; description?: string | null | undefined; rules?: SegmentRule | undefined },
): Promise<Segment> {
  const before = await findSegment(tx, workspaceId, id);
  const { name = before.name, description = before.description, rules } = input;
  const row: SegmentRow = { ...before, name, description, updatedAt: deps.clock.now() };
  const changed = rules !== undefined && JSON.stringify(rules) !== JSON.stringify(before.rules);
  if (changed) {
    await checkLists(tx, workspaceId, rules);
    Object.assign(row, { rules, timed: isTimed(rules), state: "BUILDING", version: before.version + 1 });
  }
  const { seq: _, id: __, ...columns } = row;
  await tx.update(tx.t.segments).set(columns).where(eq(tx.t.segments.seq, row.seq));
  return changed ? built(tx, deps, row) : shown(tx, row);
}

/** Deletes a segment: it is gone at once, its members are taken away by a job. Throws ApiError not_found. */
export async function deleteSegment(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Segment> {
  const row = await findSegment(tx, workspaceId, id);
  const segment = await shown(tx, row);
  await tx.update(tx.t.segments).set({ deletedAt: deps.clock.now() }).where(eq(tx.t.segments.seq, row.seq));
  await deps.queue.enqueue(tx, { kind: CLEAR_SEGMENT_JOB, payload: { workspaceId, segmentId: id, seq: row.seq } });
  return segment;
}

/** A page of segments, newest first. */
export async function listSegments(
  read: Reader,
  workspaceId: string,
  input: PageInput & { search?: string | undefined },
): Promise<Page<Segment>> {
  const { segments: t } = read.t;
  const where = and(
    eq(t.workspaceId, workspaceId),
    isNull(t.deletedAt),
    input.search === undefined ? undefined : contains(read.sqlDialect, t.name, input.search),
  );
  const page = await listPage(read, input, { table: t, where, toItem: (row) => row });
  const counts = await getCounters(
    read,
    page.data.map((row) => row.id),
  );
  return { ...page, data: page.data.map((row) => showSegment(row, counts.get(row.id)?.get("MEMBER") ?? 0)) };
}

/** The segments whose rules a contact fulfils now. */
export async function listSegmentsOfContact(q: Tx | Reader, { workspaceId, seq }: ContactRow, now: number): Promise<ContactMembership[]> {
  const { segments: t } = q.t;
  const rows = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt)))
    .orderBy(desc(t.id));
  if (rows.length === 0) return [];
  const known = (await loadContactViews(q, workspaceId, [seq])).get(seq);
  if (!known) return [];
  return rows.filter((row) => matches(known.facts, row.rules, now)).map(({ id, name }) => ({ id, name }));
}

/** Forgets a contact that is deleted. */
export async function removeFromSegments(tx: Tx, { seq }: ContactRow): Promise<void> {
  const { segments: t, segmentMembers: m, engagement: e } = tx.t;
  await tx.delete(e).where(eq(e.contactSeq, seq));
  const rows = await tx.select({ id: t.id }).from(m).innerJoin(t, eq(t.seq, m.segmentSeq)).where(eq(m.contactSeq, seq));
  if (rows.length === 0) return;
  await tx.delete(m).where(eq(m.contactSeq, seq));
  for (const { id } of rows) await incrementCounters(tx, id, [{ kind: "MEMBER", seq, by: -1 }]);
}

function showSegment(row: SegmentRow, memberCount: number): Segment {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    rules: row.rules,
    state: row.state,
    memberCount,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

async function shown(q: Tx | Reader, row: SegmentRow): Promise<Segment> {
  return showSegment(row, await countMembers(q, row.id));
}

/** Compares all contacts with new rules: at once where they are few, otherwise by a job. Tells the state that leaves. */
async function build(tx: Tx, deps: Deps, row: SegmentRow): Promise<SegmentState> {
  const { contacts: c } = tx.t;
  const few = await tx
    .select({ seq: c.seq })
    .from(c)
    .where(eq(c.workspaceId, row.workspaceId))
    .limit(SMALL + 1);
  const small = few.length <= SMALL;
  if (small)
    await updateMembership(
      tx,
      deps,
      row.workspaceId,
      [row],
      few.map(({ seq }) => seq),
      "rules",
    );
  await deps.queue.enqueue(tx, {
    kind: WALK_JOB,
    payload: { workspaceId: row.workspaceId, segmentId: row.id, version: row.version, after: 0, round: small ? 2 : 1 },
    ...(small && { runAt: deps.clock.now() + SECOND_ROUND }),
  });
  return small ? "READY" : "BUILDING";
}

async function built(tx: Tx, deps: Deps, row: SegmentRow): Promise<Segment> {
  const state = await build(tx, deps, row);
  if (state !== row.state) await tx.update(tx.t.segments).set({ state }).where(eq(tx.t.segments.seq, row.seq));
  return shown(tx, { ...row, state });
}
