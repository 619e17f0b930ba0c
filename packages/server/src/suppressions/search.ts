import type { Page, Suppression } from "@mailsvc/sdk/contract";
import { and, desc, eq, getTableColumns, gte, lt, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { countUpTo, ONE, type PageInput, paginateBySeq, type SeqSlice, type Total } from "../db/pagination.ts";
import type { SearchHits } from "../db/search-index.ts";
import { invalid } from "../lib/api-error.ts";
import { showSuppression } from "./suppressions.ts";
import type { SuppressionTables } from "./tables.ts";

type Row = SuppressionTables["suppressions"]["$inferSelect"];

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
export function searchSuppressions(read: Reader, input: PageInput, scope: SearchScope): Promise<Page<Suppression>> {
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
