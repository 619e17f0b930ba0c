import type { Contact, ContactStatus, Page } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { showContact } from "./contacts.ts";
import { ALL, BLOCK, type CountScope, countContacts, findOffset } from "./counters.ts";
import type { ContactDeps, ContactSelection } from "./deps.ts";
import { tagKey, toSearchTerm } from "./normalize.ts";
import { type ContactSlice, findSeqAt, type Matches, matchByIndex, matchByScan, readSlice } from "./slices.ts";
import { type ContactRow, readContactCursor, toContactCursor } from "./store.ts";

interface ContactQuery {
  page: number;
  limit: number;
  cursor?: string | undefined;
  search?: string | undefined;
  status?: ContactStatus | undefined;
  tag?: string | undefined;
  list?: string | undefined;
  segment?: string | undefined;
}

/**
 * A page of contacts, newest first. Reads one row more than asked for, to know whether there are more. Throws ApiError validation_error.
 */
export async function listContacts(
  read: Reader,
  { contactHooks }: Pick<ContactDeps, "contactHooks">,
  workspaceId: string,
  input: ContactQuery,
): Promise<Page<Contact>> {
  const { page, limit, cursor, status } = input;
  const scope: CountScope = { workspaceId, tagKey: input.tag === undefined ? ALL : tagKey(input.tag), status };
  const text = toSearchTerm(input.search);
  const slice: ContactSlice =
    cursor === undefined
      ? { before: TOP, skip: (page - 1) * limit, limit: limit + 1 }
      : { before: readContactCursor(cursor), skip: 0, limit: limit + 1 };
  const { rows, total, exact } =
    input.list === undefined && input.segment === undefined
      ? await listInScope(read, scope, text, slice)
      : await contactHooks.listSelected(read, workspaceId, toSelection(input, text), slice);
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    data: shown.map(showContact),
    pagination: {
      page,
      limit,
      total,
      totalPages: Math.ceil(total / limit),
      hasMore,
      nextCursor: hasMore && last ? toContactCursor(last.seq) : null,
      ...(!exact && { totalIsMinimum: true as const }),
    },
  };
}

async function listInScope(read: Reader, scope: CountScope, text: string, slice: ContactSlice): Promise<SearchResult> {
  const size = await countContacts(read, scope);
  return text === "" ? listAll(read, scope, slice, size) : searchContacts(read, scope, text, slice, size);
}

function toSelection({ list, segment, status, tag }: ContactQuery, text: string): ContactSelection {
  return { list, segment, status, tag, text };
}

/** A slice without a search. A deep one starts at the block it begins in, so that page 50,000 costs as much as page 5. */
async function listAll(read: Reader, scope: CountScope, slice: ContactSlice, total: number): Promise<SearchResult> {
  const counted = { total, exact: true };
  if (slice.skip >= total && slice.before === TOP) return { rows: [], ...counted };
  if (slice.skip <= BLOCK / 8) return { rows: await readSlice(read, scope, slice), ...counted };
  const start = await findOffset(read, scope, slice.skip);
  return { rows: start ? await readSlice(read, scope, { ...slice, ...start }) : [], ...counted };
}

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
const TOP = Number.MAX_SAFE_INTEGER;

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
async function searchContacts(read: Reader, scope: CountScope, text: string, slice: ContactSlice, size: number): Promise<SearchResult> {
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
