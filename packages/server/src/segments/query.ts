import type { Contact, Page, SegmentPreview, SegmentRule } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, lt, type SQL, sql } from "drizzle-orm";
import { type ContactRow, type ContactSelection, type ContactSlice, showContact } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { MAX_COUNTED, type PageInput, paginateBySeq, type SeqSlice, type Total } from "../db/pagination.ts";
import { invalid } from "../lib/api-error.ts";
import { loadListSeqs } from "../lists/lists.ts";
import type { SeqWindow } from "./actions.ts";
import type { RuleContext } from "./compile.ts";
import type { SegmentDeps } from "./deps.ts";
import { assertNamesExist, countMembers, findSegmentRow, getSegmentRow } from "./segments.ts";
import { toWindow } from "./selection.ts";
import { findSource, pickMembers, type Source } from "./source.ts";

/** The context to compile rules of a workspace against, now. */
export async function buildRuleContext(read: Reader, { clock }: Pick<SegmentDeps, "clock">, workspaceId: string): Promise<RuleContext> {
  return {
    q: read,
    workspaceId,
    now: clock.now(),
    listSeqs: await loadListSeqs(read, workspaceId),
  };
}

// Candidates per query. Other work runs between two queries: on SQLite a query blocks the process.
const WINDOW = 20_000;

/** Counts the contacts that match rules, up to 10,000, and shows the newest of them. Throws ApiError validation_error for unknown lists. */
export async function previewSegment(
  read: Reader,
  deps: SegmentDeps,
  workspaceId: string,
  { rules, limit }: { rules: SegmentRule; limit: number },
): Promise<SegmentPreview> {
  await assertNamesExist(read, workspaceId, rules);
  const context = await buildRuleContext(read, deps, workspaceId);
  const { seqs, total, isMinimum } = await findAndCount(context, await findSource(rules, context), limit, deps);
  const contacts = (await loadContacts(read, seqs)).map(showContact);
  return { count: total, ...(isMinimum && { countIsMinimum: true as const }), contacts };
}

/**
 * A page of the contacts of a segment, newest first. Reads the members if they are up to date and no rule depends on time;
 * otherwise evaluates the rules, so that a page is always right. Throws ApiError not_found.
 */
export async function listSegmentContacts(
  read: Reader,
  deps: SegmentDeps,
  workspaceId: string,
  id: string,
  input: PageInput,
): Promise<Page<Contact>> {
  const segment = await getSegmentRow(read, workspaceId, id);
  if (segment.state === "READY" && !segment.timed)
    return paginateBySeq(
      input,
      (slice) => readMembers(read, segment.seq, slice),
      () => countMembers(read, id),
      showContact,
    );
  const context = await buildRuleContext(read, deps, workspaceId);
  const source = await findSource(segment.rules, context);
  return paginateBySeq(
    input,
    async (slice) => loadContacts(read, await findSeqs(context, source, slice, deps)),
    () => countMatches(context, source, deps),
    showContact,
  );
}

/**
 * The contacts of a list, a segment or both that are wanted, newest first, and how many there are. Throws ApiError validation_error when
 * there is no such list or segment.
 */
export async function listSelectedContacts(
  read: Reader,
  deps: SegmentDeps,
  workspaceId: string,
  selection: ContactSelection,
  { before, skip, limit }: ContactSlice,
): Promise<{ rows: ContactRow[]; total: number; exact: boolean }> {
  const context = await buildRuleContext(read, deps, workspaceId);
  const source = await findSelected(context, selection);
  const seqs = await findSeqs(context, source, { below: before, offset: skip, limit }, deps);
  const { total, isMinimum } = await countMatches(context, source, deps);
  return { rows: await loadContacts(read, seqs), total, exact: !isMinimum };
}

async function findSelected(context: RuleContext, { list, segment, status, tag, text }: ContactSelection): Promise<Source> {
  const { q, workspaceId, listSeqs } = context;
  if (list !== undefined && !listSeqs.has(list)) throw invalid("list", "unknown_list", "There is no list with this id.");
  const row = segment === undefined ? null : await findSegmentRow(q, workspaceId, segment);
  if (segment !== undefined && row === null) throw invalid("segment", "unknown_segment", "There is no segment with this id.");
  const members = row !== null && row.state === "READY" && !row.timed ? row : null;
  const rules: SegmentRule[] = [
    ...(list === undefined ? [] : [{ field: "lists", operator: "contains", value: list } as const]),
    ...(tag === undefined ? [] : [{ field: "tags", operator: "contains", value: tag } as const]),
    ...(status === undefined ? [] : [{ field: "status", operator: "equals", value: status } as const]),
    ...(row === null || members !== null ? [] : [row.rules]),
  ];
  const found = text === "" ? undefined : q.sqlDialect.holds(q.t.contacts.searchText, text);
  return members === null ? findSource({ all: rules }, context, found) : pickMembers(members.seq, rules, context, found);
}

