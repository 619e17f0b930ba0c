import type { ContactMembership, ErrorDetail, Page, Segment, SegmentRule, SegmentState } from "@mailsvc/sdk/contract";
import { MAX_SEGMENTS } from "@mailsvc/sdk/contract";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { ContactRow } from "../contacts/contacts.ts";
import { getCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { PageInput } from "../db/pagination.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { assertRevision, nextChange } from "../lib/revision.ts";
import { MINUTE } from "../lib/units.ts";
import { loadListSeqs } from "../lists/lists.ts";
import { deleteGroup, listGroups, removeContactFromGroups } from "../memberships/memberships.ts";
import { findSlugs } from "../templates/templates.ts";
import { loadContactViews } from "./contact-view.ts";
import type { SegmentDeps } from "./deps.ts";
import { isTimed, listConditions, matches } from "./evaluate.ts";
import { type SegmentRow, storeFields, updateMembership } from "./membership.ts";
import type { SegmentTables } from "./tables.ts";

export { loadCounts } from "./actions.ts";
export { loadContactViews } from "./contact-view.ts";
export { clearEngagement, engagementReader, forgetActions } from "./engagement.ts";
export { matches, matchesFreeValue, matchesTree } from "./evaluate.ts";
export { foreseeEntered, syncMembership } from "./membership.ts";
export { listMatching } from "./selection.ts";

/** Job kind: compares all contacts with the rules of a segment. */
export const REBUILD_JOB = "segments.rebuild";
/** Job kind: deletes the members of a deleted segment. */
export const CLEAR_SEGMENT_JOB = "segments.clear";

/** The number of members of a segment. */
export async function countMembers(q: Tx | Reader, id: string): Promise<number> {
  return (await getCounters(q, [id])).get(id)?.get("MEMBER") ?? 0;
}

/** A segment that is not deleted. Throws ApiError not_found. */
export async function getSegmentRow(q: Tx | Reader, workspaceId: string, id: string): Promise<SegmentRow> {
  const row = await findSegmentRow(q, workspaceId, id);
  if (row === null) throw notFound("segment", id);
  return row;
}

/** A segment; null if it does not exist or is deleted. */
export async function findSegmentRow(q: Tx | Reader, workspaceId: string, id: string): Promise<SegmentRow | null> {
  const [row] = await findRows(q, q.t.segments, { workspaceId, id });
  return row?.deletedAt === null ? row : null;
}

export async function getSegment(q: Tx | Reader, workspaceId: string, id: string): Promise<Segment> {
  return showWithCount(q, await getSegmentRow(q, workspaceId, id));
}

/** Throws ApiError validation_error for rules with lists, campaigns or templates that this workspace does not have. */
export async function assertNamesExist(q: Tx | Reader, workspaceId: string, rules: SegmentRule): Promise<void> {
  const conditions = listConditions(rules);
  const campaigns = [...new Set(conditions.flatMap(({ campaign }) => campaign ?? []))];
  const templates = [...new Set(conditions.flatMap(({ template }) => template ?? []))];
  const [lists, knownCampaigns, knownTemplates] = await Promise.all([
    loadListSeqs(q, workspaceId),
    campaigns.length === 0 ? [] : findRows(q, q.t.campaigns, { workspaceId, id: campaigns }),
    findSlugs(q, workspaceId, templates),
  ]);
  const details = findUnknown(rules, {
    list: lists,
    campaign: new Map(knownCampaigns.map(({ id }) => [id, true])),
    template: new Map(knownTemplates.map((slug) => [slug, true])),
  });
  if (details.length > 0)
    throw new ApiError("validation_error", (details[0] as { message: string }).message, { details: details.slice(0, 20) });
}

/**
 * Delay (ms) after a change of its rules until a segment is rebuilt once more. A transaction on another server that began before
 * the change has ended by then, and the contacts it missed are found.
 */
export const SECOND_ROUND_MS = MINUTE;

// Up to this many contacts are compared in the request itself: a few ms of work, and the response is complete.
const SMALL = 250;

/** Creates a segment and compares all contacts with its rules. Throws ApiError validation_error or conflict. */
export async function createSegment(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  input: { name: string; description?: string | null | undefined; rules: SegmentRule },
): Promise<Segment> {
  const { segments: t } = tx.t;
  await assertNamesExist(tx, workspaceId, input.rules);
  // Every change of a contact evaluates all of them.
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
  await storeFields(tx, row);
  return buildAndShow(tx, deps, row);
}

/**
 * Changes the fields that were sent; new rules are compared with all contacts. Throws ApiError not_found, validation_error, or conflict
 * if it was changed since `revision`.
 */
export async function updateSegment(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  id: string,
  input: {
    name?: string | undefined;
    description?: string | null | undefined;
    rules?: SegmentRule | undefined;
    revision?: number | undefined;
  },
): Promise<Segment> {
  const before = await getSegmentRow(tx, workspaceId, id);
  assertRevision("segment", toRevision(before), input.revision);
  const { name = before.name, description = before.description, rules } = input;
  const row: SegmentRow = { ...before, name, description, updatedAt: nextChange(deps.clock, before.updatedAt) };
  const changed = rules !== undefined && JSON.stringify(rules) !== JSON.stringify(before.rules);
  if (changed) {
    await assertNamesExist(tx, workspaceId, rules);
    Object.assign(row, { rules, timed: isTimed(rules), state: "BUILDING", version: before.version + 1 });
  }
  const { seq: _, id: __, ...columns } = row;
  await tx.update(tx.t.segments).set(columns).where(eq(tx.t.segments.seq, row.seq));
  if (changed) await storeFields(tx, row);
  return changed ? buildAndShow(tx, deps, row) : showWithCount(tx, row);
}

/** Deletes a segment at once; a job deletes its members. Throws ApiError not_found. */
export async function deleteSegment(tx: Tx, deps: SegmentDeps, workspaceId: string, id: string): Promise<Segment> {
  const row = await getSegmentRow(tx, workspaceId, id);
  const segment = await showWithCount(tx, row);
  await storeFields(tx, row, true);
  await deleteGroup(tx, deps, tx.t.segments, row, CLEAR_SEGMENT_JOB);
  return segment;
}

/** A page of segments, newest first. */
export function listSegments(
  read: Reader,
  workspaceId: string,
  input: PageInput & { search?: string | undefined },
): Promise<Page<Segment>> {
  return listGroups(read, read.t.segments, workspaceId, input, (row, counts) => showSegment(row, counts?.get("MEMBER") ?? 0));
}

/** The segments a contact matches at an instant (ms). */
export async function listSegmentsOfContact(q: Tx | Reader, { workspaceId, seq }: ContactRow, now: number): Promise<ContactMembership[]> {
  const { segments: t } = q.t;
  const segments = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt)))
    .orderBy(desc(t.id));
  if (segments.length === 0) return [];
  const rules = segments.map((segment) => segment.rules);
  const contact = (await loadContactViews(q, workspaceId, [seq], rules, now)).get(seq);
  if (!contact) return [];
  return segments.filter((segment) => matches(contact.view, segment.rules, now)).map(({ id, name }) => ({ id, name }));
}

