import type { Reader } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { ALL, type CountScope } from "./counters.ts";
import { type ContactSlice, findSeqAt, type Matches, matchByIndex, matchByScan } from "./slices.ts";
import type { ContactRow } from "./store.ts";

// Up to this many contacts are scanned instead of asking the index: about a millisecond.
const SCAN_LIMIT = 2000;
// Among up to this many contacts all hits are counted; among more, counting stops early.
const EXACT_COUNT_SIZE = 20_000;
const COUNT_LIMIT = 200;
// With this many hits, scanning a few thousand contacts is cheaper than looking at each hit.
const MANY_HITS = 500;
// Maximum number of hits that a page number may skip in a large audience; a cursor goes further.
const MAX_SKIP = 10_000;

/** Larger than any `seq`. */
export const TOP = Number.MAX_SAFE_INTEGER;

export interface SearchResult {
  rows: ContactRow[];
  total: number;
  /** False if there can be more than `total`. */
  exact: boolean;
}

/**
 * The contacts in scope whose address or names contain a text (folded), newest first; `size` is the number of contacts in scope.
 * Common texts are found by scanning the newest contacts, rare ones by the index, so both take a few ms among millions. Throws
 * ApiError validation_error for a page that is too deep.
 */
export async function searchContacts(
  read: Reader,
  scope: CountScope,
  text: string,
  slice: ContactSlice,
  size: number,
): Promise<SearchResult> {
  const fullScan = matchByScan(read, scope, text, 0);
  if (size <= SCAN_LIMIT) return { rows: await fullScan.rows(slice), total: await fullScan.count(SCAN_LIMIT), exact: true };
  const large = size > EXACT_COUNT_SIZE;
  if (large && slice.skip > MAX_SKIP)
    throw invalid(
      "page",
      "too_deep",
      `Page numbers of a search reach its first ${MAX_SKIP} hits. Use cursor with pagination.nextCursor beyond.`,
    );

  const index = read.searchIndex(read.t.contacts);
  const scanned = index.scanFirst(text) || SCAN_LIMIT;
  const scanNewest = async (before: number): Promise<{ matches: Matches; all: boolean }> => {
    const floor = await findSeqAt(read, scope, before, scanned);
    return { matches: matchByScan(read, scope, text, floor ?? 0), all: floor === null };
  };
  // From the top, one query reads both the hits of the page and those that are counted.
  const fromTop = large && slice.before === TOP;
  const wide = fromTop ? { ...slice, limit: Math.max(slice.limit, COUNT_LIMIT + 1 - slice.skip) } : slice;
  const toResult = async (rows: ContactRow[], matches: Matches, all: boolean): Promise<SearchResult> => {
    const page = rows.slice(0, slice.limit);
    if (!large) return { rows: page, total: await matches.count(EXACT_COUNT_SIZE), exact: true };
    const counted = fromTop && (rows.length > 0 || slice.skip === 0) ? slice.skip + rows.length : await matches.count(COUNT_LIMIT + 1);
    // A page with hits proves that there are as many; a page beyond the end proves nothing.
    const seen = page.length > 0 ? slice.skip + page.length : 0;
    return { rows: page, total: Math.max(Math.min(counted, COUNT_LIMIT), seen), exact: all && counted <= COUNT_LIMIT };
  };
  if (index.scanFirst(text) > 0) {
    const { matches, all } = await scanNewest(slice.before);
    const rows = await matches.rows(wide);
    if (all || rows.length >= slice.limit)
      return large
        ? toResult(rows, slice.before === TOP ? matches : (await scanNewest(TOP)).matches, false)
        : toResult(rows, fullScan, true);
  }
  const hits = await index.hits(text);
  // If few contacts have the tag or status and many match, scanning those few is cheaper.
  const narrow = hits !== null && !large && (scope.tagKey !== ALL || scope.status !== undefined);
  const many =
    narrow && (await matchByIndex(read, { workspaceId: scope.workspaceId, tagKey: ALL }, text, hits).count(MANY_HITS)) === MANY_HITS;
  const matches = hits && !many ? matchByIndex(read, scope, text, hits) : fullScan;
  const rows = await matches.rows(wide);
  return hits || !large ? toResult(rows, matches, true) : toResult(rows, (await scanNewest(TOP)).matches, false);
}