/** A slice of the contacts in a segment, newest first. */
async function readMembers(read: Reader, segmentSeq: number, { below, limit, offset }: SeqSlice): Promise<ContactRow[]> {
  const { contacts: c, segmentMembers: m } = read.t;
  const rows = await read
    .select({ contact: c })
    .from(m)
    .innerJoin(c, eq(c.seq, m.contactSeq))
    .where(and(eq(m.segmentSeq, segmentSeq), lt(m.contactSeq, below)))
    .orderBy(desc(m.contactSeq))
    .limit(limit)
    .offset(offset);
  return rows.map((row) => row.contact);
}

/** A part of the contacts of a source. */
interface Part {
  readonly range?: SQL | undefined;
  readonly window?: SeqWindow | undefined;
}

/** Visits a source from the newest contact down, a window at a time, while `visit` returns true. */
async function scanWindows(
  { q }: RuleContext,
  { from, seq, scope, few }: Source,
  below: number,
  deps: Pick<SegmentDeps, "clock">,
  visit: (part: Part) => Promise<boolean>,
): Promise<void> {
  if (few) {
    await visit({ range: sql`${seq} < ${below}` });
    return;
  }
  const findBelow = async (top: number, offset: number): Promise<number | undefined> => {
    const query = q
      .select({ seq })
      .from(from)
      .where(and(scope, sql`${seq} < ${top}`));
    return (await query.orderBy(desc(seq)).limit(1).offset(offset))[0]?.seq;
  };
  for (let top = await findBelow(below, 0); top !== undefined; ) {
    const end = await findBelow(top + 1, WINDOW - 1);
    const range = and(sql`${seq} <= ${top}`, end === undefined ? undefined : sql`${seq} >= ${end}`);
    if (!(await visit({ range, window: end === undefined ? undefined : toWindow(q, end - 1, top, WINDOW) }))) return;
    top = end === undefined ? undefined : end - 1;
    await deps.clock.real.sleep(0);
  }
}

/** A slice of the `seq`s of contacts that match, newest first. */
async function findSeqs(
  context: RuleContext,
  source: Source,
  { below, limit, offset }: SeqSlice,
  deps: Pick<SegmentDeps, "clock">,
): Promise<number[]> {
  const found: number[] = [];
  const wanted = offset + limit;
  await scanWindows(context, source, below, deps, async (part) => {
    found.push(...(await selectSeqs(context, source, part, wanted - found.length)));
    return found.length < wanted;
  });
  return found.slice(offset);
}

/** The number of contacts that match, counted up to 10,000. */
function countMatches(context: RuleContext, source: Source, deps: Pick<SegmentDeps, "clock">): Promise<Total> {
  return findAndCount(context, source, 0, deps);
}

/**
 * The `seq`s of the newest contacts that match, at most `limit`, and the number of all that match, counted up to 10,000. Compares each
 * candidate once.
 */
async function findAndCount(
  context: RuleContext,
  source: Source,
  limit: number,
  deps: Pick<SegmentDeps, "clock">,
): Promise<Total & { seqs: number[] }> {
  if (source.few) {
    // Each query finds the few anew, so one is asked for all that are counted.
    const found = await selectSeqs(context, source, {}, Math.max(limit, MAX_COUNTED + 1));
    return { seqs: found.slice(0, limit), total: Math.min(found.length, MAX_COUNTED), isMinimum: found.length > MAX_COUNTED };
  }
  const seqs: number[] = [];
  let count = 0;
  await scanWindows(context, source, Number.MAX_SAFE_INTEGER, deps, async (part) => {
    const missing = limit - seqs.length;
    const found = missing === 0 ? [] : await selectSeqs(context, source, part, missing);
    seqs.push(...found);
    count += found.length;
    if (found.length < missing) return true;
    const last = found.at(-1);
    count += await countPart(
      context,
      source,
      last === undefined ? part : { ...part, range: and(part.range, sql`${source.seq} < ${last}`) },
    );
    return count <= MAX_COUNTED;
  });
  return { seqs, total: Math.min(count, MAX_COUNTED), isMinimum: count > MAX_COUNTED };
}

/** The `seq`s of the newest matches in a range, at most `limit`. */
async function selectSeqs(
  { q }: RuleContext,
  { from, seq, scope, rest }: Source,
  { range, window }: Part,
  limit: number,
): Promise<number[]> {
  const rows = await q
    .select({ seq })
    .from(from)
    .where(and(scope, range, rest(window)))
    .orderBy(desc(seq))
    .limit(limit);
  return rows.map((row) => row.seq);
}

async function countPart({ q }: RuleContext, { from, scope, rest }: Source, { range, window }: Part): Promise<number> {
  const [row] = await q
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(from)
    .where(and(scope, range, rest(window)));
  return row?.n ?? 0;
}

/** Contacts by their `seq`s, newest first. */
async function loadContacts(read: Reader, seqs: readonly number[]): Promise<ContactRow[]> {
  if (seqs.length === 0) return [];
  const { contacts: c } = read.t;
  return read
    .select()
    .from(c)
    .where(inArray(c.seq, [...seqs]))
    .orderBy(desc(c.seq));
}
