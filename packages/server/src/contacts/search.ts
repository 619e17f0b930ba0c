import type { Reader } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import type { Scope } from "./counted.ts";
import { ALL } from "./counts.ts";
import { byIndex, byReading, type Found, numberAt, type Slice } from "./rows.ts";
import type { ContactRow } from "./store.ts";

// Contacts that are read one by one instead of asking the index: about a millisecond.
const READ_INSTEAD = 2000;
// Hits are counted to the last one among so many contacts; among more, counting stops early.
const COUNTED_WHOLE = 20_000;
const COUNTED = 200;
// Hits beyond which reading some thousand contacts is cheaper than looking at each hit.
const MANY = 500;
// How deep into the hits of a large audience a page number may lead; a cursor goes on from there.
const MAX_SKIP = 10_000;

export const TOP = Number.MAX_SAFE_INTEGER;

export interface SearchResult {
  rows: ContactRow[];
  total: number;
  /** False when there may be more than `total`. */
  exact: boolean;
}

/**
 * Contacts in scope whose address or names hold a part (folded), newest first; `size` is how many are in scope. What is
 * common is found by reading the newest contacts, what is rare by the index, so both take a few ms among millions. Throws
 * ApiError validation_error for a page too deep.
 */
export async function searchContacts(read: Reader, scope: Scope, part: string, slice: Slice, size: number): Promise<SearchResult> {
  const whole = byReading(read, scope, part, 0);
  if (size <= READ_INSTEAD) return { rows: await whole.rows(slice), total: await whole.count(READ_INSTEAD), exact: true };
  const large = size > COUNTED_WHOLE;
  if (large && slice.skip > MAX_SKIP)
    throw invalid("page", "too_deep", `Pages of a search lead to its first ${MAX_SKIP} hits. Go on with pagination.nextCursor.`);

  const nearest = read.searchIndex.scanFirst(part) || READ_INSTEAD;
  const near = async (before: number): Promise<{ found: Found; all: boolean }> => {
    const floor = await numberAt(read, scope, before, nearest);
    return { found: byReading(read, scope, part, floor ?? 0), all: floor === null };
  };
  // From the top, the hits of the page and those that are counted are read together.
  const fromTop = large && slice.before === TOP;
  const wide = fromTop ? { ...slice, limit: Math.max(slice.limit, COUNTED + 1 - slice.skip) } : slice;
  const result = async (rows: ContactRow[], found: Found, all: boolean): Promise<SearchResult> => {
    const page = rows.slice(0, slice.limit);
    if (!large) return { rows: page, total: await found.count(COUNTED_WHOLE), exact: true };
    const counted = fromTop && (rows.length > 0 || slice.skip === 0) ? slice.skip + rows.length : await found.count(COUNTED + 1);
    return { rows: page, total: Math.max(Math.min(counted, COUNTED), slice.skip + page.length), exact: all && counted <= COUNTED };
  };
  if (read.searchIndex.scanFirst(part) > 0) {
    const { found, all } = await near(slice.before);
    const rows = await found.rows(wide);
    if (all || rows.length >= slice.limit)
      return large ? result(rows, slice.before === TOP ? found : (await near(TOP)).found, false) : result(rows, whole, true);
  }
  const hits = await read.searchIndex.hits(part);
  // Few have the tag or status, and many hold the part: those few are read.
  const few = hits !== null && !large && (scope.tagKey !== ALL || scope.status !== undefined);
  const many = few && (await byIndex(read, { workspaceId: scope.workspaceId, tagKey: ALL }, part, hits).count(MANY)) === MANY;
  const found = hits && !many ? byIndex(read, scope, part, hits) : whole;
  const rows = await found.rows(wide);
  return hits || !large ? result(rows, found, true) : result(rows, (await near(TOP)).found, false);
}