/** Removes a deleted contact from all segments. */
export async function removeFromSegments(tx: Tx, { seq }: ContactRow): Promise<void> {
  await removeContactFromGroups(tx, seq, pickSegmentTables);
}

/** The tables that make a segment a group of contacts. */
export function pickSegmentTables({ segments, segmentMembers }: SegmentTables) {
  return { groups: segments, members: segmentMembers, groupSeq: segmentMembers.segmentSeq };
}

function toRevision({ updatedAt }: SegmentRow): number {
  return updatedAt;
}

function showSegment(row: SegmentRow, memberCount: number): Segment {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    rules: row.rules,
    state: row.state,
    memberCount,
    revision: toRevision(row),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

async function showWithCount(q: Tx | Reader, row: SegmentRow): Promise<Segment> {
  return showSegment(row, await countMembers(q, row.id));
}

/** Compares all contacts with new rules: a few at once, many by a job. Returns the state of the segment after that. */
async function build(tx: Tx, deps: SegmentDeps, row: SegmentRow): Promise<SegmentState> {
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
    kind: REBUILD_JOB,
    payload: { workspaceId: row.workspaceId, segmentId: row.id, version: row.version, after: 0, round: small ? 2 : 1 },
    ...(small && { runAt: deps.clock.now() + SECOND_ROUND_MS }),
  });
  return small ? "READY" : "BUILDING";
}

/** Compares all contacts with the rules of all segments again. Nothing starts because of it. */
export async function rebuildSegments(tx: Tx, deps: SegmentDeps, workspaceId: string): Promise<void> {
  for (const before of await findRows(tx, tx.t.segments, { workspaceId })) {
    if (before.deletedAt !== null) continue;
    const row: SegmentRow = { ...before, state: "BUILDING", version: before.version + 1 };
    await tx.update(tx.t.segments).set({ state: row.state, version: row.version }).where(eq(tx.t.segments.seq, row.seq));
    await buildAndShow(tx, deps, row);
  }
}

async function buildAndShow(tx: Tx, deps: SegmentDeps, row: SegmentRow): Promise<Segment> {
  const state = await build(tx, deps, row);
  if (state !== row.state) await tx.update(tx.t.segments).set({ state }).where(eq(tx.t.segments.seq, row.seq));
  return showWithCount(tx, { ...row, state });
}

type Named = "list" | "campaign" | "template";

/** The places where rules name lists, campaigns or templates that do not exist. */
function findUnknown(rules: SegmentRule, known: Readonly<Record<Named, ReadonlyMap<string, unknown>>>): ErrorDetail[] {
  const check = (noun: Named, name: string | undefined, path: string): ErrorDetail[] => {
    if (name === undefined || known[noun].has(name)) return [];
    const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
    const message = `${title} not found: ${JSON.stringify(name.slice(0, 60))}. Run mailsvc ${noun}s list to see the ${noun}s of this workspace.`;
    return [{ path, code: `unknown_${noun}`, message }];
  };
  const visit = (rule: SegmentRule, path: string): ErrorDetail[] => {
    if ("all" in rule) return rule.all.flatMap((r, i) => visit(r, `${path}.all[${i}]`));
    if ("any" in rule) return rule.any.flatMap((r, i) => visit(r, `${path}.any[${i}]`));
    if ("not" in rule) return visit(rule.not, `${path}.not`);
    const { field, operator, value, campaign, template } = rule;
    const mail = [...check("campaign", campaign, `${path}.campaign`), ...check("template", template, `${path}.template`)];
    if (field !== "lists" || operator === "exists") return mail;
    if (!Array.isArray(value)) return check("list", String(value), `${path}.value`);
    return value.flatMap((id, i) => check("list", String(id), `${path}.value[${i}]`));
  };
  return visit(rules, "rules");
}
