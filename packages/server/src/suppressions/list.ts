import {
  addressKey,
  type Page,
  SUPPRESSION_REASONS,
  SUPPRESSION_SCOPES,
  SUPPRESSION_SOURCES,
  type Suppression,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, getTableColumns, gte, inArray, lt, ne, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { countRows, countUpTo, isRare, ONE, type PageInput, paginateBySeq, type SeqSlice, type Total } from "../db/pagination.ts";
import type { SearchHits } from "../db/search-index.ts";
import { listAddressForms } from "../lib/address-text.ts";
import { invalid } from "../lib/api-error.ts";
import { ERASED_MARKER } from "./erasure.ts";
import { listStoredForms, showSuppression } from "./suppressions.ts";
import type { SuppressionTables } from "./tables.ts";

type Row = SuppressionTables["suppressions"]["$inferSelect"];

interface SuppressionQuery extends PageInput {
  email?: string | undefined;
  search?: string | undefined;
  reason?: Suppression["reason"] | undefined;
  scope?: Suppression["scope"] | undefined;
  source?: Suppression["source"] | undefined;
  since?: string | undefined;
}

/** A page of suppressions, newest first. Each filter reads few rows among a million. */
export async function listSuppressions(read: Reader, workspaceId: string, input: SuppressionQuery): Promise<Page<Suppression>> {
  const { suppressions: t } = read.t;
  const { rarely, usually, holds } = read.sqlDialect;
  const { email, search, reason, scope, source, since } = input;
  const inWorkspace = eq(t.workspaceId, workspaceId);
  const visible = ne(t.email, ERASED_MARKER);
  // Stored addresses and these forms are folded alike.
  const forms = search === undefined ? [] : listAddressForms(search);
  const containsText = or(...forms.map((form) => holds(t.email, form)));
  const isKind = and(reason && eq(t.reason, reason), scope && eq(t.scope, scope), source && eq(t.source, source));
  const isRecent = since === undefined ? undefined : gte(t.createdAt, Date.parse(since));

  const list = (where: SQL | undefined) => listMatches(read, input, and(inWorkspace, where, isKind, containsText, visible));
  if (email !== undefined)
    return list(and(rarely(inArray(t.email, await listStoredForms(read, workspaceId, addressKey(email)))), isRecent));
  // A few recent ones are read by their time and sorted. Many are met at once on the way down from the newest.
  if (isRecent && (await isRare(read, t, and(inWorkspace, isRecent)))) return list(rarely(isRecent));
  const rest = and(isRecent && usually(isRecent), visible);
  // Names all columns of its index, so that each combination is a range of it.
  const inRanges = and(
    inWorkspace,
    inArray(t.reason, reason ? [reason] : SUPPRESSION_REASONS),
    inArray(t.scope, scope ? [scope] : SUPPRESSION_SCOPES),
    inArray(t.source, source ? [source] : SUPPRESSION_SOURCES),
  );
  if (isKind && (search === undefined || (await isRare(read, t, inRanges)))) {
    const where = and(rest, containsText);
    return paginateBySeq<Row, Suppression>(
      input,
      (slice) => selectByKind(read, input, and(inWorkspace, where), slice),
      () => countRows(read, t, and(inRanges, where)),
      showSuppression,
    );
  }
  if (search !== undefined) return searchSuppressions(read, input, { workspaceId, forms, where: and(isKind, rest) });
  return listMatches(read, input, and(inWorkspace, rest));
}

function listMatches(read: Reader, input: PageInput, where: SQL | undefined): Promise<Page<Suppression>> {
  const { suppressions: t } = read.t;
  return paginateBySeq<Row, Suppression>(
    input,
    async ({ below, limit, offset }) =>
      read
        .select()
        .from(t)
        .where(and(where, read.sqlDialect.usually(lt(t.seq, below))))
        .orderBy(desc(t.seq))
        .limit(limit)
        .offset(offset),
    () => countRows(read, t, where),
    showSuppression,
  );
}

/**
 * Merges one range of the index `suppressions_filter` for each combination of reason, scope and source that the filters allow.
 * A single condition would make the database either sort all matches or look for them among all rows. The bounds and the order
 * name all columns of the index, because Postgres would otherwise walk down the numbers of a range that has no rows.
 */
async function selectByKind(
  read: Reader,
  { reason, scope, source }: SuppressionQuery,
  where: SQL | undefined,
  { below, limit, offset }: SeqSlice,
): Promise<Row[]> {
  const { suppressions: t } = read.t;
  const ranges: SQL[] = [];
  for (const r of reason ? [reason] : SUPPRESSION_REASONS)
    for (const s of scope ? [scope] : SUPPRESSION_SCOPES)
      for (const o of source ? [source] : SUPPRESSION_SOURCES) {
        const inRange = and(
          sql`(${t.reason}, ${t.scope}, ${t.source}) >= (${r}, ${s}, ${o})`,
          sql`(${t.reason}, ${t.scope}, ${t.source}, ${t.seq}) < (${r}, ${s}, ${o}, ${below})`,
          where,
        );
        ranges.push(
          sql`select seq from (select ${t.seq} as seq from ${t} where ${inRange} order by ${t.reason} desc, ${t.scope} desc, ${t.source} desc, ${t.seq} desc limit ${limit + offset}) as found`,
        );
      }
  const page = sql`(select seq from (${sql.join(ranges, sql` union all `)}) as ranges order by seq desc limit ${limit} offset ${offset})`;
  return read.select().from(t).where(sql`${t.seq} in ${page}`).orderBy(desc(t.seq));
}

// Up to this many suppressions of a workspace are scanned instead of asking the index, which holds those of all workspaces.
const SCAN_LIMIT = 5000;
// Hits are counted up to this number, and then the total is a minimum. Page numbers reach as many; a cursor goes further.
const COUNT_LIMIT = 1000;
// Suppressions scanned for each hit that a page skips: a text in fewer of them is one that the index finds in about the same time.
const SCAN_FOR_SKIPPED = 25;

interface SearchScope {
  readonly workspaceId: string;
  /** The text in each form in which it can be stored; suppressions that contain one of them match. */
  readonly forms: readonly string[];
  /** Further conditions. */
  readonly where: SQL | undefined;
}

/** Source of matches: the suppressions of the workspace, or those that an index has found. */
interface Source {
  rows(slice: SeqSlice): Promise<Row[]>;
  /** The number of matches; counting stops at `limit`. */
  count(limit: number): Promise<number>;
}

/**
 * A page of the suppressions whose address contains a text, newest first. Common texts are found among the newest suppressions,
 * rare ones by the index, so both take a few ms among millions. Throws ApiError validation_error for a page that is too deep.
 */
function searchSuppressions(read: Reader, input: PageInput, scope: SearchScope): Promise<Page<Suppression>> {
  let total: Total = { total: 0, isMinimum: false };
  return paginateBySeq<Row, Suppression>(
    input,
    async (slice) => {
      const { source, rows, isPart } = await chooseSource(read, scope, slice);
      const n = await source.count(COUNT_LIMIT + 1);
      total = { total: Math.min(n, COUNT_LIMIT), isMinimum: isPart || n > COUNT_LIMIT };
      return rows ?? source.rows(slice);
    },
    async () => total,
    showSuppression,
  );
}

/** Chooses the source. `isPart` is true if there may be further matches; `rows` are those of the slice, if they were read to decide. */
async function chooseSource(read: Reader, scope: SearchScope, slice: SeqSlice): Promise<{ source: Source; rows?: Row[]; isPart: boolean }> {
  const { suppressions: t } = read.t;
  const inWorkspace = read.select(ONE).from(t).where(eq(t.workspaceId, scope.workspaceId));
  const all = scan(read, scope, 0);
  if ((await countUpTo(read, inWorkspace, SCAN_LIMIT + 1)) <= SCAN_LIMIT) return { source: all, isPart: false };
  if (slice.offset > COUNT_LIMIT)
    throw invalid(
      "page",
      "too_deep",
      `Page numbers of a search reach its first ${COUNT_LIMIT.toLocaleString("en-US")} hits. Use cursor with pagination.nextCursor beyond.`,
    );
  const index = read.searchIndex(t);
  const first = index.scanFirst(...scope.forms);
  if (first > 0) {
    const scanned = first + SCAN_FOR_SKIPPED * slice.offset;
    const rows = await scan(read, scope, await findSeqAt(read, scope, slice.below, scanned)).rows(slice);
    if (rows.length >= slice.limit)
      return { source: scan(read, scope, await findSeqAt(read, scope, Number.MAX_SAFE_INTEGER, scanned)), rows, isPart: true };
  }
  const hits = await index.hits(...scope.forms);
  return { source: hits ? lookUp(read, scope, hits) : all, isPart: false };
}

/** The suppressions of the workspace from the number `floor` on. */
function scan(read: Reader, { workspaceId, forms, where }: SearchScope, floor: number): Source {
  const { suppressions: t } = read.t;
  const matches = and(eq(t.workspaceId, workspaceId), gte(t.seq, floor), where, containsOne(read, forms));
  return {
    rows: async ({ below, limit, offset }) =>
      read
        .select()
        .from(t)
        .where(and(matches, lt(t.seq, below)))
        .orderBy(desc(t.seq))
        .limit(limit)
        .offset(offset),
    // In this order, so that the database reads the index of the workspace and ends early.
    count: (limit) => countUpTo(read, read.select(ONE).from(t).where(matches).orderBy(desc(t.seq)), limit),
  };
}

/** The suppressions that the index has found. */
function lookUp(read: Reader, { workspaceId, forms, where }: SearchScope, hits: SearchHits): Source {
  const { suppressions: t } = read.t;
  const matches = and(hits.where, sql`${t.seq} = hits.rowid`, eq(t.workspaceId, workspaceId), where, containsOne(read, forms));
  return {
    rows: async ({ below, limit, offset }) =>
      (await read
        .select(getTableColumns(t))
        .from(hits.from)
        .crossJoin(t)
        .where(and(matches, sql`hits.rowid < ${below}`))
        .orderBy(sql`hits.rowid desc`)
        .limit(limit)
        .offset(offset)) as Row[],
    count: (limit) => countUpTo(read, read.select(ONE).from(hits.from).crossJoin(t).where(matches), limit),
  };
}

/** The number of the suppression `skip` places below `below`; 0 if there are fewer. */
async function findSeqAt(read: Reader, { workspaceId }: SearchScope, below: number, skip: number): Promise<number> {
  const { suppressions: t } = read.t;
  const [row] = await read
    .select({ seq: t.seq })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), lt(t.seq, below)))
    .orderBy(desc(t.seq))
    .limit(1)
    .offset(skip);
  return row?.seq ?? 0;
}

function containsOne(read: Reader, forms: readonly string[]): SQL | undefined {
  return or(...forms.map((form) => read.sqlDialect.holds(read.t.suppressions.email, form)));
}
